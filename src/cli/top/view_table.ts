/** The table of apps. Pure. */

import { baseName } from "../../model/name.ts";
import { conditionOf } from "../../model/process_info.ts";
import type { ProcessJson } from "../../protocol/wire.ts";
import { humanBytes } from "../../model/size.ts";
import { type Column, fitting, GAP, widthOf } from "../columns.ts";
import { healthWord, humanDuration, whileUp } from "../human.ts";
import { paintState, type Style } from "../paint.ts";
import { pad, textWidth } from "../terminal_text.ts";
import { type Histories, NO_HISTORY, type SortKey, type TopState } from "./state.ts";
import { cleanLine, cut, shorten, sparkline } from "./text.ts";

/** Width of the cursor, the mark and a space. */
const GUTTER = 3;
const LEAST_NAME = 8;

/** The header and as many rows as fit. */
export function tableRows(state: TopState, height: number, style: Style): string[] {
  const columns = fittingColumns(state);
  const header = shorten(" ".repeat(GUTTER) + cells(columns, headerOf(state)), state.columns);
  const rows = state.visible.slice(state.offset, state.offset + height - 1)
    .map((process) => row(process, columns, state, style));
  return [style.bold(header), ...(rows.length > 0 ? rows : [emptyLine(state)])];
}

/** The sort key of the column at a position of the header; undefined if there is none. */
export function sortKeyAt(state: TopState, at: number): SortKey | undefined {
  let from = GUTTER;
  return fittingColumns(state).find(({ width }) => {
    const isHere = at >= from && at < from + width;
    from += width + GAP.length;
    return isHere;
  })?.sort;
}

/** Drops the least important columns until they fit; the name column takes the rest. */
function fittingColumns(state: TopState): readonly TableColumn[] {
  const { processes, visible, histories, color, portsColumn } = state;
  const ports = portsColumn ? state.ports : undefined;
  const longest = visible.reduce((most, { name }) => Math.max(most, textWidth(name)), LEAST_NAME);
  const room = state.columns - GUTTER;
  const nameWidth = Math.min(longest, Math.max(LEAST_NAME, Math.floor(room / 3)));
  const all = tableColumns({ processes, histories, nameWidth, color, ports }).map((column) => ({
    ...column,
    width: Math.max(column.width, headerOf(state)(column).length),
  }));
  const columns = fitting(all, room);
  const name = Math.max(1, Math.min(longest, nameWidth + room - widthOf(columns)));
  return columns.map((column) => column.header === "NAME" ? { ...column, width: name } : column);
}

function headerOf({ sort }: TopState): (column: TableColumn) => string {
  return ({ header, sort: key }) =>
    key === sort.key ? `${header}${sort.reverse ? "▴" : "▾"}` : header;
}

function cells(
  columns: readonly TableColumn[],
  value: (column: TableColumn) => string,
  paint: (text: string, column: TableColumn) => string = (text) => text,
): string {
  return columns.map((column) => {
    const { width, align } = column;
    return paint(pad(shorten(value(column), width), width, align), column);
  }).join(GAP);
}

function row(
  process: ProcessJson,
  columns: readonly TableColumn[],
  state: TopState,
  style: Style,
): string {
  const here = process.id === state.cursor;
  const gutter = `${here ? "▸" : " "}${state.marked.has(process.id) ? "*" : " "} `;
  const value = ({ value }: TableColumn) => value(process);
  if (here && state.focus === "table") {
    return style.cursor(
      pad(cut(gutter + cells(columns, value), state.columns), state.columns, "left"),
    );
  }
  const painted = cells(columns, value, (text, { paint }) => paint?.(text, process) ?? text);
  return cut(gutter + painted, state.columns);
}

function emptyLine({ processes, filter, columns }: TopState): string {
  const text = processes.length === 0
    ? "no apps yet: procsup start <script>"
    : `no process matches the filter "${filter}"`;
  return shorten(" ".repeat(GUTTER) + text, columns);
}

