/** The answers of one query as they move: a multiset of rows, the latest changes, and numbers over time.
 *
 * Events change the model at once; who draws it is told at most every tenth of a second, and less often if drawing takes
 * long. So the page costs what is on it, not what happens.
 */
import { signal } from "@preact/signals";
import type { Solution, Term } from "./api";
import { numeric, shown, spelled } from "./terms";
import type { Connection, Listener, Notification } from "./subscription";

export interface Row {
  key: string;
  cells: (Term | undefined)[];
  /** How often it is an answer; 0 once it has left. */
  count: number;
  /** When it appeared or left, by the page's clock; 0 for what was there from the beginning. */
  since: number;
  /** What is searched, made when it is first needed. */
  text?: string;
}

export interface Change {
  number: number;
  at_ms: number;
  weight: 1 | -1;
  cells: (Term | undefined)[];
}

/** How long a row is shown as new, and how long one that has left stays. */
export const FADE_MS = 1500;
const EVERY_MS = 100;
const MOST_LEAVING = 300;
const MOST_CHANGES = 5_000;
const MOST_EMITTED = 20_000;
const MOST_POINTS = 1_500;
const MOST_SERIES = 12;

/** Values of one variable over event time, one line for each of what the other columns say. */
export interface Lines {
  times: number[];
  names: string[];
  values: (number | null)[][];
}

export class Answers implements Listener {
  private readonly version = signal(0);
  readonly connected = signal<{ state: Connection; message: string }>({ state: "connecting", message: "" });
  readonly paused = signal(false);
  variables: string[] = [];
  rows = new Map<string, Row>();
  changes: Change[] = [];
  /** The size of the answer set. */
  size = 0;
  /** How many rows came or went, not counting snapshots. */
  seen = 0;
  at_ms: number | null = null;
  /** Times at which the subscription had to begin anew, and changes may not have been shown. */
  missed = 0;
  lines: Lines = { times: [], names: [], values: [] };
  sizes: Lines = { times: [], names: ["answers"], values: [[]] };

  private leaving = new Set<Row>();
  private scheduled = false;
  private drawn = 0;
  private cost = 0;
  private recent: [number, number][] = [];
  private current = new Map<string, { rows: number; value: number }>();
  private measured = -1;

  constructor(
    readonly output: string,
    readonly prefixes: Record<string, string>,
  ) {}

  // What the subscription tells --------------------------------------------------------------------------------------

  connection(state: Connection, message = ""): void {
    this.connected.value = { state, message };
  }

  reached(at_ms: number): void {
    this.at_ms = at_ms;
    this.schedule();
  }

  notified({ at_ms, snapshot, missed, addedResults, removedResults }: Notification): void {
    const now = performance.now();
    this.at_ms = at_ms;
    this.variables = addedResults.head.vars;
    const added = addedResults.results.bindings;
    const before = this.seen;
    const removed = removedResults.results.bindings;
    if (snapshot) {
      if (this.output !== "dstream") this.replace(added, at_ms, missed ? now : 0);
      if (missed) this.missed += 1;
    } else if (this.output === "rstream") {
      this.replace(added, at_ms, now);
    } else {
      // What DSTREAM emits is a list of what has left: here it only grows, as that of ISTREAM does.
      const leaves = this.output === "dstream" ? 1 : -1;
      for (const solution of removed) this.change(this.cells(solution), leaves, at_ms, now);
      for (const solution of added) this.change(this.cells(solution), 1, at_ms, now);
    }
    if (this.output === "istream" || this.output === "dstream") this.forgetOldest();
    this.measure(at_ms);
    this.recent.push([now, this.seen - before]);
    this.schedule();
  }

  private cells(solution: Solution): (Term | undefined)[] {
    return this.variables.map((variable) => solution[variable]);
  }

  private static key(cells: (Term | undefined)[]): string {
    return cells.map((term) => (term ? spelled(term) : "")).join("\u0001");
  }

  /** Makes the multiset what it is told to be; only what differs counts as a change. */
  private replace(solutions: Solution[], at_ms: number, now: number): void {
    const wanted = new Map<string, [(Term | undefined)[], number]>();
    for (const solution of solutions) {
      const cells = this.cells(solution);
      const key = Answers.key(cells);
      const found = wanted.get(key);
      if (found) found[1] += 1;
      else wanted.set(key, [cells, 1]);
    }
    for (const row of [...this.rows.values()])
      for (let many = row.count - (wanted.get(row.key)?.[1] ?? 0); many > 0; many--) this.change(row.cells, -1, at_ms, now);
    for (const [key, [cells, count]] of wanted)
      for (let many = count - (this.rows.get(key)?.count ?? 0); many > 0; many--) this.change(cells, 1, at_ms, now);
  }

