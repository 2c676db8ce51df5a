/** The key bindings, as data. The help and the foot of the screen come from them. */

import type { UserCommand } from "./messages.ts";
import type { TopState } from "./state.ts";

/** Keys for one command. */
export interface Binding {
  readonly keys: readonly string[];
  readonly command: UserCommand;
  /** Text for the help; omitted when the row above covers it. */
  readonly about?: string;
  /** Label in the foot of the screen. */
  readonly hint?: string;
}

const MOVES: readonly Binding[] = [
  { keys: ["j", "down"], command: { type: "move", by: 1 }, about: "down" },
  { keys: ["k", "up"], command: { type: "move", by: -1 }, about: "up" },
  { keys: ["pagedown", "ctrl-f"], command: { type: "move", by: "page" }, about: "a page down" },
  { keys: ["pageup", "ctrl-b"], command: { type: "move", by: "-page" }, about: "a page up" },
  { keys: ["home"], command: { type: "move", by: "first" }, about: "to the first" },
  { keys: ["G", "end"], command: { type: "move", by: "last" }, about: "to the last" },
];

/** Bindings while the table has the focus. */
export const TABLE_BINDINGS: readonly Binding[] = [
  ...MOVES,
  { keys: [" "], command: { type: "mark" }, about: "mark, for an action on several", hint: "mark" },
  { keys: ["*"], command: { type: "mark_all" }, about: "mark all that are shown, or none" },
  { keys: ["/"], command: { type: "ask", what: "filter" }, about: "filter", hint: "filter" },
  { keys: ["S"], command: { type: "sort" }, about: "sort by the next column", hint: "sort" },
  { keys: ["P"], command: { type: "sort", key: "cpu" }, about: "sort by CPU" },
  { keys: ["M"], command: { type: "sort", key: "mem" }, about: "sort by memory" },
  { keys: ["o"], command: { type: "reverse" }, about: "reverse the order" },
  {
    keys: ["enter", "l"],
    command: { type: "pane", pane: "logs", focus: true },
    about: "logs",
    hint: "logs",
  },
  { keys: ["g"], command: { type: "pane", pane: "graph" }, about: "graph of CPU and memory" },
  { keys: ["tab", "backtab"], command: { type: "focus" }, about: "to the pane" },
  { keys: ["escape"], command: { type: "back" }, about: "forget marks, filter, pane" },
];

/** Bindings while the pane has the focus. */
export const PANE_BINDINGS: readonly Binding[] = [
  { keys: ["g"], command: { type: "move", by: "first" }, about: "to the first line" },
  ...MOVES,
  { keys: ["f"], command: { type: "switch", what: "follow" }, about: "follow", hint: "follow" },
  {
    keys: ["w"],
    command: { type: "switch", what: "wrap" },
    about: "wrap long lines",
    hint: "wrap",
  },
  { keys: ["t"], command: { type: "switch", what: "times" }, about: "times of the lines" },
  {
    keys: ["e"],
    command: { type: "switch", what: "stderr" },
    about: "stderr only",
    hint: "stderr",
  },
  { keys: ["/"], command: { type: "ask", what: "search" }, about: "search", hint: "search" },
  { keys: ["n"], command: { type: "find", step: 1 }, about: "next match, downwards" },
  { keys: ["N"], command: { type: "find", step: -1 }, about: "next match, upwards" },
  { keys: ["left"], command: { type: "side", by: -8 }, about: "to the left" },
  { keys: ["right"], command: { type: "side", by: 8 }, about: "to the right" },
  {
    keys: ["escape", "tab", "backtab", "enter", "l"],
    command: { type: "back" },
    about: "back to the table",
    hint: "back",
  },
];

