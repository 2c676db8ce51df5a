/** A message and the state → the next state and its effects. Pure. */

import { ProcsupError } from "../../model/errors.ts";
import { baseName } from "../../model/name.ts";
import { conditionOf, CONDITIONS_BY_URGENCY } from "../../model/process_info.ts";
import { parseSignal } from "../../model/signal.ts";
import { parseFilter, selectProcesses } from "../../protocol/select_processes.ts";
import type { ProcessJson } from "../../protocol/wire.ts";
import { counted } from "../human.ts";
import { append, emptied, inRange, scrolled, sourceKey } from "./log_view.ts";
import { typed, type Typing, withLog } from "./prompt.ts";
import {
  chosen,
  current,
  type Effect,
  type FeedEvent,
  GRAPH_SPANS,
  layoutOf,
  type Message,
  noticed,
  paneHeight,
  push,
  record,
  type Sort,
  SORT_KEYS,
  type SortKey,
  tableHeight,
  type TopState,
  type UserCommand,
  wantedLogs,
} from "./state.ts";
import { type Verb, type VerbCall, VERBS } from "./verbs.ts";
import { scrollLimit } from "./view.ts";
import { sortKeyAt } from "./view_table.ts";
import { shellHint } from "../../model/hint.ts";

/** The next state and effects to perform. */
interface Update {
  readonly state: TopState;
  readonly effects: readonly Effect[];
}

/** Applies a message. Only this function changes the state. */
export function update(state: TopState, message: Message): Update {
  const { state: next, effects } = applied(state, message);
  return { state: withLogInRange(withCursor(withVisible(next))), effects };
}

function applied(state: TopState, message: Message): Update {
  switch (message.type) {
    case "type":
    case "erase":
    case "complete":
    case "enter":
    case "cancel":
      return onTyping(state, message);
    case "do":
      return acting(state, message);
    case "quit":
    case "redraw":
      return { state, effects: [message] };
    default:
      return { state: changed(state, message), effects: [] };
  }
}

function onTyping(state: TopState, command: Typing): Update {
  const { state: next, then } = typed(state, command);
  if (then === undefined) return { state: next, effects: [] };
  return "targets" in then
    ? { state: next, effects: [{ type: "act", call: then }] }
    : applied(next, then);
}

function changed(
  state: TopState,
  message: Exclude<Message, Typing | { type: "do" | "quit" | "redraw" }>,
): TopState {
  switch (message.type) {
    case "move":
      return moved(state, message.by);
    case "side":
    case "switch":
    case "find":
      return withLog(state, message);
    case "mark":
      return moved({ ...state, marked: toggled(state.marked, current(state)?.id) }, 1);
    case "mark_all":
      return {
        ...state,
        marked: new Set(state.marked.size > 0 ? [] : state.visible.map(({ id }) => id)),
      };
    case "back":
      return back(state);
    case "pane":
      return opened(state, message);
    case "focus":
      return state.pane === "none" ? state : { ...state, focus: "pane" };
    case "zoom":
      return state.pane === "none" ? state : { ...state, zoomed: !state.zoomed };
    case "ports_column":
      return { ...state, portsColumn: !state.portsColumn };
    case "point":
      return pointed(state, message);
    case "span": {
      const graphSpan = Math.max(0, Math.min(GRAPH_SPANS.length - 1, state.graphSpan + message.by));
      return { ...state, graphSpan, pane: "graph" };
    }
    case "grow":
      return { ...state, paneGrown: Math.max(-20, Math.min(20, state.paneGrown + message.by)) };
    case "sort":
      return { ...state, sort: { key: message.key ?? nextKey(state), reverse: false } };
    case "reverse":
      return { ...state, sort: { ...state.sort, reverse: !state.sort.reverse } };
    case "ask":
      return withPrompt(state, message.what);
    case "help":
      return { ...state, help: state.help === undefined ? 0 : undefined };
    default:
      return withEvent(state, message);
  }
}

function nextKey({ sort: { key } }: TopState): (typeof SORT_KEYS)[number] {
  return SORT_KEYS[(SORT_KEYS.indexOf(key) + 1) % SORT_KEYS.length]!;
}

