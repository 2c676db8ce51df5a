/**
 * The state that the screen is drawn from, the messages that change it, and where each part of it
 * goes. Pure.
 */

import type { LogLine } from "../../model/log_line.ts";
import type { HostMeter } from "../../platform/host.ts";
import type { ChangeJson } from "../../protocol/process_json.ts";
import type {
  MetricsPointJson,
  PortsJson,
  ProcessJson,
  SystemMetricsJson,
  WhyJson,
} from "../../protocol/wire.ts";
import { EMPTY_LOG, type LogView, MAX_LINES } from "./log_view.ts";
import type { Verb, VerbCall } from "./verbs.ts";

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
  | { readonly type: "past"; readonly past: StoredHistory }
  | { readonly type: "done"; readonly text: string; readonly bad: boolean };

/** What the mouse does: a click of its first button, or its wheel. */
export type Pointing = "click" | "up" | "down";

export type UserCommand =
  | { readonly type: "move"; readonly by: number | "page" | "-page" | "first" | "last" }
  | { readonly type: "side"; readonly by: number }
  | {
    readonly type: "point";
    readonly what: Pointing;
    readonly column: number;
    readonly row: number;
  }
  | { readonly type: "span"; readonly by: number }
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
  | { readonly type: "act"; readonly call: VerbCall }
  | { readonly type: "redraw" }
  | { readonly type: "quit" };

/** Contents of the lower pane. */
export type Pane = "logs" | "details" | "graph" | "none";

/** Figures of the machine in the head line, and of the daemon. */
export type HostFigures = ReturnType<HostMeter["read"]>;
export type DaemonFigures = SystemMetricsJson["daemon"];

/** All sort keys in their cycle order. */
export const SORT_KEYS = ["id", "name", "state", "cpu", "mem", "restarts", "uptime"] as const;

export type SortKey = (typeof SORT_KEYS)[number];

/** A sort key and its direction. */
export interface Sort {
  readonly key: SortKey;
  readonly reverse: boolean;
}

export interface TopState {
  readonly columns: number;
  readonly rows: number;
  readonly color: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** When and why the daemon was lost; undefined while connected. */
  readonly lost: { readonly since: number; readonly reason: string } | undefined;
  readonly processes: readonly ProcessJson[];
  /** Filtered and sorted: derived. */
  readonly visible: readonly ProcessJson[];
  readonly histories: Histories;
  /** Time of the last reading. */
  readonly recordedAt: number;
  readonly host: HostFigures | undefined;
  /** Percent, newest last. */
  readonly hostCpu: readonly number[];
  readonly daemon: DaemonFigures | undefined;
  /** Ports by the app's id, as of the last request. */
  readonly ports: ReadonlyMap<string, readonly number[]>;
  /** The ports column is visible. */
  readonly portsColumn: boolean;
  readonly events: readonly ChangeJson[];
  readonly sort: Sort;
  readonly filter: string;
  /** Id of the app under the cursor (empty without apps), and its row. */
  readonly cursor: string;
  readonly cursorAt: number;
  /** First visible row of the table. */
  readonly offset: number;
  /** Ids of the marked apps. */
  readonly marked: ReadonlySet<string>;
  readonly pane: Pane;
  /** The part that has the focus. */
  readonly focus: "table" | "pane";
  /** The pane fills the screen. */
  readonly zoomed: boolean;
  /** Lines added to the pane by the user. */
  readonly paneGrown: number;
  readonly log: LogView;
  readonly why: WhyJson | undefined;
  /** The time of the graph: an index of `GRAPH_SPANS`; and what is stored of it. */
  readonly graphSpan: number;
  readonly past: StoredHistory | undefined;
  /** First visible line of the details and of the help. */
  readonly scroll: number;
  readonly help: number | undefined;
  readonly prompt: Prompt | undefined;
  /** What was done, or what failed; shown until then, in milliseconds since the epoch. */
  readonly notice: Readonly<{ text: string; bad: boolean; until: number }> | undefined;
}

