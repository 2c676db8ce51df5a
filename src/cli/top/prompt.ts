/** The prompt: typing in it, its palette of commands; and the commands of the log pane. Pure. */

import { nearestWord, withNearest } from "../../model/nearest_word.ts";
import { plainText } from "../../model/plain_text.ts";
import { SIGNAL_NAMES } from "../../model/signal.ts";
import { bottomOf, found } from "./log_view.ts";
import {
  noticed,
  paneHeight,
  type Prompt,
  SORT_KEYS,
  type TopState,
  type UserCommand,
} from "./state.ts";
import { type Verb, type VerbCall, VERBS } from "./verbs.ts";

export type Typing = Extract<
  UserCommand,
  { type: "type" | "erase" | "complete" | "enter" | "cancel" }
>;

type TextPrompt = Exclude<Prompt, { type: "confirm" }>;

/** Most characters of a prompt. */
const MAX_TYPED = 500;

/** Edits the prompt; on enter, returns the command to run. */
export function typed(
  state: TopState,
  command: Typing,
): { readonly state: TopState; readonly then?: UserCommand | VerbCall } {
  const { prompt } = state;
  if (prompt === undefined) return { state };
  const over: TopState = { ...state, prompt: undefined };
  if (command.type === "cancel") return { state: cancelled(over, prompt) };
  if (prompt.type === "confirm") {
    if (command.type !== "enter") return { state };
    return { state: { ...over, marked: new Set() }, then: prompt.call };
  }
  if (command.type === "enter") return entered(over, prompt);
  const text = edited(prompt, command);
  return { state: live({ ...state, prompt: { ...prompt, text } }, prompt.type, text) };
}

function edited(
  prompt: TextPrompt,
  command: Exclude<Typing, { type: "enter" | "cancel" }>,
): string {
  const { text } = prompt;
  switch (command.type) {
    case "type":
      return (text + plainText(command.text).replace(/[\n\t]/g, " ")).slice(0, MAX_TYPED);
    case "erase":
      if (command.what === "all") return "";
      return command.what === "word"
        ? text.replace(/\S*\s*$/, "")
        : [...text].slice(0, -1).join("");
    case "complete":
      return completed(prompt);
  }
}

/** Filter and search apply while typing. */
function live(state: TopState, type: TextPrompt["type"], text: string): TopState {
  if (type === "filter") return { ...state, filter: text };
  if (type === "search") return { ...state, log: { ...state.log, search: text, hit: null } };
  return state;
}

function cancelled(state: TopState, prompt: Prompt): TopState {
  return prompt.type === "confirm" ? state : live(state, prompt.type, prompt.before);
}

function entered(
  state: TopState,
  { type, text }: TextPrompt,
): { state: TopState; then?: UserCommand } {
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
      const near = PALETTE_WORDS.includes(first) ? undefined : nearestWord(first, PALETTE_WORDS);
      return { state: noticed(state, withNearest(meant, near), true) };
    }
  }
}

type LogCommand = Extract<UserCommand, { type: "side" | "switch" | "find" }>;

/** Applies a command to the log pane; ignored while another pane is open. */
export function withLog(state: TopState, command: LogCommand): TopState {
  if (state.pane !== "logs") return state;
  const { log } = state;
  switch (command.type) {
    case "side":
      return { ...state, log: { ...log, left: Math.max(0, log.left + command.by), wrap: false } };
    case "find":
      return searched(state, command.step);
    case "switch":
      return { ...state, log: switched(log, command.what) };
  }
}

/** Moves to the next match, or shows a notice without one. */
function searched(state: TopState, step: 1 | -1, inclusive = false): TopState {
  if (state.log.search === "") return noticed(state, "Nothing to search for: press / first", true);
  const log = found(state.log, step, { height: paneHeight(state), inclusive });
  if (log !== undefined) return { ...state, log };
  return noticed(state, `Not found: "${state.log.search}"`, true);
}

function switched(log: TopState["log"], what: "follow" | "wrap" | "times" | "stderr") {
  switch (what) {
    case "follow":
      return { ...log, bottom: log.bottom === null ? bottomOf(log) : null, hit: null };
    case "wrap":
      return { ...log, wrap: !log.wrap, left: 0 };
    default:
      return { ...log, [what]: !log[what] };
  }
}

/** Palette words without arguments. */
const SIMPLE: Readonly<Record<string, UserCommand>> = {
  logs: { type: "pane", pane: "logs", focus: true },
  details: { type: "pane", pane: "details", focus: true },
  why: { type: "pane", pane: "details", focus: true },
  graph: { type: "pane", pane: "graph" },
  ports: { type: "ports_column" },
  close: { type: "pane", pane: "none" },
  reverse: { type: "reverse" },
  help: { type: "help" },
  quit: { type: "quit" },
};

/** First words of the palette. */
const PALETTE_WORDS = [...Object.keys(VERBS), "sort", ...Object.keys(SIMPLE)];

/** Parses a palette line; returns an error message if invalid. Without a target, a verb acts on the selection. */
function parsePalette(line: string): UserCommand | string {
  const [first = "", ...rest] = line.trim().split(/\s+/);
  if (first === "") return { type: "cancel" };
  if (first === "q") return SIMPLE.quit!;
  if (Object.hasOwn(SIMPLE, first)) {
    return rest.length === 0 ? SIMPLE[first]! : `Unexpected word "${rest[0]}"`;
  }
  if (first === "sort") return sortCommand(rest[0]);
  return Object.hasOwn(VERBS, first)
    ? verbCommand(first as Verb, rest)
    : `Unknown command "${first}"`;
}

function verbCommand(verb: Verb, rest: readonly string[]): UserCommand | string {
  const { missingWord } = VERBS[verb];
  const [word, target, more] = missingWord === undefined ? [undefined, ...rest] : rest;
  if (missingWord !== undefined && word === undefined) return missingWord;
  if (more !== undefined) return `Unexpected word "${more}"`;
  return { type: "do", verb, word, target };
}

function sortCommand(key: string | undefined): UserCommand | string {
  if (key === undefined) return { type: "sort" };
  const known = SORT_KEYS.find((known) => known === key);
  return known === undefined
    ? `Unknown order "${key}": one of ${SORT_KEYS.join(", ")}`
    : { type: "sort", key: known };
}

/** Suggestions of a prompt, completed by the tab key. */
export function suggestions({ type, text }: { type: string; text: string }): readonly string[] {
  if (type === "palette" && !text.includes(" ")) return begun(PALETTE_WORDS, text);
  if (type !== "signal") return [];
  return begun(SIGNAL_NAMES.map((name) => name.slice(3)), text.toUpperCase().replace(/^SIG/, ""));
}

/** The longest common prefix of the suggestions. */
function completed(prompt: { type: string; text: string }): string {
  const [first, ...others] = suggestions(prompt);
  if (first === undefined) return prompt.text;
  let length = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length--;
  const ending = others.length === 0 && prompt.type === "palette" ? " " : "";
  return first.slice(0, length) + ending;
}

function begun(words: readonly string[], text: string): readonly string[] {
  return words.filter((word) => word.startsWith(text));
}
