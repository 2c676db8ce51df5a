/** All that the screen shows is made from this. Pure. */

import type { WhyJson } from "../../protocol/actions.ts";
import type { ChangeJson } from "../../protocol/change_json.ts";
import type { ProcessJson } from "../../protocol/process_json.ts";
import type { DaemonFigures, HostFigures, Pane } from "./figures.ts";
import type { Histories } from "./history.ts";
import { EMPTY_LOG, type LogView } from "./log_view.ts";
import type { Prompt } from "./prompt.ts";
import type { Sort } from "./sort.ts";

/** A line about what was done, or could not be. */
export interface Notice {
  readonly text: string;
  readonly bad: boolean;
  /** Milliseconds since the epoch after which it is not shown any more. */
  readonly until: number;
}

/** The whole state. */
export interface TopState {
  readonly columns: number;
  readonly rows: number;
  readonly color: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Since when, and why, no daemon answers; undefined while one does. */
  readonly lost: { readonly since: number; readonly reason: string } | undefined;
  readonly processes: readonly ProcessJson[];
  /** Those that pass the filter, in their order: derived. */
  readonly visible: readonly ProcessJson[];
  readonly histories: Histories;
  /** When the histories had their last reading. */
  readonly recordedAt: number;
  readonly host: HostFigures | undefined;
  /** Percent, the newest last. */
  readonly hostCpu: readonly number[];
  readonly daemon: DaemonFigures | undefined;
  /** What they listen on, by the app's id; as it was when it was asked for last. */
  readonly ports: ReadonlyMap<string, readonly number[]>;
  /** Whether the table has a column of them. */
  readonly portsColumn: boolean;
  readonly events: readonly ChangeJson[];
  readonly sort: Sort;
  readonly filter: string;
  /** Id of the app under the cursor, `""` without any, and its place. */
  readonly cursor: string;
  readonly cursorAt: number;
  /** The first row of the table that is shown. */
  readonly offset: number;
  /** Ids of the apps that were marked. */
  readonly marked: ReadonlySet<string>;
  readonly pane: Pane;
  /** Which part has the keys. */
  readonly focus: "table" | "pane";
  /** The pane has the whole screen. */
  readonly zoomed: boolean;
  /** Lines that the pane was made larger by. */
  readonly paneGrown: number;
  readonly log: LogView;
  readonly why: WhyJson | undefined;
  /** First line shown of the details, and of the help. */
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

/** Whom an action is for: the marked apps, else the one under the cursor. */
export function chosen(state: TopState): readonly ProcessJson[] {
  const marked = state.visible.filter(({ id }) => state.marked.has(id));
  const one = current(state);
  return marked.length > 0 ? marked : one === undefined ? [] : [one];
}
