/** The server: requests with the token in a header, errors as one class, and the shapes of what it answers. */
import { signal } from "@preact/signals";

const KEPT = "millstream.token";

/** The token, for as long as this tab lives. */
export const token = signal<string | null>(sessionStorage.getItem(KEPT));
/** Whether the server refused the token, or asked for one: then nothing works until there is another. */
export const refused = signal(false);

export function useToken(given: string): void {
  sessionStorage.setItem(KEPT, given);
  token.value = given;
  refused.value = false;
}

/** Takes the token out of the link that the server prints: it must not stay in the address bar, nor in the history. */
export function takeTokenFromAddress(): void {
  const address = new URL(location.href);
  const given = address.searchParams.get("token");
  if (given === null) return;
  useToken(given);
  address.searchParams.delete("token");
  history.replaceState(null, "", address);
}

export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** A request; what the server refuses, and a server that is not there (status 0), are an ApiError. */
export async function send(method: string, path: string, body?: string, type?: string, more: RequestInit = {}): Promise<Response> {
  const headers = new Headers(more.headers);
  if (token.value !== null) headers.set("Authorization", `Bearer ${token.value}`);
  if (type !== undefined) headers.set("Content-Type", type);
  let response: Response;
  try {
    response = await fetch(path, { ...more, method, headers, body: body ?? null, cache: "no-store" });
  } catch (error) {
    if (more.signal?.aborted) throw error;
    throw new ApiError(0, "The server does not answer.");
  }
  if (response.ok) return response;
  if (response.status === 401) refused.value = true;
  throw new ApiError(response.status, await problem(response));
}

async function problem(response: Response): Promise<string> {
  try {
    const said = (await response.json()) as { error?: string; reasons?: { reason: string }[] };
    return [said.error ?? response.statusText, ...(said.reasons ?? []).map((found) => found.reason)].join("\n");
  } catch {
    return `${response.status} ${response.statusText}`;
  }
}

export async function get<T>(path: string): Promise<T> {
  return (await (await send("GET", path)).json()) as T;
}

export interface Term {
  type: "uri" | "literal" | "bnode" | "triple";
  value: string;
  datatype?: string;
  "xml:lang"?: string;
}

export type Solution = Record<string, Term>;

export interface Query {
  name: string;
  text: string;
  form: string;
  output: string;
  variables: string[];
  streams: string[];
  warnings: string[];
  subscribers: number;
  elements: number;
  stored: number;
  answers: number;
  events_per_second: number;
  latency_ms: { p50: number | null; p99: number | null };
  explain: string;
}

export interface Problem {
  message: string;
  suggestion: string | null;
  line?: number;
  column?: number;
  length?: number;
}

export type Checked =
  | { ok: true; form: string; output: string; variables: string[]; streams: string[]; explain: string; warnings: Problem[] }
  | { ok: false; error: Problem };

export interface Operator {
  label: string;
  detail: string | null;
  changes: number;
  stored: number | null;
  micros: number | null;
  inputs: Operator[];
}

export interface Stream {
  iri: string;
  queries: string[];
  elements: number;
  late: number;
  rejected: number;
  elements_per_second: number;
  last_ms: number | null;
  reasons: { at_ms: number; line: number | null; column: number | null; reason: string }[];
}

export interface Streams {
  watermark_ms: number;
  lateness_ms: number;
  streams: Stream[];
}

export interface Vocabulary {
  keywords: string[];
  functions: string[];
  aggregates: string[];
  iris: string[];
}

export interface Taken {
  elements: number;
  late: number;
  rejected: number;
  reasons: { reason: string }[];
}

const path = (name: string): string => `queries/${encodeURIComponent(name)}`;

export const queries = async (): Promise<Query[]> => (await get<{ queries: Query[] }>("queries")).queries;
export const query = (name: string): Promise<Query> => get(path(name));
export const operators = (name: string): Promise<{ at_ms: number; operators: Operator }> => get(`${path(name)}/operators`);
export const streams = (): Promise<Streams> => get("streams");
export const vocabulary = (): Promise<Vocabulary> => get("vocabulary");
export const graphs = async (): Promise<{ graph: string | null; triples: number }[]> =>
  (await get<{ graphs: { graph: string | null; triples: number }[] }>("datasets")).graphs;

export async function check(text: string): Promise<Checked> {
  return (await (await send("POST", "check", text, "application/sparql-query")).json()) as Checked;
}

export async function register(name: string, text: string, output: string | null): Promise<Query> {
  const body = JSON.stringify({ text, name: name || null, output });
  return (await (await send("POST", "queries", body, "application/json")).json()) as Query;
}

export async function close(name: string): Promise<void> {
  await send("DELETE", path(name));
}

export async function push(stream: string, body: string, type: string, at_ms?: string): Promise<Taken> {
  const when = at_ms ? `&at_ms=${encodeURIComponent(at_ms)}` : "";
  return (await (await send("POST", `streams?iri=${encodeURIComponent(stream)}${when}`, body, type)).json()) as Taken;
}

const graphPath = (graph: string | null): string => (graph === null ? "datasets?default" : `datasets?graph=${encodeURIComponent(graph)}`);

export async function insert(graph: string | null, turtle: string): Promise<void> {
  await send("POST", graphPath(graph), turtle, "text/turtle");
}

export async function drop(graph: string | null): Promise<void> {
  await send("DELETE", graphPath(graph));
}

/** What a graph has, in Turtle. */
export async function triples(graph: string | null): Promise<string> {
  return (await send("GET", graphPath(graph), undefined, undefined, { headers: { Accept: "text/turtle" } })).text();
}

/** The answer set now as a file in one of SPARQL's formats. */
export async function answers(name: string, format: string): Promise<Blob> {
  return (await send("GET", `${path(name)}/answers?format=${format}`)).blob();
}

export const eventsPath = (name: string): string => `${path(name)}/events`;
