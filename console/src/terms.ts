/** RDF terms as people read them: prefixed names where a prefix is known, plain values of literals. */
import type { Term } from "./api";

const XSD = "http://www.w3.org/2001/XMLSchema#";
const NUMBERS = new Set(["integer", "decimal", "double", "float", "int", "long", "short", "byte", "nonNegativeInteger"].map((name) => XSD + name));

/** Prefixes that everybody uses; what a text declares itself comes first. */
export const PREFIXES: Record<string, string> = {
  rdf: "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
  rdfs: "http://www.w3.org/2000/01/rdf-schema#",
  xsd: XSD,
  owl: "http://www.w3.org/2002/07/owl#",
  skos: "http://www.w3.org/2004/02/skos/core#",
  dct: "http://purl.org/dc/terms/",
  foaf: "http://xmlns.com/foaf/0.1/",
  schema: "http://schema.org/",
  prov: "http://www.w3.org/ns/prov#",
  sosa: "http://www.w3.org/ns/sosa/",
  ssn: "http://www.w3.org/ns/ssn/",
  saref: "https://saref.etsi.org/core/",
  qudt: "http://qudt.org/schema/qudt/",
  geo: "http://www.opengis.net/ont/geosparql#",
  time: "http://www.w3.org/2006/time#",
};

/** The prefixes that a text declares. */
export function declared(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [, name, iri] of text.matchAll(/\bprefix\s+([\w.-]*):\s*<([^>\s]*)>/gi)) found[name!] = iri!;
  return found;
}

export function prefixed(iri: string, prefixes: Record<string, string>): string {
  let best = "";
  let name = "";
  for (const known of [prefixes, PREFIXES])
    for (const [prefix, start] of Object.entries(known))
      if (start.length > best.length && iri.startsWith(start) && /^[\w.-]*$/.test(iri.slice(start.length))) [best, name] = [start, prefix];
  return best ? `${name}:${iri.slice(best.length)}` : iri;
}

export function shown(term: Term, prefixes: Record<string, string>): string {
  if (term.type === "uri") return prefixed(term.value, prefixes);
  if (term.type === "bnode") return `_:${term.value}`;
  if (term.type === "triple") return JSON.stringify(term.value);
  return term["xml:lang"] ? `${term.value} @${term["xml:lang"]}` : term.value;
}

/** A term in full, by which it is told apart from others. */
export function spelled(term: Term): string {
  if (term.type === "uri") return `<${term.value}>`;
  if (term.type === "bnode") return `_:${term.value}`;
  if (term.type === "triple") return JSON.stringify(term.value);
  const text = JSON.stringify(term.value);
  if (term["xml:lang"]) return `${text}@${term["xml:lang"]}`;
  return term.datatype && term.datatype !== `${XSD}string` ? `${text}^^<${term.datatype}>` : text;
}

/** The number that a literal is. */
export function numeric(term: Term | undefined): number | null {
  if (term?.type !== "literal" || !term.datatype || !NUMBERS.has(term.datatype)) return null;
  const found = Number(term.value);
  return Number.isFinite(found) ? found : null;
}

const COUNT = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
export const counted = (count: number): string => COUNT.format(count);

/** Event time: as a clock where it is one, else as seconds since 0. */
export function clock(at_ms: number): string {
  if (Math.abs(at_ms) < 1e11) return `${(at_ms / 1000).toFixed(3)} s`;
  return new Date(at_ms).toISOString().slice(11, 23);
}
