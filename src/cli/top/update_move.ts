/** Going up and down, wherever the keys are. Pure. */

import { paneHeight, tableHeight } from "./layout.ts";
import { scrolled } from "./log_view.ts";
import type { Wish } from "./messages.ts";
import type { TopState } from "./state.ts";

type By = Extract<Wish, { type: "move" }>["by"];

/** Further than anything is long. */
const FAR = 1_000_000;

/** The state with the cursor, the log, the details or the help moved. */
export function moved(state: TopState, by: By): TopState {
  if (state.help !== undefined) {
    return { ...state, help: Math.max(0, state.help + lines(by, state.rows - 4)) };
  }
  if (state.focus === "table" || state.pane === "graph") return withCursorMoved(state, by);
  const height = paneHeight(state);
  const step = lines(by, height);
  if (state.pane === "logs") return { ...state, log: scrolled(state.log, step, height) };
  // The view knows how long the details are, and stops at their end.
  return { ...state, scroll: Math.max(0, Math.min(FAR, state.scroll + step)) };
}

function withCursorMoved(state: TopState, by: By): TopState {
  const wanted = state.cursorAt + lines(by, tableHeight(state));
  const at = Math.max(0, Math.min(wanted, state.visible.length - 1));
  return { ...state, cursorAt: at, cursor: state.visible[at]?.id ?? "", scroll: 0 };
}

function lines(by: By, page: number): number {
  switch (by) {
    case "page":
      return Math.max(1, page - 1);
    case "-page":
      return -Math.max(1, page - 1);
    case "first":
      return -FAR;
    case "last":
      return FAR;
    default:
      return by;
  }
}
