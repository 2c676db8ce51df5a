/** Which key does what, as data: the help and the last line of the screen are made from it. */

import type { Wish } from "./messages.ts";

/** One row: keys that mean the same. */
export interface Binding {
  readonly keys: readonly string[];
  readonly wish: Wish;
  /** What the help says; left out where the row above says it. */
  readonly about?: string;
  /** A word for the last line of the screen. */
  readonly hint?: string;
}

const MOVES: readonly Binding[] = [
  { keys: ["j", "down"], wish: { type: "move", by: 1 }, about: "down" },
  { keys: ["k", "up"], wish: { type: "move", by: -1 }, about: "up" },
  { keys: ["pagedown", "ctrl-f"], wish: { type: "move", by: "page" }, about: "a page down" },
  { keys: ["pageup", "ctrl-b"], wish: { type: "move", by: "-page" }, about: "a page up" },
  { keys: ["home"], wish: { type: "move", by: "first" }, about: "to the first" },
  { keys: ["G", "end"], wish: { type: "move", by: "last" }, about: "to the last" },
];

/** While the table has the keys. */
export const TABLE_BINDINGS: readonly Binding[] = [
  ...MOVES,
  { keys: [" "], wish: { type: "mark" }, about: "mark, for an action on several", hint: "mark" },
  { keys: ["*"], wish: { type: "mark_all" }, about: "mark all that are shown, or none" },
  { keys: ["/"], wish: { type: "ask", what: "filter" }, about: "filter", hint: "filter" },
  { keys: ["S"], wish: { type: "sort" }, about: "sort by the next column", hint: "sort" },
  { keys: ["P"], wish: { type: "sort", key: "cpu" }, about: "sort by CPU" },
  { keys: ["M"], wish: { type: "sort", key: "mem" }, about: "sort by memory" },
  { keys: ["o"], wish: { type: "reverse" }, about: "reverse the order" },
  {
    keys: ["enter", "l"],
    wish: { type: "pane", pane: "logs", focus: true },
    about: "logs",
    hint: "logs",
  },
  { keys: ["g"], wish: { type: "pane", pane: "graph" }, about: "graph of CPU and memory" },
  { keys: ["tab", "backtab"], wish: { type: "focus" }, about: "to the pane" },
  { keys: ["escape"], wish: { type: "back" }, about: "forget marks, filter, pane" },
];

/** While the pane has the keys. */
export const PANE_BINDINGS: readonly Binding[] = [
  { keys: ["g"], wish: { type: "move", by: "first" }, about: "to the first line" },
  ...MOVES,
  { keys: ["f"], wish: { type: "switch", what: "follow" }, about: "follow", hint: "follow" },
  { keys: ["w"], wish: { type: "switch", what: "wrap" }, about: "wrap long lines", hint: "wrap" },
  { keys: ["t"], wish: { type: "switch", what: "times" }, about: "times of the lines" },
  { keys: ["e"], wish: { type: "switch", what: "stderr" }, about: "stderr only", hint: "stderr" },
  { keys: ["/"], wish: { type: "ask", what: "search" }, about: "search", hint: "search" },
  { keys: ["n"], wish: { type: "find", step: 1 }, about: "next match, downwards" },
  { keys: ["N"], wish: { type: "find", step: -1 }, about: "next match, upwards" },
  { keys: ["left"], wish: { type: "side", by: -8 }, about: "to the left" },
  { keys: ["right"], wish: { type: "side", by: 8 }, about: "to the right" },
  {
    keys: ["escape", "tab", "backtab", "enter", "l"],
    wish: { type: "back" },
    about: "back to the table",
    hint: "back",
  },
];

/** Always. */
export const COMMON_BINDINGS: readonly Binding[] = [
  { keys: ["?", "h"], wish: { type: "help" }, about: "this help", hint: "help" },
  { keys: ["q", "ctrl-c"], wish: { type: "quit" }, about: "quit", hint: "quit" },
  { keys: ["s"], wish: { type: "do", verb: "start" }, about: "start", hint: "start" },
  { keys: ["x"], wish: { type: "do", verb: "stop" }, about: "stop (asks)", hint: "stop" },
  { keys: ["r"], wish: { type: "do", verb: "restart" }, about: "restart", hint: "restart" },
  { keys: ["R"], wish: { type: "do", verb: "reload" }, about: "reload", hint: "reload" },
  {
    keys: ["d", "delete"],
    wish: { type: "do", verb: "delete" },
    about: "delete (asks)",
    hint: "delete",
  },
  { keys: ["!"], wish: { type: "ask", what: "signal" }, about: "send a signal" },
  {
    keys: ["i"],
    wish: { type: "pane", pane: "details" },
    about: "details: why, last exit, news",
    hint: "details",
  },
  { keys: ["p"], wish: { type: "ports_column" }, about: "ports that they listen on" },
  { keys: ["z"], wish: { type: "zoom" }, about: "the pane alone, or with the table" },
  { keys: ["+"], wish: { type: "grow", by: 2 }, about: "a larger pane" },
  { keys: ["-"], wish: { type: "grow", by: -2 }, about: "a smaller pane" },
  {
    keys: [":"],
    wish: { type: "ask", what: "palette" },
    about: "type a command: scale 4, signal HUP api, …",
  },
  { keys: ["ctrl-l"], wish: { type: "redraw" }, about: "draw the screen again" },
];

/** How a key is called in the help. */
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
