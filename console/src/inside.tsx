/** What goes on in the server: all queries, all streams and what was set aside of them, all graphs; and by hand, a push. */
import { useRef, useState } from "preact/hooks";
import type { ComponentChildren, JSX } from "preact";
import { close, drop, graphs, insert, push, queries, type Stream, streams, triples } from "./api";
import { attempt, linkTo, usePolled } from "./state";
import { clock, counted } from "./terms";

const EVERY_MS = 1000;
const MOST_CHARACTERS = 200_000;

function View({ title, about, failed, children }: { title: string; about: string; failed: string | null; children: ComponentChildren }): JSX.Element {
  return (
    <div class="view">
      <header><h1>{title}</h1><p class="quiet">{about}</p></header>
      {failed && <p class="banner warning" role="status">{failed} What is shown is from before.</p>}
      {children}
    </div>
  );
}

function Listing({ label, head, children, empty }: { label: string; head: string[]; children: JSX.Element[]; empty: string }): JSX.Element {
  if (children.length === 0) return <p class="empty">{empty}</p>;
  return (
    <div class="listing" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead><tr>{head.map((name) => <th key={name} scope="col">{name || <span class="hidden">Actions</span>}</th>)}</tr></thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

const ms = (value: number | null): string => (value === null ? "–" : `${counted(value)} ms`);

export function Queries(): JSX.Element {
  const { found, failed } = usePolled(queries, EVERY_MS);
  const end = (name: string): void => {
    if (confirm(`Close the query ${name}? It ends for everybody who listens to it.`)) void attempt(() => close(name));
  };
  return (
    <View title="Queries" about="All queries that run at this server, with what they emit and how long that takes." failed={failed}>
      {found && (
        <Listing label="Queries" head={["query", "output", "events/s", "latency p50", "p99", "answers", "kept", "listeners", ""]} empty="No query runs. Write one, or begin with an example.">
          {found.map((query) => (
            <tr key={query.name}>
              <th scope="row"><a href={linkTo(query.name)}>{query.name}</a><code class="quiet">{query.streams.join(" ") || "datasets alone"}</code></th>
              <td><span class="tag">{query.form}</span> <span class="tag">{query.output}</span></td>
              <td class="number">{counted(query.events_per_second)}</td>
              <td class="number">{ms(query.latency_ms.p50)}</td>
              <td class="number">{ms(query.latency_ms.p99)}</td>
              <td class="number">{counted(query.answers)}</td>
              <td class="number">{counted(query.stored)}</td>
              <td class="number">{query.subscribers}</td>
              <td><button class="danger small" onClick={() => end(query.name)} aria-label={`Close ${query.name}`}>Close</button></td>
            </tr>
          ))}
        </Listing>
      )}
    </View>
  );
}

/** Elements a second between two looks, as a small line. */
function Rates({ values }: { values: number[] }): JSX.Element {
  const most = Math.max(1, ...values);
  const points = values.map((value, k) => `${((60 - values.length + k) * 100) / 59},${22 - (20 * value) / most}`).join(" ");
  return <svg class="rates" viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true"><polyline points={points} /></svg>;
}

export function Streams(): JSX.Element {
  const { found, failed } = usePolled(streams, EVERY_MS);
  const past = useRef(new Map<string, { elements: number; at: number; rates: number[] }>());
  const seen = useRef<typeof found>(null);
  if (found && found !== seen.current) {
    seen.current = found;
    for (const stream of found.streams) remember(past.current, stream);
  }
  const rates = (iri: string): number[] => past.current.get(iri)?.rates ?? [];
  return (
    <View title="Streams" about="What comes in, how far event time has got, and what was set aside because it was late or could not be read." failed={failed}>
      {found && (
        <>
          <dl class="figures">
            <div><dt>watermark</dt><dd>{clock(found.watermark_ms)}</dd></div>
            <div><dt>lateness allowed</dt><dd>{found.lateness_ms / 1000} s</dd></div>
            <div><dt>streams</dt><dd>{found.streams.length}</dd></div>
          </dl>
          <Listing label="Streams" head={["stream", "elements/s", "the last minute", "elements", "late", "set aside", "read by"]} empty="No stream yet. Push an element below, or begin with an example.">
            {found.streams.map((stream) => (
              <tr key={stream.iri}>
                <th scope="row"><code>{stream.iri}</code></th>
                <td class="number">{counted(rates(stream.iri).at(-1) ?? 0)}</td>
                <td><Rates values={rates(stream.iri)} /></td>
                <td class="number">{counted(stream.elements)}</td>
                <td class={`number ${stream.late ? "bad" : ""}`}>{counted(stream.late)}</td>
                <td class={`number ${stream.rejected ? "bad" : ""}`}>{counted(stream.rejected)}</td>
                <td>{stream.queries.map((name) => <a key={name} href={linkTo(name)}>{name} </a>)}</td>
              </tr>
            ))}
          </Listing>
          <Reasons streams={found.streams} />
          <PushForm known={found.streams.map(({ iri }) => iri)} />
        </>
      )}
    </View>
  );
}

function remember(past: Map<string, { elements: number; at: number; rates: number[] }>, { iri, elements }: Stream): void {
  const [before, at] = [past.get(iri), performance.now()];
  const rate = before ? Math.max(0, (1000 * (elements - before.elements)) / Math.max(1, at - before.at)) : null;
  past.set(iri, { elements, at, rates: rate === null ? [] : [...before!.rates, rate].slice(-60) });
}

function Reasons({ streams }: { streams: Stream[] }): JSX.Element | null {
  const all = streams.flatMap(({ iri, reasons }) => reasons.map((found) => ({ ...found, iri }))).sort((a, b) => b.at_ms - a.at_ms);
  if (all.length === 0) return null;
  return (
    <section aria-labelledby="aside-title">
      <h2 id="aside-title">Set aside lately</h2>
      <ul class="reasons">
        {all.slice(0, 12).map((found, place) => (
          <li key={place}><time>{clock(found.at_ms).slice(0, 8)}</time> <code>{found.iri}</code> <span>{found.line ? `line ${found.line}: ` : ""}{found.reason}</span></li>
        ))}
      </ul>
    </section>
  );
}

const FORMATS = [["text/turtle", "Turtle"], ["application/n-triples", "N-Triples"], ["application/trig", "TriG"], ["application/n-quads", "N-Quads"], ["application/ld+json", "JSON-LD"]] as const;

function PushForm({ known }: { known: string[] }): JSX.Element {
  const [said, say] = useState("");
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement);
    const field = (name: string): string => (given.get(name) as string).trim();
    void attempt(async () => {
      const taken = await push(field("stream"), field("body"), field("format"), field("at_ms"));
      say(`${taken.elements} taken, ${taken.late} late, ${taken.rejected} set aside. ${taken.reasons.map(({ reason }) => reason).join(" ")}`);
    });
  };
  return (
    <form class="sheet" onSubmit={submit} aria-labelledby="push-title">
      <h2 id="push-title">Push an element by hand</h2>
      <div class="fields">
        <label>Stream<input name="stream" list="streams" required placeholder="http://example.org/readings" /></label>
        <datalist id="streams">{known.map((iri) => <option key={iri} value={iri} />)}</datalist>
        <label>Format<select name="format">{FORMATS.map(([type, name]) => <option key={type} value={type}>{name}</option>)}</select></label>
        <label>Time in ms<input name="at_ms" inputMode="numeric" placeholder="now" /></label>
      </div>
      <label>Triples<textarea name="body" rows={4} required spellcheck={false} placeholder={"@prefix : <http://example.org/> .\n:s1 :shows 31.5 ."} /></label>
      <div class="fields"><button class="primary">Push</button><output>{said}</output></div>
    </form>
  );
}

