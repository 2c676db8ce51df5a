/** The key bindings, as data. The help and the foot of the screen come from them. */

import type { Pointing, TopState, UserCommand } from "./state.ts";

/** Keys for one command. */
export interface Binding {
  readonly keys: readonly string[];
  readonly command: UserCommand;
  /** Text for the help. */
  readonly about: string;
  /** Label in the foot of the screen, if it is there. */
  readonly hint: string | undefined;
}

function bind(
  keys: readonly string[],
  command: UserCommand,
  about: string,
  hint?: string,
): Binding {
  return { keys, command, about, hint };
}

const MOVES: readonly Binding[] = [
  bind(["j", "down"], { type: "move", by: 1 }, "down"),
  bind(["k", "up"], { type: "move", by: -1 }, "up"),
  bind(["pagedown", "ctrl-f"], { type: "move", by: "page" }, "a page down"),
  bind(["pageup", "ctrl-b"], { type: "move", by: "-page" }, "a page up"),
  bind(["home"], { type: "move", by: "first" }, "to the first"),
  bind(["G", "end"], { type: "move", by: "last" }, "to the last"),
];

/** Bindings while the table has the focus. */
export const TABLE_BINDINGS: readonly Binding[] = [
  ...MOVES,
  bind([" "], { type: "mark" }, "mark, for a verb on several", "mark"),
  bind(["*"], { type: "mark_all" }, "mark all that are shown, or none"),
  bind(["/"], { type: "ask", what: "filter" }, "filter", "filter"),
  bind(["S"], { type: "sort" }, "sort by the next column", "sort"),
  bind(["P"], { type: "sort", key: "cpu" }, "sort by CPU"),
  bind(["M"], { type: "sort", key: "mem" }, "sort by memory"),
  bind(["o"], { type: "reverse" }, "reverse the order"),
  bind(["enter", "l"], { type: "pane", pane: "logs", focus: true }, "logs", "logs"),
  bind(["g"], { type: "pane", pane: "graph" }, "graph of CPU and memory"),
  bind(["<"], { type: "span", by: -1 }, "graph of a shorter time"),
  bind([">"], { type: "span", by: 1 }, "graph of a longer time, as far as it is stored"),
  bind(["tab", "backtab"], { type: "focus" }, "to the pane"),
  bind(["escape"], { type: "back" }, "forget marks, filter, pane"),
];

/** Bindings while the pane has the focus. */
export const PANE_BINDINGS: readonly Binding[] = [
  bind(["g"], { type: "move", by: "first" }, "to the first line"),
  ...MOVES,
  bind(["f"], { type: "switch", what: "follow" }, "follow", "follow"),
  bind(["w"], { type: "switch", what: "wrap" }, "wrap long lines", "wrap"),
  bind(["t"], { type: "switch", what: "times" }, "times of the lines"),
  bind(["e"], { type: "switch", what: "stderr" }, "stderr only", "stderr"),
  bind(["/"], { type: "ask", what: "search" }, "search", "search"),
  bind(["n"], { type: "find", step: 1 }, "next match, downwards"),
  bind(["N"], { type: "find", step: -1 }, "next match, upwards"),
  bind(["left"], { type: "side", by: -8 }, "to the left"),
  bind(["right"], { type: "side", by: 8 }, "to the right"),
  bind(["escape", "tab", "backtab", "enter", "l"], { type: "back" }, "back to the table", "back"),
];

/** Bindings that always apply. */
export const COMMON_BINDINGS: readonly Binding[] = [
  bind(["?", "h"], { type: "help" }, "this help", "help"),
  bind(["q", "ctrl-c"], { type: "quit" }, "quit", "quit"),
  bind(["s"], { type: "do", verb: "start" }, "start", "start"),
  bind(["x"], { type: "do", verb: "stop" }, "stop (asks)", "stop"),
  bind(["r"], { type: "do", verb: "restart" }, "restart (asks for more than one)", "restart"),
  bind(["R"], { type: "do", verb: "reload" }, "reload", "reload"),
  bind(["d", "delete"], { type: "do", verb: "delete" }, "delete (asks)", "delete"),
  bind(["!"], { type: "ask", what: "signal" }, "send a signal"),
  bind(["i"], { type: "pane", pane: "details" }, "details: why, last exit, events", "details"),
  bind(["p"], { type: "ports_column" }, "ports that they listen on"),
  bind(["z"], { type: "zoom" }, "the pane alone, or with the table"),
  bind(["+"], { type: "grow", by: 2 }, "a larger pane"),
  bind(["-"], { type: "grow", by: -2 }, "a smaller pane"),
  bind([":"], { type: "ask", what: "palette" }, "type a command: scale 4, signal HUP api, …"),
  bind(["ctrl-l"], { type: "redraw" }, "draw the screen again"),
];

const LABELS: Readonly<Record<string, string>> = {
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

/** Name of a key in the help. */
export function keyLabel(key: string): string {
  return LABELS[key] ?? key.replace(/^ctrl-(.)$/, (_, letter) => `^${letter.toUpperCase()}`);
}

const BUTTONS: Readonly<Record<string, Pointing>> = { 0: "click", 64: "up", 65: "down" };

/** User input: a key (`up`, `enter`, `ctrl-l`, or the character), or a paste. */
export type Input =
  | { readonly type: "key"; readonly key: string }
  | {
    readonly type: "mouse";
    readonly what: Pointing;
    readonly column: number;
    readonly row: number;
  }
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
  if (digits?.startsWith("<")) return { length: sequence!.length, ...pointed(digits, end!) };
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

/** The mouse at a column and a row from 0; nothing for other buttons and for releases. */
function pointed(digits: string, end: string): Pick<Step, "input"> {
  const [button = "", column, row] = digits.slice(1).split(";");
  const what = end === "M" ? BUTTONS[button] : undefined;
  if (what === undefined) return {};
  return { input: { type: "mouse", what, column: Number(column) - 1, row: Number(row) - 1 } };
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
  if (input.type === "mouse") {
    const { what, column, row } = input;
    return prompt === undefined && help === undefined
      ? { type: "point", what, column, row }
      : undefined;
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
  if (Object.hasOwn(EDITING, key)) return EDITING[key];
  // Keys that print no character have longer names.
  return [...key].length === 1 ? { type: "type", text: key } : undefined;
}

function helpCommand(key: string): UserCommand {
  const move = TABLE_BINDINGS.find(({ keys, command }) =>
    command.type === "move" && keys.includes(key)
  );
  return move?.command ?? (key === "q" ? { type: "quit" } : { type: "help" });
}
