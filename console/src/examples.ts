/** Examples that are one click away: a query, the graph it reads, and a stream that this page makes up and pushes. */
import { signal } from "@preact/signals";
import { ApiError, insert, push, queries, register } from "./api";
import { attempt, go, linkTo, trouble } from "./state";

export interface Example {
  name: string;
  title: string;
  about: string;
  text: string;
  feed: Feed;
}

interface Feed {
  title: string;
  stream: string;
  graph: string;
  triples: string;
  every_ms: number;
  /** The triples of the next element; `late_ms` is how long ago it happened. */
  next: (turn: number) => { triples: string; late_ms?: number };
}

const E = "http://example.org/";
const pick = <T>(some: readonly T[]): T => some[Math.floor(Math.random() * some.length)]!;

const SENSORS = { kitchen: 29, server: 31, lab: 26, hall: 22, office: 24, attic: 30 };
const degrees: Record<string, number> = { ...SENSORS };

const sensors: Feed = {
  title: "sensor readings",
  stream: `${E}readings`,
  graph: `${E}building`,
  triples: Object.keys(SENSORS).map((room, k) => `<${E}s${k + 1}> <${E}in> <${E}${room}> .`).join("\n"),
  every_ms: 200,
  next: (turn) => {
    const rooms = Object.keys(SENSORS) as (keyof typeof SENSORS)[];
    const room = rooms[turn % rooms.length]!;
    const drift = 3 * Math.sin(turn / 40 + rooms.indexOf(room));
    degrees[room] = degrees[room]! + (Math.random() - 0.5) + 0.2 * (SENSORS[room] + drift - degrees[room]!);
    const value = `"${degrees[room].toFixed(1)}"^^<http://www.w3.org/2001/XMLSchema#decimal>`;
    const triples = `<${E}s${rooms.indexOf(room) + 1}> <${E}shows> ${value} .`;
    return turn % 97 === 96 ? { triples, late_ms: 60_000 } : { triples };
  },
};

const DOORS = ["lobby hall", "hall lab", "hall kitchen", "kitchen garden", "lab library"];
const ROOMS = [...new Set(DOORS.flatMap((door) => door.split(" ")))];
const where: Record<string, string> = { Ann: "lobby", Ben: "hall", Cleo: "lab", Dan: "kitchen", Eve: "garden" };

const badges: Feed = {
  title: "badges at doors",
  stream: `${E}badges`,
  graph: `${E}floorplan`,
  triples: DOORS.flatMap((door) => [door.split(" "), door.split(" ").reverse()]).map(([a, b]) => `<${E}${a}> <${E}doorTo> <${E}${b}> .`).join("\n"),
  every_ms: 500,
  next: (turn) => {
    const person = pick(Object.keys(where));
    const near = DOORS.flatMap((door) => {
      const [a, b] = door.split(" ") as [string, string];
      return a === where[person] ? [b] : b === where[person] ? [a] : [];
    });
    where[person] = turn % 3 ? pick(near) : pick(ROOMS);
    const triples = `<${E}${person}> <${E}seenIn> <${E}${where[person]}> .`;
    return turn % 41 === 40 ? { triples, late_ms: 60_000 } : { triples };
  },
};

export const EXAMPLES: Example[] = [
  {
    name: "hot-rooms",
    title: "Hot rooms",
    about: "Readings above 29 degrees, joined with a graph that says where each sensor is.",
    feed: sensors,
    text: `# Which rooms are hot, by readings of the last five seconds?
PREFIX : <http://example.org/>

SELECT CHANGES ?room ?sensor ?degrees
WHERE {
  STREAM :readings [RANGE 5s] { ?sensor :shows ?degrees }
  GRAPH :building { ?sensor :in ?room }
  FILTER (?degrees > 29)
}
`,
  },
  {
    name: "averages",
    title: "Averages by room",
    about: "An aggregate that changes with every reading. Look at it as a chart.",
    feed: sensors,
    text: `# How warm was each room in the last ten seconds?
PREFIX : <http://example.org/>

SELECT CHANGES ?room (AVG(?degrees) AS ?average)
WHERE {
  STREAM :readings [RANGE 10s] { ?sensor :shows ?degrees }
  GRAPH :building { ?sensor :in ?room }
}
GROUP BY ?room
`,
  },
  {
    name: "next-door",
    title: "Next door",
    about: "A stream joined with itself and a floor plan: who was just seen one door away from whom?",
    feed: badges,
    text: `# Who was seen next door to whom, within the last 10 seconds?
PREFIX : <http://example.org/>

SELECT CHANGES ?person ?neighbour ?room ?nextRoom
WHERE {
  STREAM :badges [RANGE 10s] {
    ?person    :seenIn ?room .
    ?neighbour :seenIn ?nextRoom
  }
  GRAPH :floorplan { ?room :doorTo ?nextRoom }
  FILTER (?person != ?neighbour)
}
`,
  },
  {
    name: "meetings",
    title: "Meetings",
    about: "CONSTRUCT makes triples of answers. Look at them as a graph.",
    feed: badges,
    text: `# Who was in the same room as whom?
PREFIX : <http://example.org/>

CONSTRUCT CHANGES { ?person :meets ?other . ?person :isIn ?room }
WHERE {
  STREAM :badges [RANGE 15s] {
    ?person :seenIn ?room .
    ?other  :seenIn ?room
  }
  FILTER (STR(?person) < STR(?other))
}
`,
  },
];

/** What this page pushes now. */
export const feeding = signal<{ title: string; stream: string; elements: number } | null>(null);
let timer = 0;

export function stopFeeding(): void {
  clearTimeout(timer);
  feeding.value = null;
}

function startFeeding(feed: Feed): void {
  if (feeding.value?.stream === feed.stream) return;
  stopFeeding();
  feeding.value = { title: feed.title, stream: feed.stream, elements: 0 };
  const turn = async (): Promise<void> => {
    const now = feeding.value;
    if (now?.stream !== feed.stream) return;
    const { triples, late_ms } = feed.next(now.elements);
    try {
      await push(feed.stream, triples, "application/n-triples", late_ms === undefined ? undefined : String(Date.now() - late_ms));
      if (feeding.value === now) feeding.value = { ...now, elements: now.elements + 1 };
    } catch (error) {
      // A server that is away may come back; one that refuses will go on refusing.
      if (error instanceof ApiError && error.status !== 0 && error.status !== 503) {
        trouble.value = error.message;
        stopFeeding();
        return;
      }
    }
    timer = window.setTimeout(() => void turn(), feed.every_ms);
  };
  void turn();
}

/** Registers the query of an example if it is not there, loads its graph, pushes its stream and shows the answers. */
export async function startExample({ name, text, feed }: Example): Promise<void> {
  await attempt(async () => {
    if (!(await queries()).some((known) => known.name === name)) {
      await insert(feed.graph, feed.triples);
      await register(name, text, null);
    }
    startFeeding(feed);
    go(linkTo(name));
  });
}

