/** Server-Sent Events read by fetch: the token travels in a header, and after a break it goes on behind the last event. */
import { ApiError, eventsPath, send, type Solution } from "./api";

export interface Notification {
  sequence: number;
  at_ms: number;
  snapshot?: boolean;
  missed?: boolean;
  addedResults: { head: { vars: string[] }; results: { bindings: Solution[] } };
  removedResults: { results: { bindings: Solution[] } };
}

export type Connection = "connecting" | "live" | "lost" | "closed";

export interface Listener {
  notified(notification: Notification): void;
  reached(at_ms: number): void;
  connection(state: Connection, message?: string): void;
}

const SHORTEST_MS = 400;
const LONGEST_MS = 5000;
/** The server says something every 15 seconds; who hears nothing for longer talks to nobody. */
const SILENCE_MS = 40_000;
/** How long events are read before the page may draw. */
const TOGETHER_MS = 8;

/** Listens until it is aborted, or the query is gone. */
export async function subscribe(name: string, listener: Listener, signal: AbortSignal): Promise<void> {
  let last: string | null = null;
  let wait = SHORTEST_MS;
  const heard = (id: string): void => {
    last = id;
    wait = SHORTEST_MS;
  };
  const aborted = (): boolean => signal.aborted;
  listener.connection("connecting");
  while (!aborted()) {
    let why = "The connection to the server is lost.";
    try {
      if (await listen(name, last, heard, listener, signal)) {
        // The query is closed, or the server ends: asking again tells which.
        wait = SHORTEST_MS;
        why = "The server has ended the subscription.";
      }
    } catch (error) {
      if (error instanceof ApiError && [401, 403, 404].includes(error.status)) {
        listener.connection("closed", error.status === 404 ? "This query is no longer registered." : error.message);
        return;
      }
      if (error instanceof ApiError) why = error.message;
    }
    if (aborted()) return;
    listener.connection("lost", why);
    await new Promise((go) => setTimeout(go, wait));
    wait = Math.min(2 * wait, LONGEST_MS);
  }
}

/** One connection; whether it ended in order. */
async function listen(name: string, last: string | null, heard: (id: string) => void, listener: Listener, signal: AbortSignal): Promise<boolean> {
  const headers: Record<string, string> = last === null ? {} : { "Last-Event-ID": last };
  const silence = new AbortController();
  const both = AbortSignal.any([signal, silence.signal]);
  const response = await send("GET", eventsPath(name), undefined, undefined, { headers, signal: both });
  listener.connection("live");
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let drawn = performance.now();
  for (;;) {
    const timer = setTimeout(() => silence.abort(), SILENCE_MS);
    const { value, done } = await reader.read().finally(() => clearTimeout(timer));
    if (done) return false;
    const frames = (rest + value).split("\n\n");
    rest = frames.pop()!;
    for (const frame of frames) {
      if (signal.aborted) return true;
      const { event, data, id } = fields(frame);
      if (event === "closed") return true;
      if (event === "progress") listener.reached((JSON.parse(data) as { at_ms: number }).at_ms);
      else if (data) listener.notified((JSON.parse(data) as { notification: Notification }).notification);
      // Only what was taken counts as heard.
      if (id) heard(id);
      if (performance.now() - drawn > TOGETHER_MS) {
        await new Promise((go) => setTimeout(go));
        drawn = performance.now();
      }
    }
  }
}

function fields(frame: string): { event: string; data: string; id: string } {
  const found = { event: "", data: "", id: "" };
  for (const line of frame.split("\n")) {
    const colon = line.indexOf(": ");
    const name = line.slice(0, colon);
    if (name === "event" || name === "data" || name === "id") found[name] += line.slice(colon + 2);
  }
  return found;
}
