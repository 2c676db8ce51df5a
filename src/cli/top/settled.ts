/** Whatever happened, the cursor is on an app that is there and all that is scrolled is in range. Pure. */

import { parseFilter } from "./filter.ts";
import { paneHeight, tableHeight } from "./layout.ts";
import { emptied, inRange, sourceKey } from "./log_view.ts";
import { sorted } from "./sort.ts";
import type { TopState } from "./state.ts";
import { wantedLogs } from "./wanted.ts";

/** The state with everything that follows from the rest. */
export function settled(state: TopState): TopState {
  return withLogInRange(withCursor(withVisible(state)));
}

/** What the list was made of last, so that a key that changes nothing of it does not sort a thousand apps. */
const made = new WeakMap<readonly unknown[], { filter: string; sort: unknown; from: unknown }>();

function withVisible(state: TopState): TopState {
  const { processes, filter, sort, visible } = state;
  const last = made.get(visible);
  if (last?.from === processes && last.filter === filter && last.sort === sort) return state;
  const fresh = sorted(processes.filter(parseFilter(filter)), sort);
  made.set(fresh, { from: processes, filter, sort });
  return { ...state, visible: fresh };
}

/** The cursor stays with its app, or at its place when the app is gone. */
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
