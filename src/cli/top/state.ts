/** The state that the screen is drawn from, and where each part of it goes. Pure. */

import { SIGNAL_NAMES } from "../../model/signal.ts";
import type { ChangeJson } from "../../protocol/change_json.ts";
import type { ProcessJson, WhyJson } from "../../protocol/wire.ts";
import { EMPTY_LOG, type LogView } from "./log_view.ts";
import { type DaemonFigures, type HostFigures, PALETTE_WORDS, type Pane } from "./messages.ts";
import type { Sort } from "./sort.ts";
import type { ActionCall } from "./verbs.ts";

/** A notice: what was done, or what failed. */
interface Notice {
  readonly text: string;
  readonly bad: boolean;
  /** Milliseconds since the epoch when it disappears. */
  readonly until: number;
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
  /** First visible line of the details and of the help. */
  readonly scroll: number;
  readonly help: number | undefined;
  readonly prompt: Prompt | undefined;
  readonly notice: Notice | undefined;
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
    sort: { key: "id", reverse: false },
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
    scroll: 0,
    help: undefined,
    prompt: undefined,
    notice: undefined,
  };
}

/** The app under the cursor. */
export function current({ visible, cursorAt }: TopState): ProcessJson | undefined {
  return visible[cursorAt];
}

/** Targets of an action: the marked apps, else the one under the cursor. */
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
  | { readonly type: "confirm"; readonly question: string; readonly action: ActionCall };

/** Suggestions of a prompt, completed by the tab key. */
export function suggestions({ type, text }: { type: string; text: string }): readonly string[] {
  if (type === "palette" && !text.includes(" ")) return begun(PALETTE_WORDS, text);
  if (type !== "signal") return [];
  return begun(SIGNAL_NAMES.map((name) => name.slice(3)), text.toUpperCase().replace(/^SIG/, ""));
}

/** The longest common prefix of the suggestions. */
export function completed(prompt: { type: string; text: string }): string {
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
  state: Pick<TopState, "rows" | "visible" | "pane" | "zoomed" | "paneGrown" | "focus">,
): Layout {
  const { rows, visible, pane, zoomed, paneGrown, focus } = state;
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