export function Datasets(): JSX.Element {
  const [again, look] = useState(0);
  const { found, failed } = usePolled(graphs, 3000, again);
  const [shown, show] = useState<{ graph: string | null; text: string } | null>(null);
  const named = (graph: string | null): string => graph ?? "default graph";
  const open = (graph: string | null): void => void attempt(async () => show({ graph, text: await triples(graph) }));
  const empty = (graph: string | null): void => {
    if (confirm(`Delete all triples of the ${named(graph)}?`)) void attempt(() => drop(graph).then(() => look((n) => n + 1)));
  };
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement);
    const graph = (given.get("graph") as string).trim() || null;
    void attempt(() => insert(graph, given.get("body") as string).then(() => look((n) => n + 1)));
  };
  return (
    <View title="Datasets" about="Graphs at rest. Queries see every change of them at once." failed={failed}>
      {found && (
        <Listing label="Graphs" head={["graph", "triples", ""]} empty="No graph has triples.">
          {found.map(({ graph, triples: size }) => (
            <tr key={graph}>
              <th scope="row"><code>{named(graph)}</code></th>
              <td class="number">{counted(size)}</td>
              <td class="actions">
                <button class="small" onClick={() => open(graph)} aria-label={`Show ${named(graph)}`}>Show</button>
                <button class="danger small" disabled={size === 0} onClick={() => empty(graph)} aria-label={`Empty ${named(graph)}`}>Empty</button>
              </td>
            </tr>
          ))}
        </Listing>
      )}
      {shown && (
        <section aria-label={`Triples of the ${named(shown.graph)}`} class="sheet">
          <header><h2>{named(shown.graph)}</h2><button class="plain" onClick={() => show(null)}>Hide</button></header>
          <pre tabIndex={0}>{shown.text.slice(0, MOST_CHARACTERS) || "no triples"}{shown.text.length > MOST_CHARACTERS && "\n…"}</pre>
        </section>
      )}
      <form class="sheet" onSubmit={submit} aria-labelledby="insert-title">
        <h2 id="insert-title">Insert triples by hand</h2>
        <label>Graph<input name="graph" placeholder="the default graph" /></label>
        <label>Turtle<textarea name="body" rows={4} required spellcheck={false} placeholder={"@prefix : <http://example.org/> .\n:s1 :in :kitchen ."} /></label>
        <div class="fields"><button class="primary">Insert</button></div>
      </form>
    </View>
  );
}