function toggled(marked: ReadonlySet<string>, id: string | undefined): ReadonlySet<string> {
  const next = new Set(marked);
  if (id !== undefined && !next.delete(id)) next.add(id);
  return next;
}

/** Leaves one level: the pane, then marks, then the filter, then closes the pane. */
function back(state: TopState): TopState {
  if (state.focus === "pane" || state.zoomed) return { ...state, focus: "table", zoomed: false };
  if (state.notice?.bad) return { ...state, notice: undefined };
  if (state.marked.size > 0) return { ...state, marked: new Set() };
  if (state.filter !== "") return { ...state, filter: "" };
  return { ...state, pane: "none" };
}

/** Toggles a pane: closing details or graph returns to the logs. */
function opened(state: TopState, { pane, focus }: { pane: TopState["pane"]; focus?: boolean }) {
  const shown: TopState = { ...state, scroll: 0, help: undefined };
  if (focus) return { ...shown, pane, focus: "pane" as const };
  if (pane === "none") return { ...shown, pane, focus: "table" as const, zoomed: false };
  return { ...shown, pane: state.pane === pane ? "logs" as const : pane };
}

function withPrompt(state: TopState, what: "filter" | "search" | "palette" | "signal"): TopState {
  if (what === "signal" && chosen(state).length === 0) return state;
  if (what === "search" && state.pane !== "logs") return state;
  const before = what === "filter" ? state.filter : what === "search" ? state.log.search : "";
  const text = what === "filter" ? before : "";
  return { ...state, notice: undefined, prompt: { type: what, text, before } };
}

/** Calls a verb at once, or asks for confirmation first. */
function acting(state: TopState, command: Extract<UserCommand, { type: "do" }>): Update {
  const { verb, target } = command;
  try {
    const processes = target === undefined
      ? chosen(state)
      : selectProcesses(state.processes, [target]);
    // Several apps are restarted, not started: those that were stopped stay so.
    const running = VERBS[verb].starts ? processes.filter(({ state }) => state !== "stopped") : [];
    const meant = running.length === 0 ? processes : running;
    const call = callOf(command, meant);
    if (call.targets.length === 0) return refused(state, `No app to ${verb}`);
    const idle: TopState = { ...state, prompt: undefined, notice: undefined };
    if (!VERBS[verb].asks && call.targets.length === 1) {
      return { state: { ...idle, marked: new Set() }, effects: [{ type: "act", call }] };
    }
    const question = questionOf(call, processes.length - meant.length);
    return { state: { ...idle, prompt: { type: "confirm", question, call } }, effects: [] };
  } catch (error) {
    if (!(error instanceof ProcsupError)) throw error;
    return refused(state, error.hint === undefined ? error.message : shellHint(error.hint));
  }
}

function callOf({ verb, word }: { verb: Verb; word?: string }, processes: readonly ProcessJson[]) {
  const names = processes.map(({ name }) => VERBS[verb].onBase ? baseName(name) : name);
  const call: VerbCall = { verb, targets: [...new Set(names)] };
  if (verb === "signal") return { ...call, word: parseSignal(word ?? "") };
  return word === undefined ? call : { ...call, word };
}

function questionOf({ verb, targets }: VerbCall, stopped: number): string {
  const namesOf = targets.length === 1 ? targets[0]! : counted(targets.length, "app");
  const what = verb === "flush" ? `Empty the logs of ${namesOf}` : `${capital(verb)} ${namesOf}`;
  const left = stopped === 0 ? "" : ` (${stopped} stopped: left stopped)`;
  return `${what}${left}? [y/N]`;
}

function capital(word: string): string {
  return word[0]!.toUpperCase() + word.slice(1);
}

function refused(state: TopState, text: string): Update {
  return { state: noticed({ ...state, prompt: undefined }, text, true), effects: [] };
}

const WHEEL_LINES = 3;

