/** The same answers as a log: every row that came or went, newest first. */
import type { JSX } from "preact";
import type { Answers } from "./answers";
import { Cell, ROW_PX } from "./table";
import { clock, shown } from "./terms";
import { useVisible } from "./virtual";

export function Changelog({ answers, filter }: { answers: Answers; filter: string }): JSX.Element {
  answers.watch();
  const wanted = filter.trim().toLowerCase();
  const found = wanted
    ? answers.changes.filter(({ cells }) => cells.some((term) => term && shown(term, answers.prefixes).toLowerCase().includes(wanted)))
    : answers.changes;
  const total = found.length;
  const { scroller, first, last, height } = useVisible(total, ROW_PX);
  const columns = { gridTemplateColumns: `104px 2em repeat(${answers.variables.length}, minmax(110px, 1fr))` };
  return (
    <div class="scroller" ref={scroller} tabIndex={0} role="region" aria-label="Changes">
      <div role="table" class="grid" aria-rowcount={total + 1} aria-label="Changes of the answers, newest first">
        <div role="row" class="row head" style={columns} aria-rowindex={1}>
          <div role="columnheader">time</div>
          <div role="columnheader" class="sign"><span class="hidden">appeared or left</span></div>
          {answers.variables.map((variable) => <div role="columnheader" key={variable}>{variable}</div>)}
        </div>
        <div role="rowgroup" class="space" style={{ height: `${height}px` }}>
          {Array.from({ length: Math.max(0, last - first) }, (_, place) => {
            const change = found[total - 1 - first - place]!;
            return (
              <div key={change.number} role="row" aria-rowindex={first + place + 2} class="row" style={{ ...columns, top: `${(first + place) * ROW_PX}px` }}>
                <div role="cell" class="time">{clock(change.at_ms)}</div>
                <div role="cell" class={`sign ${change.weight > 0 ? "plus" : "minus"}`} aria-label={change.weight > 0 ? "appeared" : "left"}>{change.weight > 0 ? "+" : "−"}</div>
                {change.cells.map((term, column) => <div role="cell" key={column}><Cell term={term} answers={answers} /></div>)}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
