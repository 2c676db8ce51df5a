/** Where each part of the screen goes. Pure. */

import type { TopState } from "./state.ts";

/** Lines of each part; 0 for one that is not shown. */
export interface Layout {
  /** About the machine, and about the apps together. */
  readonly head: number;
  /** The header of the table and its rows. */
  readonly table: number;
  /** The pane with its title. */
  readonly pane: number;
}

/** Smaller than this, nothing can be read. */
export const SMALLEST = { columns: 20, rows: 5 } as const;

const LEAST_TABLE = 4;
const LEAST_PANE = 3;
const FOOT = 1;

/** The parts on a screen of that size. Few apps leave more to the pane. */
export function layoutOf(
  state: Pick<TopState, "rows" | "visible" | "pane" | "zoomed" | "paneGrown" | "focus">,
): Layout {
  const { rows, visible, pane, zoomed, paneGrown, focus } = state;
  const head = rows >= 12 ? 2 : 1;
  const body = rows - head - FOOT;
  if (pane === "none") return { head, table: body, pane: 0 };
  if (zoomed) return { head, table: 0, pane: body };
  // Where there is no room for both, the keys say which is meant.
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
