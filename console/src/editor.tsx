/** The editor: CodeMirror with our language, whose errors come from the server's parser while one types. */
import { closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, toggleComment } from "@codemirror/commands";
import { bracketMatching } from "@codemirror/language";
import { type Diagnostic, linter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { EditorState, type Text } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { useEffect, useRef } from "preact/hooks";
import type { JSX } from "preact";
import { check, type Checked, type Problem } from "./api";
import { type Known, queryLanguage } from "./language";

interface Properties {
  /** What to begin with; what is typed since is told, and is not to be given back. */
  loaded: string;
  known: () => Known;
  changed: (text: string) => void;
  checked: (found: Checked | null) => void;
  run: () => void;
}

const DELAY_MS = 300;

/** The place of a problem: the server counts characters, the editor UTF-16 units. */
function place(doc: Text, problem: Problem): { from: number; to: number } {
  const line = doc.line(Math.min(problem.line ?? 1, doc.lines));
  const characters = Array.from(line.text);
  const at = (column: number): number => line.from + characters.slice(0, column).join("").length;
  const from = Math.min(at((problem.column ?? 1) - 1), line.to);
  const to = Math.max(from, Math.min(at((problem.column ?? 1) - 1 + (problem.length ?? 1)), line.to));
  // At the end of a line there is nothing to underline but what stands before it.
  return from === to && from > line.from ? { from: from - 1, to } : { from, to };
}

function diagnosed(doc: Text, problem: Problem, severity: "error" | "warning"): Diagnostic {
  const meant = /^did you mean (\S+)\?/.exec(problem.suggestion ?? "")?.[1] ?? (severity === "warning" ? problem.suggestion : null);
  const actions = meant ? [{ name: `Write ${meant}`, apply: (view: EditorView, from: number, to: number) => view.dispatch({ changes: { from, to, insert: meant } }) }] : [];
  return { ...place(doc, problem), severity, message: problem.message, actions: severity === "error" ? actions : [] };
}

export function Editor({ loaded, known, changed, checked, run }: Properties): JSX.Element {
  const parent = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const latest = useRef({ known, changed, checked, run });
  latest.current = { known, changed, checked, run };

  useEffect(() => {
    const source = async (editor: EditorView): Promise<Diagnostic[]> => {
      const { doc } = editor.state;
      if (doc.toString().trim() === "") {
        latest.current.checked(null);
        return [];
      }
      try {
        const found = await check(doc.toString());
        if (editor.state.doc !== doc) return [];
        latest.current.checked(found);
        return found.ok ? found.warnings.map((warning) => diagnosed(doc, warning, "warning")) : [diagnosed(doc, found.error, "error")];
      } catch {
        return [];
      }
    };
    const running = { key: "Mod-Enter", run: () => (latest.current.run(), true) };
    const editor = new EditorView({
      parent: parent.current!,
      state: EditorState.create({
        doc: loaded,
        extensions: [
          keymap.of([running, { key: "Mod-/", run: toggleComment }, ...closeBracketsKeymap, ...completionKeymap, ...lintKeymap, ...historyKeymap, ...defaultKeymap]),
          lineNumbers(),
          history(),
          drawSelection(),
          highlightActiveLine(),
          bracketMatching(),
          closeBrackets(),
          EditorView.lineWrapping,
          EditorView.cspNonce.of(document.querySelector<HTMLScriptElement>("script[nonce]")?.nonce ?? ""),
          EditorView.contentAttributes.of({ "aria-label": "Query", spellcheck: "false" }),
          EditorView.updateListener.of((update) => update.docChanged && latest.current.changed(update.state.doc.toString())),
          queryLanguage(() => latest.current.known()),
          linter(source, { delay: DELAY_MS }),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, []);

  useEffect(() => {
    const editor = view.current!;
    if (editor.state.doc.toString() === loaded) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: loaded } });
    editor.dispatch(setDiagnostics(editor.state, []));
  }, [loaded]);

  return <div class="editor" ref={parent} />;
}