/** Bindings that always apply. */
export const COMMON_BINDINGS: readonly Binding[] = [
  { keys: ["?", "h"], command: { type: "help" }, about: "this help", hint: "help" },
  { keys: ["q", "ctrl-c"], command: { type: "quit" }, about: "quit", hint: "quit" },
  { keys: ["s"], command: { type: "do", verb: "start" }, about: "start", hint: "start" },
  { keys: ["x"], command: { type: "do", verb: "stop" }, about: "stop (asks)", hint: "stop" },
  { keys: ["r"], command: { type: "do", verb: "restart" }, about: "restart", hint: "restart" },
  { keys: ["R"], command: { type: "do", verb: "reload" }, about: "reload", hint: "reload" },
  {
    keys: ["d", "delete"],
    command: { type: "do", verb: "delete" },
    about: "delete (asks)",
    hint: "delete",
  },
  { keys: ["!"], command: { type: "ask", what: "signal" }, about: "send a signal" },
  {
    keys: ["i"],
    command: { type: "pane", pane: "details" },
    about: "details: why, last exit, events",
    hint: "details",
  },
  { keys: ["p"], command: { type: "ports_column" }, about: "ports that they listen on" },
  { keys: ["z"], command: { type: "zoom" }, about: "the pane alone, or with the table" },
  { keys: ["+"], command: { type: "grow", by: 2 }, about: "a larger pane" },
  { keys: ["-"], command: { type: "grow", by: -2 }, about: "a smaller pane" },
  {
    keys: [":"],
    command: { type: "ask", what: "palette" },
    about: "type a command: scale 4, signal HUP api, …",
  },
  { keys: ["ctrl-l"], command: { type: "redraw" }, about: "draw the screen again" },
];

/** Name of a key in the help. */
export function keyLabel(key: string): string {
  const labels: Readonly<Record<string, string>> = {
    " ": "Space",
    up: "↑",
    down: "↓",
    left: "←",
    right: "→",
    enter: "Enter",
    escape: "Esc",
    tab: "Tab",
    backtab: "",
    pageup: "PgUp",
    pagedown: "PgDn",
    home: "Home",
    end: "End",
    delete: "Del",
  };
  return labels[key] ?? key.replace(/^ctrl-(.)$/, (_, letter) => `^${letter.toUpperCase()}`);
}

/** User input: a key (`up`, `enter`, `ctrl-l`, or the character), or a paste. */
export type Input =
  | { readonly type: "key"; readonly key: string }
  | { readonly type: "paste"; readonly text: string };

const FINALS: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  H: "home",
  F: "end",
  Z: "backtab",
};

const NUMBERED: Readonly<Record<string, string>> = {
  1: "home",
  3: "delete",
  4: "end",
  5: "pageup",
  6: "pagedown",
  7: "home",
  8: "end",
};

const CONTROLS: Readonly<Record<string, string>> = {
  "\r": "enter",
  "\n": "enter",
  "\t": "tab",
  "\x7f": "backspace",
  "\b": "backspace",
};

const PASTE_BEGINS = "\x1b[200~";
const PASTE_ENDS = "\x1b[201~";
const MAX_PASTE = 64 * 1024;

/**
 * Decodes terminal input into keys; also returns the incomplete rest. With `final`, no more input
 * follows: a lone escape character is the Escape key.
 */
export function decodeKeys(text: string, final = false): { keys: Input[]; rest: string } {
  const keys: Input[] = [];
  let rest = text;
  while (rest !== "") {
    const step = rest[0] === "\x1b" ? escaped(rest, final) : plain(rest);
    if (step === undefined) break;
    if (step.input !== undefined) keys.push(step.input);
    rest = (step.again ?? "") + rest.slice(step.length);
  }
  return { keys, rest };
}

interface Step {
  readonly length: number;
  readonly input?: Input;
  /** Input not decoded yet. */
  readonly again?: string;
}

function plain(text: string): Step {
  const character = String.fromCodePoint(text.codePointAt(0)!);
  const { length } = character;
  const named = CONTROLS[character];
  if (named !== undefined) return key(named, length);
  const code = character.charCodeAt(0);
  if (code < 0x20) return key(`ctrl-${String.fromCharCode(code + 0x60)}`, length);
  return code >= 0x80 && code < 0xa0 ? { length } : key(character, length);
}

