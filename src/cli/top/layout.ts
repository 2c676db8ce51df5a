/** Where each part of the screen goes. Pure. */

import type { TopState } from "./state.ts";

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
