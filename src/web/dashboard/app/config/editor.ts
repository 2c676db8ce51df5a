/** The editor of a configuration. A file of its own with CodeMirror in it, which only Apply loads. */

import {
  autocompletion,
  type Completion,
  type CompletionContext,
  completionKeymap,
  type CompletionResult,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { Compartment, type EditorState } from "@codemirror/state";
import { EditorView, keymap, lineNumbers, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Mistake } from "../../../../model/errors.ts";
import { keysAt, type SchemaNode, valuesAt } from "./schema_words.ts";

const THEME = EditorView.theme({
  "&": { background: "var(--panel)", border: "1px solid var(--line-strong)" },
  "&.cm-focused": { outline: "2px solid var(--accent)" },
  ".cm-scroller": { fontFamily: "var(--mono)", maxHeight: "70vh" },
  ".cm-content, .cm-gutter": { minHeight: "320px" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-placeholder": { color: "var(--faint)" },
  ".cm-gutters": { background: "var(--hover)", color: "var(--faint)", border: "none" },
  ".cm-tooltip": {
    background: "var(--raised)",
    color: "var(--text)",
    border: "1px solid var(--line)",
  },
  ".cm-tooltip.cm-completionInfo": { maxWidth: "360px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": {
    background: "var(--primary)",
    color: "#fff",
  },
});

const COLORS = HighlightStyle.define([
  { tag: tags.definition(tags.propertyName), color: "var(--accent)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--running)" },
  { tag: tags.comment, color: "var(--faint)" },
  { tag: [tags.bool, tags.number], color: "var(--starting)" },
]);

interface Editor {
  /** Shows a text as a file of this name, and the mistakes in it. */
  show(text: string, name: string, mistakes: readonly Mistake[]): void;
}

/** Takes the place of a text field, which gets what is typed. */
export async function openEditor(field: HTMLTextAreaElement): Promise<Editor> {
  const schema: SchemaNode = await (await fetch(new URL("schema.json", import.meta.url))).json();
  const host = document.createElement("div");
  // In a shadow root CodeMirror adopts style sheets, which the Content-Security-Policy permits.
  const root = host.attachShadow({ mode: "open" });
  const [label] = field.labels;
  let fileName = "";
  const language = new Compartment();
  const view = new EditorView({
    root,
    parent: root,
    doc: field.value,
    extensions: [
      ...[lineNumbers(), history(), lintGutter(), THEME, syntaxHighlighting(COLORS)],
      ...[EditorView.lineWrapping, language.of([]), placeholder(field.placeholder)],
      EditorView.contentAttributes.of({ "aria-label": label?.textContent ?? "" }),
      autocompletion({
        icons: false,
        override: [(context) => isYaml(fileName) ? completions(context, schema) : null],
      }),
      keymap.of([...completionKeymap, ...historyKeymap, ...defaultKeymap]),
      EditorView.domEventHandlers({
        // The page takes files.
        drop: ({ dataTransfer }) => dataTransfer?.files.length !== 0,
        beforeinput: replaceSelection,
      }),
      EditorView.updateListener.of(({ docChanged, state }) => {
        const text = state.doc.toString();
        if (!docChanged || text === field.value) return;
        field.value = text;
        field.dispatchEvent(new Event("input"));
      }),
    ],
  });
  field.hidden = true;
  field.required = false;
  field.after(host);
  label?.addEventListener("click", () => view.focus());
  return {
    show(text, name, mistakes) {
      if (text !== view.state.doc.toString()) {
        view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
      }
      if (name !== fileName) {
        const known = isYaml(name) || /\.jsonc?$/.test(name) ? yaml() : [];
        view.dispatch({ effects: language.reconfigure(known) });
      }
      fileName = name;
      const own = mistakes.filter(({ file }) => file.endsWith(`/${name}`));
      view.dispatch(
        setDiagnostics(view.state, own.map((mistake) => markOf(view.state, mistake))),
      );
    },
  };
}

/**
 * Replaces selected text by what is typed. The browser itself would join the lines with elements that
 * have a style, which the Content-Security-Policy refuses.
 */
function replaceSelection({ inputType, data }: InputEvent, view: EditorView) {
  if (inputType !== "insertText" || data === null || view.state.selection.main.empty) return false;
  const { state } = view;
  view.dispatch(state.update(state.replaceSelection(data), { userEvent: "input.type" }));
  return true;
}

function isYaml(name: string): boolean {
  return /\.ya?ml$/i.test(name);
}

function markOf({ doc }: EditorState, { line, column, what }: Mistake): Diagnostic {
  const { from, to, text } = doc.line(Math.min(line, doc.lines));
  const start = Math.min(from + column - 1, to);
  const word = /^[\w.-]+/.exec(text.slice(start - from))?.[0].length ?? 1;
  return { from: start, to: Math.min(start + word, to), severity: "error", message: what };
}

function completions(
  { state, pos, explicit }: CompletionContext,
  schema: SchemaNode,
): CompletionResult | null {
  const { number, from, text } = state.doc.lineAt(pos);
  const before = text.slice(0, pos - from);
  const above = () => state.doc.toString().split("\n").slice(0, number - 1);
  const [, ahead, key, typed] = /^(\s*(?:- )*)([\w.-]+):\s+(\S*)$/.exec(before) ?? [];
  if (key !== undefined) {
    const options = valuesAt(schema, above(), ahead!, key);
    return { from: pos - typed!.length, options: [...options] };
  }
  const [, indent, start] = /^(\s*(?:- )*)([\w.$-]*)$/.exec(before) ?? [];
  if (indent === undefined || (start === "" && !explicit)) return null;
  const options = keysAt(schema, above(), indent).map(({ label, info }): Completion => (
    { label, info, apply: `${label}: `, type: "property" }
  ));
  return { from: pos - start!.length, options, validFor: /^[\w.$-]*$/ };
}