/** Before the first list. */
export function initialState(
  given: Pick<TopState, "columns" | "rows" | "color" | "now">,
): TopState {
  return {
    ...given,
    lost: undefined,
    processes: [],
    visible: [],
    histories: new Map(),
    recordedAt: -Infinity,
    host: undefined,
    hostCpu: [],
    daemon: undefined,
    ports: new Map(),
    portsColumn: false,
    events: [],
    sort: { key: "state", reverse: false },
    filter: "",
    cursor: "",
    cursorAt: 0,
    offset: 0,
    marked: new Set(),
    pane: "logs",
    focus: "table",
    zoomed: false,
    paneGrown: 0,
    log: EMPTY_LOG,
    why: undefined,
    graphSpan: 1,
    past: undefined,
    scroll: 0,
    help: undefined,
    prompt: undefined,
    notice: undefined,
  };
}

/** How long a notice is shown. */
const [NOTICE_MS, BAD_NOTICE_MS] = [4000, 10_000];

export function noticed(state: TopState, text: string, bad: boolean): TopState {
  return { ...state, notice: { text, bad, until: state.now + (bad ? BAD_NOTICE_MS : NOTICE_MS) } };
}

/** The app under the cursor. */
export function current({ visible, cursorAt }: TopState): ProcessJson | undefined {
  return visible[cursorAt];
}

/** Targets of a call: the marked apps, else the one under the cursor. */
export function chosen(state: TopState): readonly ProcessJson[] {
  const marked = state.visible.filter(({ id }) => state.marked.has(id));
  const one = current(state);
  return marked.length > 0 ? marked : one === undefined ? [] : [one];
}

/** The prompt or question in the foot. */
export type Prompt =
  /** `before` is restored on cancel. */
  | {
    readonly type: "filter" | "search" | "palette" | "signal";
    readonly text: string;
    readonly before: string;
  }
  | { readonly type: "confirm"; readonly question: string; readonly call: VerbCall };

/** Readings kept: five minutes at one a second. */
const MAX_READINGS = 300;

/** Readings of one app, newest last. */
export interface History {
  /** When each was made, in milliseconds since the epoch. */
  readonly at: readonly number[];
  /** Percent of one core. */
  readonly cpu: readonly number[];
  /** Bytes. */
  readonly mem: readonly number[];
}

/** Readings by the app's id. */
export type Histories = ReadonlyMap<string, History>;

/** Times that the graph can show: the readings of the view itself, or those that the daemon stored. */
export const GRAPH_SPANS = [
  { text: "5m", ms: 300_000 },
  { text: "1h", ms: 3_600_000 },
  { text: "6h", ms: 21_600_000 },
  { text: "24h", ms: 86_400_000 },
  { text: "7d", ms: 604_800_000 },
] as const;

/** Usage of an app that the daemon stored, over a time up to now. */
export interface StoredHistory {
  readonly name: string;
  /** `text` of the time in `GRAPH_SPANS`. */
  readonly since: string;
  readonly points: readonly Pick<MetricsPointJson, "at" | "cpu_percent" | "memory_bytes">[];
  /** Milliseconds between points. */
  readonly step: number;
}

export const NO_HISTORY: History = { at: [], cpu: [], mem: [] };

/** Adds a reading for each app; drops apps that are gone. */
export function record(
  histories: Histories,
  processes: readonly ProcessJson[],
  now: number,
): Histories {
  return new Map(processes.map(({ id, cpu_percent, memory_bytes }) => {
    const { at, cpu, mem } = histories.get(id) ?? NO_HISTORY;
    return [id, { at: push(at, now), cpu: push(cpu, cpu_percent), mem: push(mem, memory_bytes) }];
  }));
}

