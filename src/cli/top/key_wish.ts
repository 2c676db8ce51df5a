/** A key, and where the person is → what is wanted. Pure. */

import { type Binding, COMMON_BINDINGS, PANE_BINDINGS, TABLE_BINDINGS } from "./bindings.ts";
import type { Input } from "./key_decoder.ts";
import type { Wish } from "./messages.ts";
import type { TopState } from "./state.ts";

type Where = Pick<TopState, "prompt" | "help" | "focus">;

/** What an input means; nothing when it means nothing there. */
export function wishOf(input: Input, where: Where): Wish | undefined {
  const { prompt, help } = where;
  if (input.type === "paste") {
    // Pasted text is text: outside of a prompt its letters would stop and delete apps.
    const typed = prompt !== undefined && prompt.type !== "confirm";
    return typed ? { type: "type", text: input.text } : undefined;
  }
  const { key } = input;
  if (key === "ctrl-c") return { type: "quit" };
  if (prompt?.type === "confirm") return { type: key === "y" || key === "Y" ? "enter" : "cancel" };
  if (prompt !== undefined) return promptWish(key);
  if (help !== undefined) return helpWish(key);
  return bindingsFor(where).find(({ keys }) => keys.includes(key))?.wish;
}

/** The rows that count, the first that matches wins. */
function bindingsFor({ focus }: Pick<Where, "focus">): readonly Binding[] {
  return [...(focus === "pane" ? PANE_BINDINGS : TABLE_BINDINGS), ...COMMON_BINDINGS];
}

const EDITING: Readonly<Record<string, Wish>> = {
  enter: { type: "enter" },
  escape: { type: "cancel" },
  tab: { type: "complete" },
  backspace: { type: "erase", what: "character" },
  "ctrl-w": { type: "erase", what: "word" },
  "ctrl-u": { type: "erase", what: "all" },
};

function promptWish(key: string): Wish | undefined {
  const editing = Object.hasOwn(EDITING, key) ? EDITING[key] : undefined;
  if (editing !== undefined) return editing;
  // A key without a character of its own has a longer name.
  return [...key].length === 1 ? { type: "type", text: key } : undefined;
}

function helpWish(key: string): Wish {
  const move = TABLE_BINDINGS.find(({ keys, wish }) => wish.type === "move" && keys.includes(key));
  return move?.wish ?? (key === "q" ? { type: "quit" } : { type: "help" });
}
