/** The line at the bottom that a person types into, or answers. Pure. */

import { didYouMean } from "../../model/did_you_mean.ts";
import { SIGNAL_NAMES } from "../../model/signal.ts";
import type { ActionCall } from "./messages.ts";
import { PALETTE_WORDS } from "./palette.ts";

/** What is typed, or asked. */
export type Prompt =
  /** `before` is what it was, for when it is cancelled. */
  | {
    readonly type: "filter" | "search" | "palette" | "signal";
    readonly text: string;
    readonly before: string;
  }
  | { readonly type: "confirm"; readonly question: string; readonly action: ActionCall };

/** What may be typed into a prompt: completed by the tab key, shown behind the text. */
export function suggestions({ type, text }: { type: string; text: string }): readonly string[] {
  if (type === "palette" && !text.includes(" ")) return begun(PALETTE_WORDS, text);
  if (type !== "signal") return [];
  return begun(SIGNAL_NAMES.map((name) => name.slice(3)), text.toUpperCase().replace(/^SIG/, ""));
}

/** The text as far as all suggestions agree. */
export function completed(prompt: { type: string; text: string }): string {
  const [first, ...others] = suggestions(prompt);
  if (first === undefined) return prompt.text;
  let length = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length--;
  const ending = others.length === 0 && prompt.type === "palette" ? " " : "";
  return first.slice(0, length) + ending;
}

/** The nearest of some words, as the end of a sentence. */
export function nearest(word: string, words: readonly string[]): string {
  const near = didYouMean(word, words);
  return near === undefined ? "" : `: did you mean "${near}"?`;
}

function begun(words: readonly string[], text: string): readonly string[] {
  return words.filter((word) => word.startsWith(text));
}
