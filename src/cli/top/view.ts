/** The state → the lines of the screen, each as wide as it at most. Pure. */

import { layoutOf, SMALLEST } from "./layout.ts";
import type { TopState } from "./state.ts";
import { type Style, styleOf } from "./style.ts";
import { cut } from "./text.ts";
import { detailLines } from "./view_details.ts";
import { footLine } from "./view_foot.ts";
import { graphLines } from "./view_graph.ts";
import { headLines } from "./view_head.ts";
import { helpLines } from "./view_help.ts";
import { logLines, logTitle } from "./view_logs.ts";
import { paneTitle } from "./view_title.ts";
import { tableRows } from "./view_table.ts";

/** Exactly as many lines as the screen has. */
export function view(state: TopState): string[] {
  const { columns, rows } = state;
  const style = styleOf(state.color);
  if (columns < SMALLEST.columns || rows < SMALLEST.rows) {
    return filled([cut(`${columns}×${rows} is too small, q quits`, columns)], rows);
  }
  if (state.help !== undefined) return filled(helpLines(state, style), rows);
  const { head, table, pane } = layoutOf(state);
  return [
    ...filled(headLines(state, head, style), head),
    ...filled(table > 0 ? tableRows(state, table, style) : [], table),
    ...filled(pane > 0 ? paneLines(state, pane, style) : [], pane),
    footLine(state, style),
  ];
}

function paneLines(state: TopState, height: number, style: Style): string[] {
  const { pane } = state;
  if (pane === "details") return detailLines(state, height, style);
  if (pane === "graph") return graphLines(state, height, style);
  return [paneTitle(logTitle(state), state, style), ...logLines(state, height - 1, style)];
}

function filled(lines: readonly string[], height: number): string[] {
  return Array.from({ length: height }, (_, index) => lines[index] ?? "");
}
