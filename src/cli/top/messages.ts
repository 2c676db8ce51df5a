/** Messages to the screen and effects it requests. */

import type { HostMeter } from "../../platform/host.ts";
import type { PortsJson, ProcessJson, SystemMetricsJson, WhyJson } from "../../protocol/wire.ts";
import type { ChangeJson } from "../../protocol/change_json.ts";
import type { LogLine } from "../../model/log_line.ts";
import { SORT_KEYS, type SortKey } from "./sort.ts";
import { type ActionCall, type Verb, VERBS } from "./verbs.ts";

/** Events from the daemon, the clock and the terminal. */
export type FeedEvent =
  | { readonly type: "size"; readonly columns: number; readonly rows: number }
  | { readonly type: "tick"; readonly now: number; readonly host?: HostFigures }
  | { readonly type: "list"; readonly processes: readonly ProcessJson[]; readonly now: number }
  | { readonly type: "lost"; readonly reason: string; readonly now: number }
  | { readonly type: "daemon"; readonly daemon: DaemonFigures }
  | { readonly type: "event"; readonly event: ChangeJson }
  /** More lines; with `begins` they replace all; `skipped`: after a gap. */
  | {
    readonly type: "log";
    readonly source: string;
    readonly begins: boolean;
    readonly skipped: boolean;
    readonly lines: readonly LogLine[];
  }
  | { readonly type: "ports"; readonly ports: readonly PortsJson[] }
  | { readonly type: "why"; readonly why: WhyJson }
  | { readonly type: "done"; readonly text: string; readonly bad: boolean };

export type UserCommand =
  | { readonly type: "move"; readonly by: number | "page" | "-page" | "first" | "last" }
  | { readonly type: "side"; readonly by: number }
  | { readonly type: "mark" }
  | { readonly type: "mark_all" }
  | { readonly type: "back" }
  | { readonly type: "pane"; readonly pane: Pane; readonly focus?: boolean }
  | { readonly type: "focus" }
  | { readonly type: "zoom" }
  | { readonly type: "ports_column" }
  | { readonly type: "grow"; readonly by: number }
  | { readonly type: "sort"; readonly key?: SortKey }
  | { readonly type: "reverse" }
  | { readonly type: "switch"; readonly what: "follow" | "wrap" | "times" | "stderr" }
  | { readonly type: "find"; readonly step: 1 | -1 }
  | { readonly type: "ask"; readonly what: "filter" | "search" | "palette" | "signal" }
  | { readonly type: "do"; readonly verb: Verb; readonly word?: string; readonly target?: string }
  | { readonly type: "type"; readonly text: string }
  | { readonly type: "erase"; readonly what: "character" | "word" | "all" }
  | { readonly type: "complete" }
  | { readonly type: "enter" }
  | { readonly type: "cancel" }
  | { readonly type: "help" }
  | { readonly type: "redraw" }
  | { readonly type: "quit" };

/** Everything that changes the state. */
export type Message = FeedEvent | UserCommand;

/** Effects for the caller to perform. */
export type Effect =
  | { readonly type: "act"; readonly action: ActionCall }
  | { readonly type: "redraw" }
  | { readonly type: "quit" };

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
export const PALETTE_WORDS: readonly string[] = [
  ...Object.keys(VERBS),
  "sort",
  ...Object.keys(SIMPLE),
];

/** Parses a palette line; returns an error message if invalid. Without a target, a verb acts on the selection. */
export function parsePalette(line: string): UserCommand | string {
  const [first = "", ...rest] = line.trim().split(/\s+/);
  if (first === "") return { type: "cancel" };
  if (first === "q") return SIMPLE.quit!;
  const simple = Object.hasOwn(SIMPLE, first) ? SIMPLE[first] : undefined;
  if (simple !== undefined) return rest.length === 0 ? simple : `Unexpected word "${rest[0]}"`;
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

/** Contents of the lower pane. */
export type Pane = "logs" | "details" | "graph" | "none";

/** Figures of the machine in the head line, and of the daemon. */
export type HostFigures = ReturnType<HostMeter["read"]>;
export type DaemonFigures = SystemMetricsJson["daemon"];
