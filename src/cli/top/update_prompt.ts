/** Typing into the line at the bottom. Pure. */

import { plainText } from "../../model/plain_text.ts";
import type { ActionCall, Message, Wish } from "./messages.ts";
import { PALETTE_WORDS, parsePalette } from "./palette.ts";
import { completed, nearest, type Prompt } from "./prompt.ts";
import type { TopState } from "./state.ts";
import { searched } from "./update_log.ts";
import { noticed } from "./update_news.ts";

type Typing = Extract<Wish, { type: "type" | "erase" | "complete" | "enter" | "cancel" }>;

type TextPrompt = Exclude<Prompt, { type: "confirm" }>;

const TYPING: ReadonlySet<string> = new Set<Typing["type"]>(
  ["type", "erase", "complete", "enter", "cancel"],
);

/** More than anybody means to type. */
const MAX_TYPED = 500;

/** Whether a wish is for the line that is typed into. */
export function isTyping(wish: Message): wish is Typing {
  return TYPING.has(wish.type);
}

/** The state with that line changed, and what follows when it was finished. */
export function typed(
  state: TopState,
  wish: Typing,
): { readonly state: TopState; readonly then?: Wish | ActionCall } {
  const { prompt } = state;
  if (prompt === undefined) return { state };
  const over: TopState = { ...state, prompt: undefined };
  if (wish.type === "cancel") return { state: cancelled(over, prompt) };
  if (prompt.type === "confirm") {
    if (wish.type !== "enter") return { state };
    return { state: { ...over, marked: new Set() }, then: prompt.action };
  }
  if (wish.type === "enter") return entered(over, prompt);
  const text = edited(prompt, wish);
  return { state: live({ ...state, prompt: { ...prompt, text } }, prompt.type, text) };
}

function edited(prompt: TextPrompt, wish: Exclude<Typing, { type: "enter" | "cancel" }>): string {
  const { text } = prompt;
  switch (wish.type) {
    case "type":
      return (text + plainText(wish.text).replace(/[\n\t]/g, " ")).slice(0, MAX_TYPED);
    case "erase":
      if (wish.what === "all") return "";
      return wish.what === "word" ? text.replace(/\S*\s*$/, "") : [...text].slice(0, -1).join("");
    case "complete":
      return completed(prompt);
  }
}

/** A filter and a search work while they are typed. */
function live(state: TopState, type: TextPrompt["type"], text: string): TopState {
  if (type === "filter") return { ...state, filter: text };
  if (type === "search") return { ...state, log: { ...state.log, search: text, hit: null } };
  return state;
}

function cancelled(state: TopState, prompt: Prompt): TopState {
  return prompt.type === "confirm" ? state : live(state, prompt.type, prompt.before);
}

function entered(state: TopState, { type, text }: TextPrompt): { state: TopState; then?: Wish } {
  switch (type) {
    case "filter":
      return { state };
    case "search":
      return { state: text === "" ? state : searched(state, -1, true) };
    case "signal":
      return {
        state,
        then: text === "" ? { type: "cancel" } : { type: "do", verb: "signal", word: text },
      };
    case "palette": {
      const meant = parsePalette(text);
      if (typeof meant !== "string") return { state, then: meant };
      const first = text.trim().split(/\s+/)[0]!;
      const near = PALETTE_WORDS.includes(first) ? "" : nearest(first, PALETTE_WORDS);
      return { state: noticed(state, meant + near, true) };
    }
  }
}