/** A click chooses a row, a column to sort by, or the pane; the wheel scrolls what is below it. */
function pointed(
  state: TopState,
  { what, column, row }: Extract<UserCommand, { type: "point" }>,
): TopState {
  const { head, table, pane } = layoutOf(state);
  const isTable = row >= head && row < head + table;
  if (!isTable && (row < head || row >= head + table + pane)) return state;
  if (what !== "click") {
    const by = what === "up" ? -WHEEL_LINES : WHEEL_LINES;
    const scrolled = moved({ ...state, focus: isTable ? "table" : "pane" }, by);
    return { ...scrolled, focus: state.focus };
  }
  if (!isTable) return { ...state, focus: "pane" };
  const at = state.offset + row - head - 1;
  if (row > head) {
    const id = state.visible[at]?.id;
    return id === undefined ? state : { ...state, focus: "table", cursor: id, cursorAt: at };
  }
  const key = sortKeyAt(state, column);
  if (key === undefined) return state;
  const reverse = key === state.sort.key && !state.sort.reverse;
  return { ...state, sort: { key, reverse } };
}

type By = Extract<UserCommand, { type: "move" }>["by"];

/** A distance beyond any end. */
const FAR = 1_000_000;

/** Moves the cursor, or scrolls the log, the details or the help. */
function moved(state: TopState, by: By): TopState {
  if (state.help !== undefined) {
    return { ...state, help: within(state, state.help, lines(by, state.rows - 4)) };
  }
  if (state.focus === "table" || state.pane === "graph") return withCursorMoved(state, by);
  const height = paneHeight(state);
  const step = lines(by, height);
  if (state.pane === "logs") return { ...state, log: scrolled(state.log, step, height) };
  return { ...state, scroll: within(state, state.scroll, step) };
}

function within(state: TopState, from: number, by: number): number {
  const most = scrollLimit(state);
  return Math.max(0, Math.min(most, Math.min(most, from) + by));
}

function withCursorMoved(state: TopState, by: By): TopState {
  const wanted = state.cursorAt + lines(by, tableHeight(state));
  const at = Math.max(0, Math.min(wanted, state.visible.length - 1));
  return { ...state, cursorAt: at, cursor: state.visible[at]?.id ?? "", scroll: 0 };
}

function lines(by: By, page: number): number {
  const most = Math.max(1, page - 1);
  return typeof by === "number" ? by : { page: most, "-page": -most, first: -FAR, last: FAR }[by];
}

/** Inputs of the last sort, to avoid sorting a thousand apps again on each key. */
const made = new WeakMap<
  readonly unknown[],
  { filter: string; sort: unknown; from: unknown; ports: unknown }
>();

function withVisible(state: TopState): TopState {
  const { processes, ports, filter, sort, visible } = state;
  const last = made.get(visible);
  const isSame = last?.from === processes && last.ports === ports && last.filter === filter;
  if (isSame && last?.sort === sort) return state;
  const fresh = sorted(processes.filter(parseFilter(filter, ports)), sort);
  made.set(fresh, { from: processes, ports, filter, sort });
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

function withEvent(state: TopState, event: FeedEvent): TopState {
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
    case "past":
      return { ...state, past: event.past };
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

type Order = (one: ProcessJson, other: ProcessJson) => number;

function urgency(process: ProcessJson): number {
  return CONDITIONS_BY_URGENCY.indexOf(conditionOf(process));
}

/** Numbers sort largest first, states by urgency. */
const ORDERS: Readonly<Record<SortKey, Order>> = {
  id: (one, other) => one.numeric_id - other.numeric_id,
  name: (one, other) =>
    compare(baseName(one.name).toLowerCase(), baseName(other.name).toLowerCase()) ||
    one.instance_index - other.instance_index,
  state: (one, other) => urgency(one) - urgency(other),
  cpu: (one, other) => other.cpu_percent - one.cpu_percent,
  mem: (one, other) => other.memory_bytes - one.memory_bytes,
  restarts: (one, other) => other.restarts - one.restarts,
  uptime: (one, other) => other.uptime - one.uptime,
};

/** Sorts apps; ties by name. */
function sorted(processes: readonly ProcessJson[], { key, reverse }: Sort): ProcessJson[] {
  const sign = reverse ? -1 : 1;
  return processes.toSorted((one, other) =>
    sign * ORDERS[key](one, other) || ORDERS.name(one, other)
  );
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
