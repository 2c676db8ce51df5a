/** The panes: logs, details and graph. Pure. */

import type { ProcessJson } from "../../protocol/wire.ts";
import {
  clockTime,
  commandLine,
  counted,
  describeExitJson,
  healthWord,
  humanDuration,
} from "../human.ts";
import { humanBytes } from "../../model/size.ts";
import { paintName, type Style } from "../paint.ts";
import { pad, textWidth } from "../terminal_text.ts";
import type { LogLine } from "../../model/log_line.ts";
import { type LogText, logText } from "../log_text.ts";
import { bottomOf, matcher } from "./log_view.ts";
import {
  current,
  GRAPH_SPANS,
  type History,
  NO_HISTORY,
  type StoredHistory,
  type TopState,
  wantedLogs,
} from "./state.ts";
import { area, cleanColors, cleanLine, cut, shorten, wrap } from "./text.ts";

/** Draws a title as a rule across the screen; the first part is its name. */
export function paneTitle(
  parts: readonly string[],
  { columns, focus }: TopState,
  style: Style,
): string {
  const text = shorten(
    `── ${cleanLine(parts.filter((part) => part !== "").join(" ── "))} `,
    columns,
  );
  const line = text + "─".repeat(Math.max(0, columns - textWidth(text)));
  // Show the focus without colours too.
  return focus === "pane" ? style.bold(line.replaceAll("─", "━")) : style.dim(line);
}

const MAX_EVENTS = 8;
const KEY_WIDTH = 14;

/** The title and as many lines as fit. */
export function detailLines(state: TopState, height: number, style: Style): string[] {
  const process = current(state);
  const title = (more: string) =>
    paneTitle([`details ${process?.name ?? ""}`.trim(), more], state, style);
  if (process === undefined) return [title("")];
  const all = detailText(state, process, style);
  const from = Math.min(state.scroll, Math.max(0, all.length - height + 1));
  const below = all.length - from - (height - 1);
  return [
    title(below > 0 ? counted(below, "more line") : ""),
    ...all.slice(from, from + height - 1).map((line) => cut(line, state.columns)),
  ];
}

/** All lines of the details, without the title. */
export function detailText(state: TopState, process: ProcessJson, style: Style): string[] {
  return contents(state, process, style).flatMap((line) => wrap(line, state.columns));
}

function contents(state: TopState, process: ProcessJson, style: Style): string[] {
  const { why, events, now } = state;
  const error = why?.error_line;
  const output = why?.last_output ?? [];
  const event = events.filter(({ name }) => name === process.name).slice(-MAX_EVENTS).reverse();
  const heading = (text: string) => ["", style.bold(text)];
  return [
    ...(why?.reasons ?? [process.last_reason]).map(cleanLine).filter((line) => line !== ""),
    ...(error === undefined ? [] : [style.bad(`error: ${cleanLine(error)}`)]),
    "",
    ...fields(process, state.ports.get(process.id) ?? []).map(([key, value]) =>
      `${key.padEnd(KEY_WIDTH)}${cleanLine(value)}`
    ),
    ...(event.length === 0 ? [] : heading("what happened")),
    ...event.map(({ at, type, reason }) =>
      `  ${clockTime(at, new Date(now))}  ${type.padEnd(9)} ${cleanLine(reason)}`.trimEnd()
    ),
    ...(output.length === 0 ? [] : heading("last lines")),
    ...output.map((line) => `  ${cleanLine(line)}`),
  ];
}