/** The readings with one more. */
export function push(values: readonly number[], value: number): readonly number[] {
  return [...values.slice(1 - MAX_READINGS), value];
}

/** Height of each part in lines; 0 when hidden. */
interface Layout {
  /** Figures of the machine and of all apps. */
  readonly head: number;
  /** The header of the table and its rows. */
  readonly table: number;
  /** The pane with its title. */
  readonly pane: number;
}

/** Smallest usable screen. */
export const SMALLEST = { columns: 20, rows: 5 } as const;

const LEAST_TABLE = 4;
const LEAST_PANE = 3;
const FOOT = 1;

/** Layout for a screen size. The pane takes what the table does not need. */
export function layoutOf(
  { rows, visible, pane, zoomed, paneGrown, focus }: TopState,
): Layout {
  const head = rows >= 12 ? 2 : 1;
  const body = rows - head - FOOT;
  if (pane === "none") return { head, table: body, pane: 0 };
  if (zoomed) return { head, table: 0, pane: body };
  // Without room for both, show the part that has the focus.
  if (body < LEAST_TABLE + LEAST_PANE) {
    return focus === "pane" ? { head, table: 0, pane: body } : { head, table: body, pane: 0 };
  }
  const half = Math.ceil(body / 2) - paneGrown;
  const wanted = Math.min(half, visible.length + 1 + Math.max(0, -paneGrown));
  const table = Math.min(body - LEAST_PANE, Math.max(2, wanted));
  return { head, table, pane: body - table };
}

/** Lines of the pane below its title. */
export function paneHeight(state: TopState): number {
  return Math.max(1, layoutOf(state).pane - 1);
}

/** Rows of the table below its header. */
export function tableHeight(state: TopState): number {
  return Math.max(1, layoutOf(state).table - 1);
}

/** Most apps followed at once: the daemon watches a file for each. */
const MAX_LOGS = 32;

/** A request for log lines. */
export interface WantedLogs {
  readonly names: readonly string[];
  readonly stderr: boolean;
  /** Paused: new lines would push out what is being read. The log file keeps them. */
  readonly hold: boolean;
}

/** Logs to follow; undefined if the pane shows none. */
export function wantedLogs(state: TopState): WantedLogs | undefined {
  if (state.pane !== "logs" || layoutOf(state).pane === 0) return undefined;
  const { stderr, bottom, lines } = state.log;
  const names = chosen(state).slice(0, MAX_LOGS).map(({ name }) => name);
  return { names, stderr, hold: bottom !== null && lines.length >= MAX_LINES };
}

/** True if ports are visible. Collecting them makes the daemon read every descriptor. */
export function wantsPorts({ portsColumn, pane, lost }: TopState): boolean {
  return lost === undefined && (portsColumn || pane === "details");
}

/** How often stored usage is asked for again. */
const PAST_MS = 10_000;

/** The stored usage that the graph shows; asked again with another key. Undefined if it shows none. */
export function wantedPast(
  state: TopState,
): { readonly name: string; readonly since: string; readonly key: string } | undefined {
  const process = current(state);
  const { pane, lost, graphSpan, now } = state;
  if (process === undefined || pane !== "graph" || lost !== undefined || graphSpan === 0) {
    return undefined;
  }
  const since = GRAPH_SPANS[graphSpan]!.text;
  return {
    name: process.name,
    since,
    key: `${process.name} ${since} ${Math.floor(now / PAST_MS)}`,
  };
}

/**
 * The app to explain, with a key that changes when the explanation may change; undefined if
 * it is not visible.
 */
export function wantedWhy(state: TopState): { readonly name: string; key: string } | undefined {
  const process = current(state);
  if (process === undefined || state.pane !== "details" || state.lost !== undefined) {
    return undefined;
  }
  const { name, id, pid, state: is, restarts, last_reason, health, ready } = process;
  return { name, key: [id, pid, is, restarts, health, ready, last_reason].join(" ") };
}