  private change(cells: (Term | undefined)[], weight: 1 | -1, at_ms: number, now: number): void {
    const key = Answers.key(cells);
    let row = this.rows.get(key);
    if (weight > 0) {
      if (row && row.count > 0) row.count += 1;
      else {
        if (row) this.leaving.delete(row);
        // Anew, so that it stands behind all others in the order of arrival.
        this.rows.delete(key);
        row = { key, cells, count: 1, since: now };
        this.rows.set(key, row);
      }
    } else if (row && row.count > 0) {
      row.count -= 1;
      if (row.count === 0) {
        row.since = now;
        this.leaving.add(row);
        if (this.leaving.size > MOST_LEAVING) this.remove(this.leaving.values().next().value!);
      }
    } else return;
    this.size += weight;
    this.track(cells, weight);
    if (now === 0) return;
    this.seen += 1;
    this.changes.push({ number: this.seen, at_ms, weight: this.output === "dstream" ? -1 : weight, cells });
    if (this.changes.length > 2 * MOST_CHANGES) this.changes.splice(0, MOST_CHANGES);
  }

  private remove(row: Row): void {
    this.leaving.delete(row);
    if (this.rows.get(row.key) === row) this.rows.delete(row.key);
  }

  /** What is only ever added to is kept as far as a person would look back. */
  private forgetOldest(): void {
    for (const row of this.rows.values()) {
      if (this.rows.size <= MOST_EMITTED) return;
      this.size -= row.count;
      for (let many = row.count; many > 0; many--) this.track(row.cells, -1);
      this.remove(row);
    }
  }

  // Numbers over time ------------------------------------------------------------------------------------------------

  /** Which variable has numbers; -1 if none has. */
  get measuredVariable(): number {
    return this.measured;
  }

  private track(cells: (Term | undefined)[], weight: 1 | -1): void {
    if (this.measured < 0) this.measured = cells.findLastIndex((term) => numeric(term) !== null);
    const value = this.measured < 0 ? null : numeric(cells[this.measured]);
    if (value === null) return;
    const name = cells.flatMap((term, place) => (term && place !== this.measured && numeric(term) === null ? [shown(term, this.prefixes)] : [])).join(" ");
    const now = this.current.get(name) ?? { rows: 0, value };
    now.rows += weight;
    if (weight > 0) now.value = value;
    if (now.rows > 0) this.current.set(name, now);
    else this.current.delete(name);
    if (weight > 0 && !this.lines.names.includes(name) && this.lines.names.length < MOST_SERIES) {
      this.lines.names.push(name);
      this.lines.values.push(new Array<null>(this.lines.times.length).fill(null));
    }
  }

  private measure(at_ms: number): void {
    point(this.sizes, at_ms, () => this.size);
    if (this.lines.names.length > 0) point(this.lines, at_ms, (name) => this.current.get(name)?.value ?? null);
  }

  /** Whoever asks is drawn again when there is something new to draw. */
  watch(): number {
    return this.version.value;
  }

  /** Whether some row is an answer more than once. */
  get repeated(): boolean {
    return this.size > this.rows.size - this.leaving.size;
  }

  // What is drawn ----------------------------------------------------------------------------------------------------

  /** Rows that came or went, a second. */
  get rate(): number {
    const now = performance.now();
    this.recent = this.recent.filter(([at]) => now - at < 2000);
    return this.recent.reduce((sum, [, count]) => sum + count, 0) / 2;
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    const wait = Math.max(0, this.drawn + Math.max(EVERY_MS, 4 * this.cost) - performance.now());
    setTimeout(() => requestAnimationFrame(() => this.draw()), wait);
  }

  private draw(): void {
    this.scheduled = false;
    const began = (this.drawn = performance.now());
    for (const row of this.leaving) if (began - row.since > FADE_MS) this.remove(row);
    if (!this.paused.value) this.version.value += 1;
    // What signals cause is drawn in a microtask.
    queueMicrotask(() => (this.cost = performance.now() - began));
    if (this.leaving.size > 0) this.schedule();
  }

  pause(paused: boolean): void {
    this.paused.value = paused;
    this.version.value += 1;
  }
}

function point(lines: Lines, at_ms: number, value: (name: string) => number | null): void {
  const at = at_ms / 1000;
  if (lines.times.length === 0 || at > lines.times.at(-1)!) {
    lines.times.push(at);
    for (const values of lines.values) values.push(null);
    if (lines.times.length > MOST_POINTS + 500) for (const values of [lines.times, ...lines.values]) values.splice(0, 500);
  }
  lines.names.forEach((name, place) => (lines.values[place]![lines.times.length - 1] = value(name)));
}

/** Rows in the order that is asked for, newest first unless told, with those alone that have a text. */
export function arranged(answers: Answers, filter: string, sort: { column: number; ascending: boolean } | null): Row[] {
  const wanted = filter.trim().toLowerCase();
  let found = [...answers.rows.values()].reverse();
  if (wanted) {
    found = found.filter((row) => {
      row.text ??= row.cells.map((term) => (term ? shown(term, answers.prefixes) : "")).join(" ").toLowerCase();
      return row.text.includes(wanted);
    });
  }
  if (!sort) return found;
  const sign = sort.ascending ? 1 : -1;
  const keyed = found.map((row) => {
    const term = row.cells[sort.column];
    return { row, number: numeric(term), text: term ? shown(term, answers.prefixes) : "" };
  });
  keyed.sort((a, b) => {
    if (a.number !== null && b.number !== null) return sign * (a.number - b.number);
    return sign * (a.text < b.text ? -1 : a.text > b.text ? 1 : 0);
  });
  return keyed.map(({ row }) => row);
}