function fields(process: ProcessJson, ports: readonly number[]): [key: string, value: string][] {
  const { config, pid, last_exit, next_restart_at } = process;
  const all: [string, string | false][] = [
    ["state", process.state],
    ["health", healthWord(process)],
    ["pid", pid > 0 && `${pid}   threads ${process.threads}   open files ${process.fds}`],
    ["ports", ports.join(" ")],
    ["memory", pid > 0 && `${humanBytes(process.memory_bytes)}, ${process.mem_percent}%`],
    ["command", commandLine(process)],
    ["cwd", text(config.cwd)],
    ["runtime", process.runtime],
    ["namespace", process.namespace],
    ["tags", process.tags.join(", ")],
    ["labels", labels(config.labels)],
    ["started", process.started_at !== null && clockTime(process.started_at)],
    ["restarts", `${process.restarts}, policy ${text(config.restart_policy) || "-"}`],
    ["next restart", next_restart_at !== null && clockTime(next_restart_at)],
    [
      "last exit",
      last_exit !== null && `${describeExitJson(process)} at ${clockTime(last_exit.at)}`,
    ],
  ];
  return all.filter((field): field is [string, string] => field[1] !== false && field[1] !== "");
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function labels(value: unknown): string {
  return Object.entries((value ?? {}) as Record<string, string>)
    .map(([key, is]) => `${key}=${is}`).join(", ");
}

/** Below this width, the graphs are stacked. */
const SIDE_BY_SIDE = 80;

/** What a graph shows, and the lowest value of a full column. */
interface Graph {
  readonly name: "cpu" | "mem";
  readonly least: number;
  readonly format: (value: number) => string;
}

const CPU: Graph = { name: "cpu", least: 1, format: (value) => `${value.toFixed(1)}%` };
const MEM: Graph = { name: "mem", least: 1024 ** 2, format: humanBytes };

/** The title and both graphs. */
export function graphLines(state: TopState, height: number, style: Style): string[] {
  const { columns } = state;
  const process = current(state);
  const { text } = GRAPH_SPANS[state.graphSpan]!;
  const title = paneTitle(
    [`graph ${process?.name ?? ""}`.trim(), `${text}: < and > change it`],
    state,
    style,
  );
  if (process === undefined) return [title];
  const isStacked = columns < SIDE_BY_SIDE;
  const width = isStacked ? columns : Math.floor((columns - 3) / 2);
  const history = historyOf(state, process, width);
  const drawn = (graph: Graph, height: number) => graphOf(graph, history, { width, height, style });
  const room = height - 1;
  if (isStacked) {
    const upper = Math.ceil(room / 2);
    return [title, ...drawn(CPU, upper), ...drawn(MEM, room - upper)];
  }
  const right = drawn(MEM, room);
  const left = drawn(CPU, room);
  return [title, ...left.map((line, i) => `${pad(line, width, "left")}   ${right[i]}`)];
}

/** Current and highest value above the columns of the last readings. */
function graphOf(
  { name, least, format }: Graph,
  { at, [name]: values }: History,
  { width, height, style }: { width: number; height: number; style: Style },
): string[] {
  if (height < 1) return [];
  const shown = values.slice(-width);
  const peak = Math.max(0, ...shown);
  const label = shorten(
    `${name}  now ${format(values.at(-1) ?? 0)}  most ${format(peak)}  ` +
      `last ${humanDuration(spanOf(at.slice(-width)))}`,
    width,
  );
  const lines = area(shown, width, height - 1, Math.max(least, peak));
  return [style.bold(label), ...lines.map((line) => style.good(cut(line, width)))];
}

/** The readings that the graph shows, one for each column. */
function historyOf(state: TopState, { id, name }: ProcessJson, width: number): History {
  const { past, graphSpan, histories, now: until } = state;
  const { text, ms } = GRAPH_SPANS[graphSpan]!;
  if (past?.name === name && past.since === text) return storedHistory(past, { width, until, ms });
  return histories.get(id) ?? NO_HISTORY;
}

/** Stored usage in columns of equal time, up to now: without a measurement 0. */
function storedHistory(
  { points, step }: StoredHistory,
  { width, until, ms }: { readonly width: number; readonly until: number; readonly ms: number },
): History {
  const column = ms / width;
  const at = Array.from({ length: width }, (_, index) => until - ms + (index + 1) * column);
  const known = points.map((point) => ({ ...point, from: Date.parse(point.at) }));
  const values = (of: "cpu_percent" | "memory_bytes") =>
    at.map((end) =>
      Math.max(
        0,
        ...known.filter(({ from }) => from < end && from + step > end - column)
          .map((point) => point[of] ?? 0),
      )
    );
  return { at, cpu: values("cpu_percent"), mem: values("memory_bytes") };
}

/** The time that readings stand for: one interval each. */
function spanOf(at: readonly number[]): number {
  if (at.length < 2) return 0;
  const intervals = (at.at(-1)! - at[0]!) * at.length / (at.length - 1);
  return Math.round(intervals / 1000) * 1000;
}

/** Title of the log pane: apps and modes. */
export function logTitle(state: TopState): string[] {
  const { log } = state;
  const names = wantedLogs(state)?.names ?? [];
  const whose = names.length > 3 ? `${names.length} apps` : names.join(", ");
  const below = log.base + log.lines.length - 1 - bottomOf(log);
  return [
    `logs ${whose}`.trim(),
    log.stderr ? "stderr only" : "",
    log.bottom === null ? "following" : `paused, ${below} below: f follows`,
    log.search === "" ? "" : `search "${cleanLine(log.search)}"`,
    log.skipped ? "lines left out to keep up" : "",
  ];
}

/** The visible lines, up to the bottom line. */
export function logLines(state: TopState, height: number, style: Style): string[] {
  const { log } = state;
  if (log.lines.length === 0) return [style.dim(cut("  nothing was written yet", state.columns))];
  const several = (wantedLogs(state)?.names.length ?? 0) > 1;
  const shown: string[] = [];
  for (let at = bottomOf(log) - log.base; at >= 0 && shown.length < height; at--) {
    const parts = lineParts(log.lines[at]!, {
      state,
      style,
      several,
      hit: log.base + at === log.hit,
    });
    shown.unshift(...parts);
  }
  return shown.slice(-height);
}

interface LineOptions {
  readonly state: TopState;
  readonly style: Style;
  /** Prefix each line with its app's name. */
  readonly several: boolean;
  /** The last match. */
  readonly hit: boolean;
}

/** Draws one log line on one or several screen lines. */
function lineParts(line: LogLine, options: LineOptions): string[] {
  const { columns, log } = options.state;
  const { style } = options;
  const drawn = logText(line, { color: style.color, isTimed: log.times });
  const prefix = prefixOf(line, drawn, options);
  const width = Math.max(1, columns - textWidth(prefix));
  const body = bodyOf(drawn, options);
  if (!log.wrap) return [cut(prefix + cut(body, width, log.left), columns)];
  const blank = " ".repeat(columns - width);
  return wrap(body, width).map((part, index) =>
    cut((index === 0 ? prefix : blank) + part, columns)
  );
}

function prefixOf(
  { name, at }: LogLine,
  { mark }: LogText,
  { state, style, several, hit }: LineOptions,
): string {
  const time = state.log.times ? style.dim(`${clock(at)} `) : "";
  return (hit ? style.bold("▸ ") : `${mark} `) + time +
    (several ? `${paintName(cleanLine(name), name, style.color)} | ` : "");
}

function clock(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return "--:--:--.---";
  return `${date.toTimeString().slice(0, 8)}.${date.toISOString().slice(20, 23)}`;
}

/** The text with its colours, or with search matches highlighted. */
function bodyOf({ text: first, stack }: LogText, { state: { log }, style }: LineOptions): string {
  const more = stack.length === 0 ? "" : style.dim(` (+${stack.length} lines)`);
  const line = `${first.replaceAll("\n", " ⏎ ")}${more}`;
  const plain = cleanLine(line);
  const spans = matcher(log.search)(plain);
  if (spans.length === 0) return style.color ? cleanColors(line) : plain;
  let text = "";
  let end = 0;
  for (const { from, to } of spans) {
    text += plain.slice(end, from) + style.match(plain.slice(from, to));
    end = to;
  }
  return text + plain.slice(end);
}
