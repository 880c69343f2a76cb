/** Where one writes a query and watches its answers: the editor with what the parser says, the plan, the answers. */
import { useEffect, useMemo, useState } from "preact/hooks";
import type { JSX } from "preact";
import { Answers } from "./answers";
import { AnswersView } from "./answers-view";
import { answers as exported, type Checked, close, queries, type Query, query, register, token, type Vocabulary, vocabulary } from "./api";
import { Editor } from "./editor";
import { EXAMPLES } from "./examples";
import { Hints, Examples } from "./hints";
import { Explained, Plan } from "./plan";
import { attempt, draft, go, linkTo } from "./state";
import { subscribe } from "./subscription";
import { declared } from "./terms";

const OUTPUTS = [
  ["", "output as written"],
  ["changes", "CHANGES: what comes and goes"],
  ["istream", "ISTREAM: what comes"],
  ["dstream", "DSTREAM: what goes"],
  ["rstream", "RSTREAM: all, each time"],
] as const;

export function Workbench({ name }: { name: string | null }): JSX.Element {
  const [running, found] = useState<Query | null>(null);
  const [loaded, load] = useState(name === null ? draft.value : "");
  const [text, write] = useState(loaded);
  const [title, call] = useState("");
  const [output, emit] = useState("");
  const [checked, look] = useState<Checked | null>(null);
  const [words, learn] = useState<{ words: Vocabulary | null; texts: string[] }>({ words: null, texts: [] });

  useEffect(() => {
    void attempt(async () => {
      const [known, others] = await Promise.all([vocabulary(), queries()]);
      learn({ words: known, texts: [...others, ...EXAMPLES].map((some) => some.text) });
    });
    if (name === null) return;
    void attempt(async () => {
      const known = await query(name);
      found(known);
      load(known.text);
      write(known.text);
    });
  }, [name, token.value]);

  const changed = (given: string): void => {
    write(given);
    if (name === null) draft.value = given;
  };
  const isOther = running !== null && text !== running.text;
  const run = (): void => {
    void attempt(async () => {
      if (name !== null && running) await close(name);
      const made = await register(name ?? title.trim(), text, output || null);
      if (made.name === name) found(made);
      else go(linkTo(made.name));
    });
  };
  const end = (): void => {
    void attempt(async () => {
      await close(name!);
      draft.value = text;
      go("#/");
    });
  };
  const faulty = checked !== null && !checked.ok;
  return (
    <div class="workbench">
      <section class="pane write" aria-label="Query">
        <div class="toolbar">
          {name === null ? <input class="title" placeholder="name (optional)" aria-label="Name of the query" value={title} onInput={(event) => call(event.currentTarget.value)} /> : <h1>{name}</h1>}
          <span class="spring" />
          <select aria-label="What is emitted" value={output} onChange={(event) => emit(event.currentTarget.value)}>
            {OUTPUTS.map(([value, label]) => <option key={value} value={value}>{label}</option>)}
          </select>
          {name !== null && <button class="danger" onClick={end} title="Ends the query at the server; its text stays here as a draft">Close</button>}
          {name !== null && <a class="button" href="#/">New</a>}
          <button class="primary" onClick={run} disabled={faulty || text.trim() === "" || (name !== null && !isOther && !output)} title="Ctrl+Enter">
            {name === null ? "Run" : "Run anew"}
          </button>
        </div>
        <Editor key={token.value} loaded={loaded} known={() => words} changed={changed} checked={look} run={run} />
        <Verdict checked={checked} />
      </section>
      <section class="pane watch" aria-label="Answers">
        {running ? <Watching key={`${running.name} ${running.text} ${running.output}`} query={running} /> : name === null ? <div class="start"><Hints /><Examples /></div> : null}
      </section>
      <section class="pane plan" aria-labelledby="plan-title">
        <h2 id="plan-title">{running && !isOther ? "Inside" : "Plan"}</h2>
        {running && !isOther ? <Plan name={running.name} explain={running.explain} /> : checked?.ok ? <Explained text={checked.explain} /> : <p class="empty">The plan appears here once the text is a query.</p>}
      </section>
    </div>
  );
}

/** What the parser says of the text, below it. */
function Verdict({ checked }: { checked: Checked | null }): JSX.Element {
  let said: JSX.Element | string = "";
  if (checked?.ok) {
    const names = checked.variables.map((variable) => `?${variable}`).join(" ");
    said = checked.warnings.length ? checked.warnings.map((found) => `line ${found.line ?? 1}: ${found.message}${found.suggestion ? ` Write: ${found.suggestion}` : ""}`).join("\n") : `${checked.form} ${checked.output.toUpperCase()} ${checked.form === "SELECT" ? names : ""}`;
  } else if (checked) said = `line ${checked.error.line ?? 1}, column ${checked.error.column ?? 1}: ${checked.error.message}`;
  const kind = checked === null ? "" : !checked.ok ? "error" : checked.warnings.length ? "warning" : "fine";
  return <p class={`verdict ${kind}`} role="status">{said}</p>;
}

function Watching({ query: { name, text, form, output } }: { query: Query }): JSX.Element {
  const answers = useMemo(() => new Answers(output, declared(text)), []);
  useEffect(() => {
    const ended = new AbortController();
    void subscribe(name, answers, ended.signal);
    return () => ended.abort();
  }, [token.value]);
  const formats = form === "CONSTRUCT" ? ["turtle", "ntriples", "jsonld", "rdfxml"] : form === "ASK" ? ["json", "xml"] : ["csv", "tsv", "json", "xml"];
  const save = async (format: string): Promise<void> => {
    await attempt(async () => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(await exported(name, format));
      link.download = `${name}.${{ turtle: "ttl", ntriples: "nt", rdfxml: "rdf" }[format] ?? format}`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  };
  return <AnswersView answers={answers} save={save} formats={formats} />;
}
