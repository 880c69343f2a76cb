/** The language for the editor: how a text is coloured, and what can complete a word.
 *
 * A bare word in SPARQL is a keyword or a function, whatever the dialect, so colours need no list of them. Words to complete
 * come from the server, which has the grammar.
 */
import { autocompletion, type Completion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { HighlightStyle, StreamLanguage, type StringStream, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { tags } from "@lezer/highlight";
import type { Vocabulary } from "./api";
import { declared, PREFIXES, prefixed } from "./terms";

interface State {
  /** The quotes that end the string we are in. */
  quotes: string;
}

function token(stream: StringStream, state: State): string | null {
  if (state.quotes) return string(stream, state);
  if (stream.eatSpace()) return null;
  if (stream.match(/^#.*/)) return "comment";
  if (stream.match(/^<[^\s<>"{}|^`\\]*>/)) return "url";
  const quotes = stream.match(/^("""|'''|"|')/) as RegExpMatchArray | null;
  if (quotes) {
    state.quotes = quotes[1]!;
    return string(stream, state);
  }
  if (stream.match(/^[?$][\w\u00b7-\uffff]+/)) return "variableName";
  if (stream.match(/^@[a-zA-Z][\w-]*/)) return "meta";
  if (stream.match(/^(PT?\d[\dA-Z.]*|\d+(\.\d+)?(ms|s|m|h|d)(\d+(ms|s|m|h|d))*)\b/)) return "number";
  if (stream.match(/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?/)) return "number";
  if (stream.match(/^(_:)[\w.-]+/)) return "atom";
  if (stream.match(/^[\w-]*(\.[\w-]+)*:(?:[\w%:-]|\\.|\.(?=[\w-]))*/)) return "namespace";
  if (stream.match(/^(true|false)\b/i)) return "bool";
  if (stream.match(/^a\b/)) return "keyword";
  if (stream.match(/^(?!(?:filter|bind|values|having|in|by|where|select|as|asc|desc)\b)[A-Za-z_\d]+(?=\s*\()/i)) return "function";
  if (stream.match(/^[A-Za-z_]+/)) return "keyword";
  if (stream.match(/^[{}()[\]]/)) return "bracket";
  if (stream.match(/^[=!<>|&*/+^-]+/)) return "operator";
  stream.next();
  return "punctuation";
}

function string(stream: StringStream, state: State): string {
  while (!stream.eol()) {
    if (stream.match(state.quotes)) {
      state.quotes = "";
      return "string";
    }
    if (stream.next() === "\\") stream.next();
  }
  if (state.quotes.length === 1) state.quotes = "";
  return "string";
}

const language = StreamLanguage.define<State>({
  name: "millstream",
  startState: () => ({ quotes: "" }),
  token,
  tokenTable: { function: tags.function(tags.variableName) },
  languageData: { commentTokens: { line: "#" }, closeBrackets: { brackets: ["(", "[", "{", '"', "'"] } },
});

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--code-keyword)", fontWeight: "600" },
  { tag: tags.function(tags.variableName), color: "var(--code-function)" },
  { tag: tags.variableName, color: "var(--code-variable)" },
  { tag: tags.namespace, color: "var(--code-name)" },
  { tag: tags.url, color: "var(--code-iri)" },
  { tag: tags.string, color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.atom], color: "var(--code-number)" },
  { tag: tags.comment, color: "var(--code-comment)", fontStyle: "italic" },
  { tag: [tags.bracket, tags.operator, tags.punctuation, tags.meta], color: "var(--code-mark)" },
]);

export interface Known {
  words: Vocabulary | null;
  /** Texts of other queries, whose prefixes and names are likely to be used again. */
  texts: string[];
}

function complete(context: CompletionContext, known: Known): CompletionResult | null {
  const before = context.matchBefore(/(<[^\s<>]*|[?$]?[\w-]*:?[\w.-]*)$/);
  if (!before || (before.text === "" && !context.explicit)) return null;
  const text = context.state.doc.toString();
  const [own, others] = [declared(text), Object.assign({}, ...known.texts.map(declared)) as Record<string, string>];
  const options: Completion[] = [];
  const add = (type: string, labels: Iterable<string>, boost = 0): void => {
    for (const label of new Set(labels)) options.push({ label, type, boost });
  };
  if (/^[?$]/.test(before.text)) {
    add("variable", (text.match(/[?$]\w+/g) ?? []).filter((name) => name !== before.text));
    return { from: before.from, options, validFor: /^[?$]\w*$/ };
  }
  if (before.text.startsWith("<")) {
    for (const iri of known.words?.iris ?? []) options.push({ label: `<${iri}>`, type: "constant" });
    for (const iri of new Set(Object.values({ ...PREFIXES, ...others }))) options.push({ label: `<${iri}>`, type: "namespace" });
    return { from: before.from, options, validFor: /^<[^\s<>]*$/ };
  }
  const line = context.state.doc.lineAt(context.pos).text;
  if (/^\s*prefix\s+[\w.-]*:?$/i.test(line.slice(0, context.pos - context.state.doc.lineAt(context.pos).from))) {
    for (const [name, iri] of Object.entries({ ...PREFIXES, ...others }))
      if (!(name in own)) options.push({ label: `${name}:`, detail: iri, apply: `${name}: <${iri}>`, type: "namespace" });
    return { from: before.from, options };
  }
  const names = (known.words?.iris ?? []).map((iri) => prefixed(iri, own)).filter((name) => /^[\w-]*:/.test(name) && name.split(":")[0]! in own);
  const used = [text, ...known.texts].flatMap((some) => some.match(/(?<![\w<])[\w-]*:[\w-]+/g) ?? []).filter((name) => name.split(":")[0]! in own);
  add("property", [...names, ...used].filter((name) => name !== before.text), 1);
  add("namespace", Object.keys(own).map((name) => `${name}:`));
  if (!before.text.includes(":")) {
    add("keyword", known.words?.keywords ?? []);
    add("function", [...(known.words?.functions ?? []), ...(known.words?.aggregates ?? [])]);
  }
  return { from: before.from, options, validFor: /^[\w-]*:?[\w.-]*$/ };
}

export function queryLanguage(known: () => Known): Extension {
  return [language, syntaxHighlighting(colours), autocompletion({ override: [(context) => complete(context, known())], icons: false })];
}
