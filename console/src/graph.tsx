/** Answers as a small graph: the triples of a CONSTRUCT, or two variables that have resources as the ends of an edge. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { JSX } from "preact";
import type { Answers } from "./answers";
import type { Term } from "./api";
import { shown, spelled } from "./terms";

const MOST_EDGES = 200;
const REACH = 90;

interface Node {
  key: string;
  label: string;
  literal: boolean;
  x: number;
  y: number;
  dx: number;
  dy: number;
}

interface Edge {
  key: string;
  from: string;
  to: string;
  label: string;
}

/** The columns of an edge: from, its name if there is one, to. */
export function ends(answers: Answers): [number, number, number] | null {
  if (answers.variables.join() === "subject,predicate,object") return [0, 1, 2];
  for (const row of answers.rows.values()) {
    const resources = row.cells.flatMap((term, place) => (term && term.type !== "literal" ? [place] : []));
    return resources.length >= 2 ? [resources[0]!, -1, resources[1]!] : null;
  }
  return null;
}

export function Graph({ answers }: { answers: Answers }): JSX.Element {
  answers.watch();
  const nodes = useRef(new Map<string, Node>());
  const heat = useRef(1);
  const svg = useRef<SVGSVGElement>(null);
  const [, redraw] = useState(0);
  const found = ends(answers);
  const { edges, more } = found ? edgesOf(answers, found, nodes.current, heat) : { edges: [], more: 0 };

  useEffect(() => {
    let frame = 0;
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const step = (): void => {
      if (heat.current > 0.02) {
        for (let k = still ? 200 : 2; k > 0; k--) settle([...nodes.current.values()], latest.current, nodes.current, (heat.current *= 0.985));
        redraw((n) => n + 1);
      }
      frame = requestAnimationFrame(step);
    };
    frame = requestAnimationFrame(step);
    return () => cancelAnimationFrame(frame);
  }, []);
  const latest = useRef(edges);
  latest.current = edges;

  if (!found) return <p class="empty">A graph needs answers with two resources, or a CONSTRUCT.</p>;
  const all = [...nodes.current.values()];
  const box = bounds(all);
  // Letters are as large as elsewhere, however much the drawing is scaled.
  const scale = Math.max(box[2] / (svg.current?.clientWidth ?? box[2]), box[3] / (svg.current?.clientHeight ?? box[3]));
  return (
    <div class="network">
      <svg ref={svg} viewBox={box.join(" ")} role="img" aria-label={`A graph of ${all.length} nodes and ${edges.length} edges`}>
        <defs>
          <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 1L7 4L0 7" class="tip" /></marker>
        </defs>
        {edges.map((edge) => {
          const [a, b] = [nodes.current.get(edge.from)!, nodes.current.get(edge.to)!];
          const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
          const [ux, uy] = [(b.x - a.x) / length, (b.y - a.y) / length];
          return (
            <g key={edge.key} class="edge">
              <line x1={a.x + 7 * scale * ux} y1={a.y + 7 * scale * uy} x2={b.x - 9 * scale * ux} y2={b.y - 9 * scale * uy} marker-end="url(#arrow)" />
              {edge.label && <text x={(a.x + b.x) / 2} y={(a.y + b.y) / 2 - 3 * scale} font-size={10 * scale}>{edge.label}</text>}
            </g>
          );
        })}
        {all.map((node) => (
          <g key={node.key} class={node.literal ? "node literal" : "node"}>
            <circle cx={node.x} cy={node.y} r={6 * scale} />
            <text x={node.x} y={node.y - 11 * scale} font-size={12 * scale}>{node.label}</text>
            <title>{node.key}</title>
          </g>
        ))}
      </svg>
      {more > 0 && <p class="note">{more} more edges are not drawn</p>}
      {all.length === 0 && <p class="empty">No answers now.</p>}
    </div>
  );
}

/** The edges now; nodes that come are put near the middle, those that nothing mentions go. */
function edgesOf(answers: Answers, [from, name, to]: [number, number, number], nodes: Map<string, Node>, heat: { current: number }): { edges: Edge[]; more: number } {
  const edges = new Map<string, Edge>();
  const used = new Set<string>();
  let more = 0;
  const node = (term: Term): string => {
    const key = spelled(term);
    used.add(key);
    if (!nodes.has(key)) {
      const angle = nodes.size * 2.4;
      const far = 30 + 8 * nodes.size;
      nodes.set(key, { key, label: shown(term, answers.prefixes), literal: term.type === "literal", x: far * Math.cos(angle), y: far * Math.sin(angle), dx: 0, dy: 0 });
      heat.current = 1;
    }
    return key;
  };
  for (const row of answers.rows.values()) {
    const [a, b, label] = [row.cells[from], row.cells[to], row.cells[name]];
    if (row.count === 0 || !a || !b) continue;
    const key = `${spelled(a)} ${label ? spelled(label) : ""} ${spelled(b)}`;
    if (edges.has(key)) continue;
    if (edges.size >= MOST_EDGES) more += 1;
    else edges.set(key, { key, from: node(a), to: node(b), label: label ? shown(label, answers.prefixes) : "" });
  }
  for (const key of nodes.keys())
    if (!used.has(key)) {
      nodes.delete(key);
      heat.current = Math.max(heat.current, 0.3);
    }
  return { edges: [...edges.values()], more };
}

/** One step of a force-directed layout: nodes repel one another, edges hold them at a distance, all drift to the middle. */
function settle(nodes: Node[], edges: Edge[], byKey: Map<string, Node>, heat: number): void {
  for (const a of nodes) {
    a.dx = -0.02 * a.x;
    a.dy = -0.03 * a.y;
    for (const b of nodes) {
      if (a === b) continue;
      const [x, y] = [a.x - b.x || 0.1, a.y - b.y || 0.1];
      const push = (REACH * REACH) / (x * x + y * y) / 14;
      a.dx += x * push;
      a.dy += y * push;
    }
  }
  for (const { from, to } of edges) {
    const [a, b] = [byKey.get(from), byKey.get(to)];
    if (!a || !b || a === b) continue;
    const [x, y] = [b.x - a.x, b.y - a.y];
    const length = Math.hypot(x, y) || 1;
    const pull = (0.06 * (length - REACH)) / length;
    a.dx += x * pull;
    a.dy += y * pull;
    b.dx -= x * pull;
    b.dy -= y * pull;
  }
  for (const node of nodes) {
    const far = Math.hypot(node.dx, node.dy) || 1;
    const step = Math.min(far, 14 * heat) / far;
    node.x += node.dx * step;
    node.y += node.dy * step;
  }
}

function bounds(nodes: Node[]): [number, number, number, number] {
  const [xs, ys] = [nodes.map(({ x }) => x), nodes.map(({ y }) => y)];
  const [left, top] = [Math.min(-160, ...xs) - 60, Math.min(-110, ...ys) - 40];
  return [left, top, Math.max(160, ...xs) + 60 - left, Math.max(110, ...ys) + 30 - top];
}
