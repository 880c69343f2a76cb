/** The answers of a query in four views, with what one does to them: filter, pause, export. */
import { useEffect, useState } from "preact/hooks";
import type { JSX, TargetedKeyboardEvent } from "preact";
import type { Answers } from "./answers";
import { Changelog } from "./changelog";
import { Chart } from "./chart";
import { Graph } from "./graph";
import { Table } from "./table";
import { clock, counted } from "./terms";

const VIEWS = ["Table", "Changes", "Chart", "Graph"] as const;
const SAID_MS = 4000;

interface Properties {
  answers: Answers;
  /** Gives the answer set in a format, where there is somebody who can. */
  save?: (format: string) => Promise<void>;
  formats?: string[];
}

export function AnswersView({ answers, save, formats = [] }: Properties): JSX.Element {
  answers.watch();
  const [view, show] = useState<(typeof VIEWS)[number]>("Table");
  const [filter, filterBy] = useState("");
  const paused = answers.paused.value;
  const { state, message } = answers.connected.value;

  const keys = (event: TargetedKeyboardEvent<HTMLElement>): void => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    const next = (VIEWS.indexOf(view) + by + VIEWS.length) % VIEWS.length;
    show(VIEWS[next]!);
    event.currentTarget.querySelectorAll("button")[next]!.focus();
  };
  return (
    <div class="answers">
      <div class="toolbar">
        <div role="tablist" aria-label="Views of the answers" class="tabs" onKeyDown={keys}>
          {VIEWS.map((name) => (
            <button key={name} id={`tab-${name}`} role="tab" aria-selected={view === name} aria-controls="answers-panel" tabIndex={view === name ? 0 : -1} onClick={() => show(name)}>
              {name}
            </button>
          ))}
        </div>
        <span class="spring" />
        {(view === "Table" || view === "Changes") && (
          <input type="search" placeholder="Filter" aria-label="Filter the answers" value={filter} onInput={(event) => filterBy(event.currentTarget.value)} />
        )}
        <button class="pause" aria-pressed={paused} onClick={() => answers.pause(!paused)}>{paused ? "Resume" : "Pause"}</button>
        {save && (
          <select aria-label="Export the answers" value="" onChange={(event) => { void save(event.currentTarget.value); event.currentTarget.value = ""; }}>
            <option value="" disabled hidden>Export</option>
            {formats.map((format) => <option key={format} value={format}>{format}</option>)}
          </select>
        )}
      </div>
      {state === "lost" && <p class="banner warning" role="status">{message} Trying again; nothing will be left out.</p>}
      {state === "closed" && <p class="banner warning" role="status">{message}</p>}
      <div class="body" id="answers-panel" role="tabpanel" aria-labelledby={`tab-${view}`}>
        {view === "Table" && <Table answers={answers} filter={filter} />}
        {view === "Changes" && <Changelog answers={answers} filter={filter} />}
        {view === "Chart" && <Chart answers={answers} />}
        {view === "Graph" && <Graph answers={answers} />}
        {(view === "Table" || view === "Changes") && answers.rows.size === 0 && state === "live" && (
          <p class="empty over">{answers.seen ? "No answers now." : "No answers yet. They appear here as elements arrive."}</p>
        )}
      </div>
      <footer>
        <span class={`dot ${paused ? "paused" : state}`} aria-hidden="true" />
        <span>{paused ? "paused" : state}</span>
        <span data-testid="size"><b>{counted(answers.size)}</b> {answers.output === "istream" || answers.output === "dstream" ? "emitted" : answers.size === 1 ? "answer" : "answers"}</span>
        <span><b>{counted(answers.rate)}</b> changes/s</span>
        <span class="spring" />
        {answers.missed > 0 && <span title="More changed than the server keeps for those who fall behind; the answers are right, the list of changes is not complete">{answers.missed} × caught up</span>}
        {answers.at_ms !== null && <span title="Event time that the engine has reached">{clock(answers.at_ms)}</span>}
      </footer>
      <Spoken answers={answers} />
    </div>
  );
}

/** Says now and then how many answers there are, to those who listen instead of looking. */
function Spoken({ answers }: { answers: Answers }): JSX.Element {
  const [said, say] = useState("");
  useEffect(() => {
    const timer = setInterval(() => say(`${answers.size} answers`), SAID_MS);
    return () => clearInterval(timer);
  }, [answers]);
  return <div class="hidden" role="status">{said}</div>;
}
