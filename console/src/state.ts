/** What the whole page shares: where one is, what is said to everybody, the theme, and what is kept in the browser. */
import { effect, type Signal, signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { ApiError } from "./api";
import { dark } from "./theme";

export interface Place {
  view: "query" | "queries" | "streams" | "datasets";
  /** The query that is looked at; null for one that is being written. */
  name: string | null;
}

function placeOf(hash: string): Place {
  const [view, name] = hash.replace(/^#\/?/, "").split("/");
  if (view === "queries" || view === "streams" || view === "datasets") return { view, name: null };
  return { view: "query", name: view === "q" && name ? decodeURIComponent(name) : null };
}

export const place = signal<Place>(placeOf(location.hash));
addEventListener("hashchange", () => (place.value = placeOf(location.hash)));

export const linkTo = (name: string): string => `#/q/${encodeURIComponent(name)}`;
export function go(hash: string): void {
  location.hash = hash;
}

/** What went wrong last, until somebody has read it. */
export const trouble = signal<string | null>(null);

/** Does something that the server may refuse; what it says is shown. */
export async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    const found = await work();
    trouble.value = null;
    return found;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status !== 401) trouble.value = error.message;
    return undefined;
  }
}

/** What a server says, asked again and again; what it said last stays while it does not answer. */
export function usePolled<T>(ask: () => Promise<T>, every_ms: number, again: unknown = null): { found: T | null; failed: string | null } {
  const [state, set] = useState<{ found: T | null; failed: string | null }>({ found: null, failed: null });
  useEffect(() => {
    let timer = 0;
    let ended = false;
    const look = async (): Promise<void> => {
      try {
        const found = await ask();
        if (!ended) set({ found, failed: null });
      } catch (error) {
        const failed = error instanceof Error ? error.message : String(error);
        if (!ended) set((before) => ({ ...before, failed }));
      }
      if (!ended) timer = window.setTimeout(() => void look(), every_ms);
    };
    void look();
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, [again]);
  return state;
}

// Kept in the browser ------------------------------------------------------------------------------------------------

function kept(name: string, otherwise: string): Signal<string> {
  const found = signal<string>(localStorage.getItem(`millstream.${name}`) ?? otherwise);
  effect(() => localStorage.setItem(`millstream.${name}`, found.value));
  return found;
}

export const draft = kept(
  "draft",
  `# Which sensors show more than 30 degrees, from when until when?
PREFIX : <http://example.org/>

SELECT CHANGES ?sensor ?degrees
WHERE {
  STREAM :readings [RANGE 10s] { ?sensor :shows ?degrees }
  FILTER (?degrees > 30)
}
`,
);
export const hintsSeen = kept("hints", "");
/** "light", "dark", or as the system has it. */
export const theme = kept("theme", "");

const system = matchMedia("(prefers-color-scheme: dark)");
const follow = (): void => {
  dark.value = theme.value ? theme.value === "dark" : system.matches;
};
system.addEventListener("change", follow);
effect(follow);
effect(() => {
  document.documentElement.dataset["theme"] = dark.value ? "dark" : "light";
});
