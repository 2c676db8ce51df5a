/** Keys of the log pane. Pure. */

import { paneHeight } from "./layout.ts";
import { bottomOf, found } from "./log_view.ts";
import type { Wish } from "./messages.ts";
import type { TopState } from "./state.ts";
import { noticed } from "./update_news.ts";

type LogWish = Extract<Wish, { type: "side" | "switch" | "find" }>;

/** The state with the log pane looked at in another way. Nothing in the other panes. */
export function withLog(state: TopState, wish: LogWish): TopState {
  if (state.pane !== "logs") return state;
  const { log } = state;
  switch (wish.type) {
    case "side":
      return { ...state, log: { ...log, left: Math.max(0, log.left + wish.by), wrap: false } };
    case "find":
      return searched(state, wish.step);
    case "switch":
      return { ...state, log: switched(log, wish.what) };
  }
}

/** The state at the next match; says so when there is none. */
export function searched(state: TopState, step: 1 | -1, inclusive = false): TopState {
  if (state.log.search === "") return noticed(state, "Nothing to search for: press / first", true);
  const log = found(state.log, step, { height: paneHeight(state), inclusive });
  if (log !== undefined) return { ...state, log };
  return noticed(state, `Not found: "${state.log.search}"`, true);
}

function switched(log: TopState["log"], what: "follow" | "wrap" | "times" | "stderr") {
  switch (what) {
    case "follow":
      return { ...log, bottom: log.bottom === null ? bottomOf(log) : null, hit: null };
    case "wrap":
      return { ...log, wrap: !log.wrap, left: 0 };
    case "times":
      return { ...log, times: !log.times };
    case "stderr":
      return { ...log, stderr: !log.stderr };
  }
}
