/** Keeps the state consistent: cursor on an existing app, scrolling in range. Pure. */

import { parseFilter } from "../../protocol/filter_processes.ts";
import { append, emptied, inRange, MAX_LINES, sourceKey } from "./log_view.ts";
import type { FeedEvent } from "./messages.ts";
import { sorted } from "./sort.ts";
import {
  chosen,
  current,
  layoutOf,
  paneHeight,
  push,
  record,
  tableHeight,
  type TopState,
} from "./state.ts";

/** Recomputes the derived parts of the state. */
export function normalizeState(state: TopState): TopState {
  return withLogInRange(withCursor(withVisible(state)));
}

/** Inputs of the last sort, to avoid sorting a thousand apps again on each key. */
const made = new WeakMap<readonly unknown[], { filter: string; sort: unknown; from: unknown }>();

function withVisible(state: TopState): TopState {
  const { processes, filter, sort, visible } = state;
  const last = made.get(visible);
  if (last?.from === processes && last.filter === filter && last.sort === sort) return state;
  const fresh = sorted(processes.filter(parseFilter(filter)), sort);
  made.set(fresh, { from: processes, filter, sort });
  return { ...state, visible: fresh };
}

/** Keeps the cursor on its app, or in its row when the app is gone. */
function withCursor(state: TopState): TopState {
  const { visible, cursor, cursorAt, offset } = state;
  const found = visible.findIndex(({ id }) => id === cursor);
  const at = found >= 0 ? found : Math.max(0, Math.min(cursorAt, visible.length - 1));
  const height = tableHeight(state);
  const least = Math.max(0, at - height + 1);
  const most = Math.max(0, Math.min(at, visible.length - height));
  const to = Math.max(least, Math.min(offset, most));
  const id = visible[at]?.id ?? "";
  const why = state.why !== undefined && state.why.process.id !== id ? undefined : state.why;
  const scroll = id === cursor ? state.scroll : 0;
  return { ...state, cursor: id, cursorAt: at, offset: to, why, scroll };
}

function withLogInRange(state: TopState): TopState {
  const wanted = wantedLogs(state);
  const source = wanted === undefined ? state.log.source : sourceKey(wanted.names, wanted.stderr);
  const log = source === state.log.source ? state.log : emptied(state.log, source);
  if (log.bottom === null || log.lines.length === 0) return { ...state, log };
  return { ...state, log: { ...log, bottom: inRange(log, log.bottom, paneHeight(state)) } };
}

/** Most events kept. */
const MAX_EVENTS = 200;

/** Readings closer together count as one: changes refresh the list between ticks. */
const RECORD_EVERY_MS = 700;

/** How long a notice is shown. */
const [NOTICE_MS, BAD_NOTICE_MS] = [4000, 10_000];

export function withEvent(state: TopState, event: FeedEvent): TopState {
  switch (event.type) {
    case "size":
      return { ...state, columns: event.columns, rows: event.rows };
    case "tick":
      return ticked(state, event);
    case "list":
      return listed(state, event);
    case "lost":
      return {
        ...state,
        now: event.now,
        lost: { since: state.lost?.since ?? event.now, reason: event.reason },
      };
    case "daemon":
      return { ...state, daemon: event.daemon };
    case "event":
      return { ...state, events: [...state.events.slice(1 - MAX_EVENTS), event.event] };
    case "log":
      return logged(state, event);
    case "ports":
      return { ...state, ports: new Map(event.ports.map(({ id, ports }) => [id, numbers(ports)])) };
    case "why":
      return { ...state, why: event.why };
    case "done":
      return noticed(state, event.text, event.bad);
  }
}

/** Ignore lines of apps no longer selected. */
function logged(state: TopState, event: Extract<FeedEvent, { type: "log" }>): TopState {
  const { source, begins, skipped, lines } = event;
  if (source !== state.log.source) return state;
  const log = begins ? { ...emptied(state.log, source), skipped } : state.log;
  return { ...state, log: append(log, lines) };
}

export function noticed(state: TopState, text: string, bad: boolean): TopState {
  return { ...state, notice: { text, bad, until: state.now + (bad ? BAD_NOTICE_MS : NOTICE_MS) } };
}

/** Each port once, though an app may listen on several addresses. */
function numbers(ports: readonly { readonly port: number }[]): readonly number[] {
  return [...new Set(ports.map(({ port }) => port))];
}

function ticked(state: TopState, { now, host }: { now: number; host?: TopState["host"] }) {
  const over = state.notice !== undefined && now >= state.notice.until;
  return {
    ...state,
    now,
    notice: over ? undefined : state.notice,
    ...(host === undefined ? {} : { host, hostCpu: push(state.hostCpu, host.cpu_percent) }),
  };
}

function listed(
  state: TopState,
  { processes, now }: { processes: TopState["processes"]; now: number },
): TopState {
  const due = now - state.recordedAt >= RECORD_EVERY_MS;
  const ids = new Set(processes.map(({ id }) => id));
  const marked = [...state.marked].filter((id) => ids.has(id));
  return {
    ...state,
    now,
    lost: undefined,
    processes,
    marked: marked.length === state.marked.size ? state.marked : new Set(marked),
    ...(due ? { histories: record(state.histories, processes, now), recordedAt: now } : {}),
  };
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
