/** How a query runs: its operators with live counts and where time goes; before it runs, and where the server does not count, the text of `explain`. */
import { useRef } from "preact/hooks";
import type { JSX } from "preact";
import { ApiError, type Operator, operators } from "./api";
import { usePolled } from "./state";
import { counted } from "./terms";

const EVERY_MS = 1000;

export function Explained({ text }: { text: string }): JSX.Element {
  return <pre class="explain" tabIndex={0} aria-label="Plan of the query">{text}</pre>;
}

type Counted = { at_ms: number; operators: Operator } | "not counted";

export function Plan({ name, explain }: { name: string; explain: string }): JSX.Element {
  const ask = async (): Promise<Counted> => {
    try {
      return await operators(name);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return "not counted";
      throw error;
    }
  };
  const { found } = usePolled(ask, EVERY_MS, name);
  const before = useRef<{ at: number; changes: Map<string, number> } | null>(null);
  if (!found || found === "not counted") return <Explained text={explain} />;

  const now = { at: performance.now(), changes: new Map<string, number>() };
  const total = sum(found.operators);
  const last = before.current;
  const rate = (path: string, changes: number): number | null => {
    now.changes.set(path, changes);
    const known = last?.changes.get(path);
    return last && known !== undefined && now.at > last.at ? Math.max(0, (changes - known) / ((now.at - last.at) / 1000)) : null;
  };
  const tree = <Branch operator={found.operators} path="0" total={total} rate={rate} />;
  if (!last || now.at - last.at > EVERY_MS / 2) before.current = now;
  return (
    <div class="operators">
      <ul aria-label="Operators">{tree}</ul>
      <details>
        <summary>As text</summary>
        <Explained text={explain} />
      </details>
    </div>
  );
}

const sum = (operator: Operator): number => (operator.micros ?? 0) + operator.inputs.reduce((all, input) => all + sum(input), 0);

function Branch({ operator, path, total, rate }: { operator: Operator; path: string; total: number; rate: (path: string, changes: number) => number | null }): JSX.Element {
  const share = operator.micros === null || total === 0 ? null : operator.micros / total;
  const perSecond = rate(path, operator.changes);
  return (
    <li>
      <div class="operator">
        <span class="label">{operator.label}</span>
        {operator.detail && <code>{operator.detail}</code>}
        <span class="figures">
          <span title="Rows that came out of it, each +1 and each −1">{counted(operator.changes)} changes</span>
          {perSecond !== null && perSecond > 0 && <span>{counted(perSecond)}/s</span>}
          {operator.stored !== null && <span title="Rows that it keeps now">{counted(operator.stored)} kept</span>}
          {share !== null && (
            <span class="share" title={`${counted(operator.micros! / 1000)} ms of CPU time in it alone`}>
              <meter min={0} max={1} value={share} aria-label="Share of the time" />
              {Math.round(100 * share)} %
            </span>
          )}
        </span>
      </div>
      {operator.inputs.length > 0 && (
        <ul>{operator.inputs.map((input, place) => <Branch key={place} operator={input} path={`${path}.${place}`} total={total} rate={rate} />)}</ul>
      )}
    </li>
  );
}