/** Undefined while the sequence is incomplete. */
function escaped(text: string, final: boolean): Step | undefined {
  if (text.startsWith(PASTE_BEGINS)) return pasted(text);
  // deno-lint-ignore no-control-regex
  const [sequence, letter, digits, end] = /^\x1b(?:O([A-Za-z])|\[([0-?]*)[ -/]*([@-~]))/
    .exec(text) ?? [];
  if (sequence !== undefined) {
    const name = letter !== undefined
      ? FINALS[letter]
      : end === "~"
      ? NUMBERED[digits!.split(";")[0]!]
      : FINALS[end!];
    return name === undefined ? { length: sequence.length } : key(name, sequence.length);
  }
  if (text.length === 1) return final ? key("escape", 1) : undefined;
  // An incomplete sequence: dropped when the timeout ends.
  if (text[1] === "[" || text[1] === "O") return final ? { length: text.length } : undefined;
  if (text[1] === "\x1b") return key("escape", 1);
  const next = String.fromCodePoint(text.codePointAt(1)!);
  return key(`alt-${next}`, 1 + next.length);
}

/**
 * A paste ends only with its end marker: its text must not be taken for
 * keys, each of which does something. A long paste is passed on in parts.
 */
function pasted(text: string): Step | undefined {
  const from = PASTE_BEGINS.length;
  const end = text.indexOf(PASTE_ENDS, from);
  if (end >= 0) return { length: end + PASTE_ENDS.length, input: paste(text.slice(from, end)) };
  if (text.length < MAX_PASTE) return undefined;
  // The end marker may have begun.
  const length = text.length - PASTE_ENDS.length;
  return { length, input: paste(text.slice(from, length)), again: PASTE_BEGINS };
}

function paste(text: string): Input {
  return { type: "paste", text };
}

function key(name: string, length: number): Step {
  return { length, input: { type: "key", key: name } };
}

type Where = Pick<TopState, "prompt" | "help" | "focus">;

/** The command that an input stands for; undefined if it has no binding there. */
export function commandOf(input: Input, where: Where): UserCommand | undefined {
  const { prompt, help } = where;
  if (input.type === "paste") {
    // Ignore pasted text outside a prompt: its letters would stop and delete apps.
    const typed = prompt !== undefined && prompt.type !== "confirm";
    return typed ? { type: "type", text: input.text } : undefined;
  }
  const { key } = input;
  if (key === "ctrl-c") return { type: "quit" };
  if (prompt?.type === "confirm") return { type: key === "y" || key === "Y" ? "enter" : "cancel" };
  if (prompt !== undefined) return promptCommand(key);
  if (help !== undefined) return helpCommand(key);
  const own = where.focus === "pane" ? PANE_BINDINGS : TABLE_BINDINGS;
  return [...own, ...COMMON_BINDINGS].find(({ keys }) => keys.includes(key))?.command;
}

const EDITING: Readonly<Record<string, UserCommand>> = {
  enter: { type: "enter" },
  escape: { type: "cancel" },
  tab: { type: "complete" },
  backspace: { type: "erase", what: "character" },
  "ctrl-w": { type: "erase", what: "word" },
  "ctrl-u": { type: "erase", what: "all" },
};

function promptCommand(key: string): UserCommand | undefined {
  const editing = Object.hasOwn(EDITING, key) ? EDITING[key] : undefined;
  if (editing !== undefined) return editing;
  // Keys that print no character have longer names.
  return [...key].length === 1 ? { type: "type", text: key } : undefined;
}

function helpCommand(key: string): UserCommand {
  const move = TABLE_BINDINGS.find(({ keys, command }) =>
    command.type === "move" && keys.includes(key)
  );
  return move?.command ?? (key === "q" ? { type: "quit" } : { type: "help" });
}
