/** The answer set as a live table: what appears is green, what leaves is red and then gone. */
import { useMemo, useState } from "preact/hooks";
import type { JSX } from "preact";
import type { Term } from "./api";
import { type Answers, arranged, FADE_MS, type Row } from "./answers";
import { counted, numeric, shown, spelled } from "./terms";
import { useVisible } from "./virtual";

export const ROW_PX = 30;

export function Cell({ term, answers }: { term: Term | undefined; answers: Answers }): JSX.Element {
  if (!term) return <span class="unbound" title="unbound">–</span>;
  return <span class={term.type} title={spelled(term)}>{shown(term, answers.prefixes)}</span>;
}

export function Table({ answers, filter }: { answers: Answers; filter: string }): JSX.Element {
  const version = answers.watch();
  const [sort, sortBy] = useState<{ column: number; ascending: boolean } | null>(null);
  const rows = useMemo(() => arranged(answers, filter, sort), [answers, version, filter, sort]);
  const { scroller, first, last, height } = useVisible(rows.length, ROW_PX);
  const now = performance.now();
  const columns = { gridTemplateColumns: `repeat(${answers.variables.length}, minmax(110px, 1fr))${answers.repeated ? " 3.5em" : ""}` };

  const turn = (column: number): void => {
    if (sort?.column !== column) sortBy({ column, ascending: true });
    else sortBy(sort.ascending ? { column, ascending: false } : null);
  };
  const state = (row: Row): string => (row.count === 0 ? "leaving" : row.since > 0 && now - row.since < FADE_MS ? "new" : "");
  return (
    <div class="scroller" ref={scroller} tabIndex={0} role="region" aria-label="Answers">
      <div role="table" aria-rowcount={rows.length + 1} aria-label="Answers of the query" class="grid">
        <div role="row" class="row head" style={columns} aria-rowindex={1}>
          {answers.variables.map((variable, column) => {
            const order = sort?.column === column ? (sort.ascending ? "ascending" : "descending") : "none";
            return (
              <div role="columnheader" aria-sort={order} key={variable}>
                <button class="plain" onClick={() => turn(column)} title="Sort by this column">
                  {variable}
                  <span aria-hidden="true">{order === "ascending" ? " ↑" : order === "descending" ? " ↓" : ""}</span>
                </button>
              </div>
            );
          })}
          {answers.repeated && <div role="columnheader" class="count" title="How often it is an answer">times</div>}
        </div>
        <div role="rowgroup" class="space" style={{ height: `${height}px` }}>
          {rows.slice(first, last).map((row, place) => (
            <div key={row.key} role="row" aria-rowindex={first + place + 2} class={`row ${state(row)}`} style={{ ...columns, top: `${(first + place) * ROW_PX}px` }}>
              {row.cells.map((term, column) => (
                <div role="cell" key={column} class={numeric(term) === null ? "" : "number"}>
                  <Cell term={term} answers={answers} />
                </div>
              ))}
              {answers.repeated && <div role="cell" class="count">{counted(row.count)}</div>}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}
