/** The table of apps. Pure. */

import type { ProcessJson } from "../../protocol/process_json.ts";
import { pad, textWidth } from "../text_width.ts";
import type { TopState } from "./state.ts";
import type { Style } from "./style.ts";
import { type TableColumn, tableColumns } from "./table_columns.ts";
import { cut, shorten } from "./text.ts";

const GAP = "  ";
/** The cursor, the mark and a blank. */
const GUTTER = 3;
const LEAST_NAME = 8;

/** The header, and as many rows as fit below it. */
export function tableRows(state: TopState, height: number, style: Style): string[] {
  const columns = fittingColumns(state);
  const header = shorten(" ".repeat(GUTTER) + cells(columns, headerOf(state)), state.columns);
  const rows = state.visible.slice(state.offset, state.offset + height - 1)
    .map((process) => row(process, columns, state, style));
  return [style.bold(header), ...(rows.length > 0 ? rows : [emptyLine(state)])];
}

/** The columns that are left when the least important ones went; names take what is left over. */
function fittingColumns(state: TopState): readonly TableColumn[] {
  const { processes, visible, histories, color, portsColumn } = state;
  const ports = portsColumn ? state.ports : undefined;
  const longest = visible.reduce((most, { name }) => Math.max(most, textWidth(name)), LEAST_NAME);
  const room = state.columns - GUTTER;
  const nameWidth = Math.min(longest, Math.max(LEAST_NAME, Math.floor(room / 3)));
  let columns = tableColumns({ processes, histories, nameWidth, color, ports }).map((column) => ({
    ...column,
    width: Math.max(column.width, headerOf(state)(column).length),
  }));
  while (widthOf(columns) > room) {
    const worst = Math.max(...columns.map(({ priority }) => priority));
    if (worst === 0) break;
    columns = columns.filter(({ priority }) => priority !== worst);
  }
  const name = Math.max(1, Math.min(longest, nameWidth + room - widthOf(columns)));
  return columns.map((column) => column.header === "NAME" ? { ...column, width: name } : column);
}

function widthOf(columns: readonly TableColumn[]): number {
  return columns.reduce((sum, { width }) => sum + width + GAP.length, -GAP.length);
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
    : `nothing passes the filter "${filter}"`;
  return shorten(" ".repeat(GUTTER) + text, columns);
}
