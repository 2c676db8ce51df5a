/** What the world tells → the next state. Pure. */

import { push, record } from "./history.ts";
import { append, emptied } from "./log_view.ts";
import type { Message, News } from "./messages.ts";
import type { TopState } from "./state.ts";

/** Pieces of news that are kept. */
const MAX_EVENTS = 200;

/** Readings closer together than this are one: a change asks for the list in between. */
const RECORD_EVERY_MS = 700;

/** How long a line about what was done is shown. */
const [NOTICE_MS, BAD_NOTICE_MS] = [4000, 10_000];

const NEWS: ReadonlySet<string> = new Set<News["type"]>(
  ["size", "tick", "list", "lost", "daemon", "event", "log", "ports", "why", "done"],
);

/** Whether a message is news, and no wish. */
export function isNews(message: Message): message is News {
  return NEWS.has(message.type);
}

/** The state after a piece of news. */
export function withNews(state: TopState, news: News): TopState {
  switch (news.type) {
    case "size":
      return { ...state, columns: news.columns, rows: news.rows };
    case "tick":
      return ticked(state, news);
    case "list":
      return listed(state, news);
    case "lost":
      return {
        ...state,
        now: news.now,
        lost: { since: state.lost?.since ?? news.now, reason: news.reason },
      };
    case "daemon":
      return { ...state, daemon: news.daemon };
    case "event":
      return { ...state, events: [...state.events.slice(1 - MAX_EVENTS), news.event] };
    case "log":
      return logged(state, news);
    case "ports":
      return {
        ...state,
        ports: new Map(news.ports.map(({ id, ports }) => [id, portNumbers(ports)])),
      };
    case "why":
      return { ...state, why: news.why };
    case "done":
      return noticed(state, news.text, news.bad);
  }
}

/** Lines of apps that are not looked at any more come to nothing. */
function logged(state: TopState, news: Extract<News, { type: "log" }>): TopState {
  const { source, begins, skipped, lines } = news;
  if (source !== state.log.source) return state;
  const log = begins ? { ...emptied(state.log, source), skipped } : state.log;
  return { ...state, log: append(log, lines) };
}

/** The state with a line about what was done. */
export function noticed(state: TopState, text: string, bad: boolean): TopState {
  return {
    ...state,
    notice: { text, bad, until: state.now + (bad ? BAD_NOTICE_MS : NOTICE_MS) },
  };
}

/** Once each, although an app may listen on several addresses. */
function portNumbers(ports: readonly { readonly port: number }[]): readonly number[] {
  return [...new Set(ports.map(({ port }) => port))];
}

function ticked(state: TopState, { now, host }: { now: number; host?: TopState["host"] }) {
  const over = state.notice !== undefined && now >= state.notice.until;
  return {
    ...state,
    now,
    notice: over ? undefined : state.notice,
    ...(host === undefined ? {} : { host, hostCpu: push(state.hostCpu, host.cpuPercent) }),
  };
}

function listed(
  state: TopState,
  { processes, now }: { processes: TopState["processes"]; now: number },
): TopState {
  const due = now - state.recordedAt >= RECORD_EVERY_MS;
  const ids = new Set(processes.map(({ id }) => id));
  const marked = [...state.marked].filter((id) => ids.has(id));
  return {
    ...state,
    now,
    lost: undefined,
    processes,
    marked: marked.length === state.marked.size ? state.marked : new Set(marked),
    ...(due ? { histories: record(state.histories, processes), recordedAt: now } : {}),
  };
}