/** A column of fixed width, so that scrolling does not move it. */
interface TableColumn extends Column<ProcessJson> {
  readonly width: number;
  readonly align: "left" | "right";
  /** Sort key of this column. */
  readonly sort?: SortKey | undefined;
}

interface ColumnsFor {
  readonly processes: readonly ProcessJson[];
  readonly histories: Histories;
  readonly nameWidth: number;
  readonly color: boolean;
  /** Ports by app, if shown. */
  readonly ports: ReadonlyMap<string, readonly number[]> | undefined;
}

const SPARK = 8;
const NS_WIDTH = 12;
const MOST_PORTS = 20;

/** All columns, left to right. */
function tableColumns(given: ColumnsFor): readonly TableColumn[] {
  const { processes, nameWidth, color } = given;
  const most = processes.reduce((most, { numeric_id }) => Math.max(most, numeric_id), 0);
  return [
    column("ID", Math.max(2, String(most).length), "right", 4, (p) => String(p.numeric_id), "id"),
    column("NAME", nameWidth, "left", 0, ({ name }) => cleanLine(name), "name"),
    {
      ...column("STATE", 9, "left", 0, conditionOf, "state"),
      paint: (text, process) => paintState(text, conditionOf(process), color),
    },
    column("HEALTH", 9, "left", 5, healthWord),
    column("CPU", 6, "right", 1, whileUp((p) => `${p.cpu_percent.toFixed(1)}%`), "cpu"),
    column("", SPARK, "left", 9, cpuSpark(given)),
    column("MEM", 6, "right", 2, whileUp((p) => humanBytes(p.memory_bytes)), "mem"),
    column("", SPARK, "left", 10, memSpark(given)),
    column("RESTARTS", 8, "right", 3, ({ restarts }) => String(restarts), "restarts"),
    column("UPTIME", 6, "right", 2, whileUp((p) => humanDuration(p.uptime / 1e6)), "uptime"),
    column("PID", 7, "right", 6, whileUp(({ pid }) => String(pid))),
    ...(given.ports === undefined ? [] : [portsColumn(processes, given.ports)]),
    column("INST", 4, "right", 7, instanceOf(processes)),
    column("NS", NS_WIDTH, "left", 8, ({ namespace }) => cleanLine(namespace)),
  ];
}

/** As wide as the longest, up to a limit. */
function portsColumn(
  processes: readonly ProcessJson[],
  ports: ReadonlyMap<string, readonly number[]>,
): TableColumn {
  const text = ({ id }: ProcessJson) => ports.get(id)?.join(" ") ?? "-";
  const width = processes.reduce((most, process) => Math.max(most, text(process).length), 5);
  return column("PORTS", Math.min(MOST_PORTS, width), "left", 1, text);
}

function column(
  header: string,
  width: number,
  align: "left" | "right",
  priority: number,
  value: (process: ProcessJson) => string,
  sort?: SortKey,
): TableColumn {
  return { header, width, align, priority, value, sort };
}

function cpuSpark({ histories }: ColumnsFor): (process: ProcessJson) => string {
  return ({ id }) => sparkline((histories.get(id) ?? NO_HISTORY).cpu, SPARK, 100);
}

/** Memory has no natural maximum: use the highest reading plus a margin. */
function memSpark({ histories }: ColumnsFor): (process: ProcessJson) => string {
  return ({ id }) => {
    const mem = (histories.get(id) ?? NO_HISTORY).mem.slice(-SPARK);
    return sparkline(mem, SPARK, Math.max(...mem) * 1.25);
  };
}

function instanceOf(processes: readonly ProcessJson[]): (process: ProcessJson) => string {
  const counts = new Map<string, number>();
  for (const { name } of processes) {
    counts.set(baseName(name), (counts.get(baseName(name)) ?? 0) + 1);
  }
  return ({ name, instance_index }) => {
    const count = counts.get(baseName(name)) ?? 1;
    return name === baseName(name) ? "-" : `${instance_index + 1}/${count}`;
  };
}
