/** What happens → the next state, and what is to be done. Pure. */

import { chosen, current, type TopState } from "./state.ts";
import type { Effect, Message, Wish } from "./messages.ts";
import { settled } from "./settled.ts";
import { isNews, withNews } from "./update_news.ts";
import { moved } from "./update_move.ts";
import { withLog } from "./update_log.ts";
import { acting } from "./update_action.ts";
import { isTyping, typed } from "./update_prompt.ts";
import { SORT_KEYS } from "./sort.ts";

/** A state, and what the edge is to do for it. */
export interface Update {
  readonly state: TopState;
  readonly effects: readonly Effect[];
}

/** The one function by which the state changes. */
export function update(state: TopState, message: Message): Update {
  if (isNews(message)) return { state: settled(withNews(state, message)), effects: [] };
  const { state: next, effects } = wished(state, message);
  return { state: settled(next), effects };
}

function wished(state: TopState, wish: Wish): Update {
  if (isTyping(wish)) {
    const { state: next, then } = typed(state, wish);
    if (then === undefined) return { state: next, effects: [] };
    return "targets" in then
      ? { state: next, effects: [{ type: "act", action: then }] }
      : wished(next, then);
  }
  if (wish.type === "do") return acting(state, wish);
  if (wish.type === "quit" || wish.type === "redraw") return { state, effects: [wish] };
  return { state: changed(state, wish), effects: [] };
}

type Change = Exclude<Wish, { type: "do" | "quit" | "redraw" } | Parameters<typeof typed>[1]>;

function changed(state: TopState, wish: Change): TopState {
  switch (wish.type) {
    case "move":
      return moved(state, wish.by);
    case "side":
    case "switch":
    case "find":
      return withLog(state, wish);
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
      return opened(state, wish);
    case "focus":
      return state.pane === "none" ? state : { ...state, focus: "pane" };
    case "zoom":
      return state.pane === "none" ? state : { ...state, zoomed: !state.zoomed };
    case "ports_column":
      return { ...state, portsColumn: !state.portsColumn };
    case "grow":
      return { ...state, paneGrown: Math.max(-20, Math.min(20, state.paneGrown + wish.by)) };
    case "sort":
      return { ...state, sort: { key: wish.key ?? nextKey(state), reverse: false } };
    case "reverse":
      return { ...state, sort: { ...state.sort, reverse: !state.sort.reverse } };
    case "ask":
      return asked(state, wish.what);
    case "help":
      return { ...state, help: state.help === undefined ? 0 : undefined };
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

/** One step at a time: out of the pane, marks, filter, and the pane itself. */
function back(state: TopState): TopState {
  if (state.focus === "pane" || state.zoomed) return { ...state, focus: "table", zoomed: false };
  if (state.notice?.bad) return { ...state, notice: undefined };
  if (state.marked.size > 0) return { ...state, marked: new Set() };
  if (state.filter !== "") return { ...state, filter: "" };
  return { ...state, pane: "none" };
}

/** The same key again closes what it opened: logs come back instead of details and graph. */
function opened(state: TopState, { pane, focus }: { pane: TopState["pane"]; focus?: boolean }) {
  const shown: TopState = { ...state, scroll: 0, help: undefined };
  if (focus) return { ...shown, pane, focus: "pane" as const };
  if (pane === "none") return { ...shown, pane, focus: "table" as const, zoomed: false };
  return { ...shown, pane: state.pane === pane ? "logs" as const : pane };
}

function asked(state: TopState, what: "filter" | "search" | "palette" | "signal"): TopState {
  if (what === "signal" && chosen(state).length === 0) return state;
  if (what === "search" && state.pane !== "logs") return state;
  const before = what === "filter" ? state.filter : what === "search" ? state.log.search : "";
  const text = what === "filter" ? before : "";
  return { ...state, notice: undefined, prompt: { type: what, text, before } };
}
