/** Keeps the dashboard up to date: the WebSocket, its recovery, and the full list when it is needed. */

import type { LogLine, LogStart } from "../../../../model/log_line.ts";
import type { LogRequest } from "../../../../protocol/wire.ts";
import { sleep } from "../../../../platform/clock.ts";
import { ApiError, type Ask, ask, endOfStream, jsonLines, send } from "./api.ts";
import { happened, loadRecent } from "./past.ts";
import {
  connection,
  lastMessageAt,
  type Session,
  session,
  type SystemMetrics,
  takeItems,
  takeList,
  takeMetrics,
} from "./store.ts";
import { authorizationFor, distrust, dropKey, ForeignError, hasSession } from "./tab_key.ts";
import { continueSession, keepPass, whenOthersSignIn } from "./tab_session.ts";
import { now } from "./time_range.ts";
import type { ProcessJson } from "../../../../protocol/wire.ts";

const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 10_000;
/** A WebSocket without a message for this long is lost, also while it opens. One comes every 2 s. */
const SILENCE_MS = 8000;
/** Timeout of the full list, after which it is requested again. */
const PATIENCE_MS = 30_000;
const REFRESH_MS = 150;

/** Interval of the requests without a WebSocket. */
const EVERY_MS = 2000;
/** Timeout of the figures, after which the stream is lost. */
const FIGURES_PATIENCE_MS = 8000;

/** Maximum length of a message. The daemon closes a connection with a longer one than 64 KiB. */
const MAX_MESSAGE = 60_000;

/** After this many WebSockets that failed to open, the page polls instead. */
const MAX_REFUSALS = 2;

/** Delivers messages until it is closed. */
interface Stream {
  close(): void;
}

let stream: Stream | undefined;
/** Aborted by the next attempt to connect: only one of them may open a stream. */
let attempt = new AbortController();
/** The open WebSocket; undefined before that, and while the page polls. */
let open: WebSocket | undefined;
/** The readers of the open logs, by id. */
const logs = new Map<number, ReadableStreamDefaultController<readonly (LogLine | LogStart)[]>>();
let lastLog = 0;
/** Time of the last message, or of the opening of the WebSocket. */
let heardAt = 0;
/** Number of consecutive WebSockets that failed to open. */
let refusals = 0;
/** Loaded once per page. */
let pastLoaded: Promise<void> | undefined;
let wait = FIRST_WAIT_MS;
let retry: ReturnType<typeof setTimeout> | undefined;
/** True if something happened since the full list was requested. */
let isStale = false;
let isRefreshing = false;

/** Connects, and reconnects after every loss. */
export function startFeed(): void {
  addEventListener("online", retryNow);
  document.addEventListener("visibilitychange", () => document.hidden || seenAgain());
  addEventListener("focus", seenAgain);
  whenOthersSignIn(() => connection.value === "signed_out" && seenAgain());
  void connect();
}

/** Reconnects at once if the connection is lost. */
export function retryNow(): void {
  if (connection.value !== "lost" && connection.value !== "foreign") return;
  clearTimeout(retry);
  wait = FIRST_WAIT_MS;
  void connect();
}

/** Called when the page becomes visible or focused. The user may have signed in elsewhere. */
function seenAgain(): void {
  if (connection.value === "signed_out") void whoAmI().then(connect, () => {});
  else retryNow();
}

/** The current session. Without one, continues that of this tab before a reload, or of another tab. */
async function whoAmI(signal?: AbortSignal): Promise<Session> {
  distrust();
  if (hasSession()) {
    try {
      const found = await ask<Session>("/session", { signal });
      // The daemon may have begun to listen anew.
      void keepPass().catch(() => {});
      return found;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      dropKey();
    }
  }
  await continueSession();
  return await ask<Session>("/session", { signal });
}

function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 401 || error.status === 403);
}

/** Fetches the full list soon. Calls within `REFRESH_MS`, or during a request, cause one request. */
export function refreshSoon(): void {
  isStale = true;
  if (!isRefreshing) void refresh();
}

async function refresh(): Promise<void> {
  isRefreshing = true;
  while (isStale) {
    await sleep(REFRESH_MS);
    isStale = false;
    const signal = AbortSignal.timeout(PATIENCE_MS);
    await ask<ProcessJson[]>("/processes", { signal }).then(takeList, () => {});
  }
  isRefreshing = false;
}

async function connect(): Promise<void> {
  close();
  const mine = attempt = new AbortController();
  const signal = AbortSignal.any([mine.signal, AbortSignal.timeout(PATIENCE_MS)]);
  try {
    session.value = await whoAmI(signal);
    // Both at once: the page must not move under the pointer when the second arrives.
    const [list, host] = await fetchState({ signal });
    signal.throwIfAborted();
    takeMetrics(host);
    takeList(list);
  } catch (error) {
    if (mine.signal.aborted) return;
    if (isRefusal(error)) connection.value = "signed_out";
    else lost(error instanceof ForeignError ? "foreign" : "lost");
    return;
  }
  void (pastLoaded ??= loadRecent());
  happened.value++;
  // Some proxies block WebSockets: poll instead.
  if (refusals >= MAX_REFUSALS) stream = poll();
  else stream = listen();
}

/** All processes and the host's figures, asked for together. */
function fetchState(
  options: { readonly signal: AbortSignal },
): Promise<[ProcessJson[], SystemMetrics]> {
  return Promise.all([
    ask<ProcessJson[]>("/processes", options),
    ask<SystemMetrics>("/system/metrics", options),
  ]);
}

/**
 * Reads or follows logs. All logs share one WebSocket, since a browser has only six connections to a
 * host for all its tabs, unless the positions of thousands are too long for a message. The stream fails
 * if the connection is lost.
 */
export async function readLogs(
  query: LogRequest,
  signal: AbortSignal,
): Promise<AsyncIterable<readonly (LogLine | LogStart)[]>> {
  signal.throwIfAborted();
  const socket = open;
  const id = ++lastLog;
  const message = JSON.stringify({ type: "open_log", id, ...query });
  if (socket === undefined || message.length > MAX_MESSAGE) {
    const { from, before, ...rest } = query;
    const params = new URLSearchParams(
      Object.entries(rest).flatMap(([key, value]) =>
        [value].flat().filter((one) => one !== undefined).map((one) => [key, String(one)])
      ),
    );
    const body = { from, before };
    const how: Ask = from || before ? { method: "POST", body } : {};
    return jsonLines<LogLine | LogStart>(await send(`/logs?${params}`, { ...how, signal }));
  }
  return new ReadableStream({
    start(lines) {
      logs.set(id, lines);
      socket.send(message);
      signal.addEventListener("abort", () => {
        if (!logs.delete(id)) return;
        lines.error(signal.reason);
        if (socket === open) socket.send(JSON.stringify({ type: "close_log", id }));
      });
    },
  });
}

/** Handles a message about an open log. The last message closes the log. */
function takeLines(message: Readonly<Record<string, unknown>>): void {
  const { type, id, lines, error, code } = message;
  const log = logs.get(Number(id));
  if (type === "log") return log?.enqueue(lines as LogLine[]);
  if (type === "log_start") return log?.enqueue([message as unknown as LogStart]);
  logs.delete(Number(id));
  if (type === "error") log?.error(endOfStream({ error, code }));
  else log?.close();
}

function listen(): Stream {
  const socket = new WebSocket(new URL("ws", location.href.replace(/^http/, "ws")));
  let isOver = false;
  refusals++;
  heardAt = Date.now();
  const timer = setInterval(() => Date.now() - heardAt > SILENCE_MS && lost(), 1000);
  socket.addEventListener("open", async () => {
    refusals = 0;
    const request = { method: "GET", path: "/ws", body: "" };
    const authorization = await authorizationFor(request).catch(() => lost());
    if (isOver || authorization === undefined) return;
    open = socket;
    socket.send(JSON.stringify({ type: "session", authorization }));
    socket.send(JSON.stringify({ type: "subscribe", topics: ["events", "system_metrics"] }));
  });
  socket.addEventListener("message", ({ data }) => isOver || receive(JSON.parse(String(data))));
  socket.addEventListener("close", () => isOver || lost());
  return { close: () => (isOver = true, clearInterval(timer), socket.close()) };
}

/** Polls every two seconds, and receives events in between. */
function poll(): Stream {
  const over = new AbortController();
  const { signal } = over;
  const listen = async () => {
    for await (const batch of jsonLines(await send("/events", { signal }))) {
      for (const event of batch) receive({ type: "event", event });
    }
    lost();
  };
  const look = async () => {
    const each = { signal: AbortSignal.any([signal, AbortSignal.timeout(FIGURES_PATIENCE_MS)]) };
    try {
      const [processes, metrics] = await fetchState(each);
      receive({ type: "process_list", processes });
      receive({ type: "system_metrics", metrics });
    } catch {
      if (!signal.aborted) lost();
    }
  };
  // One at a time: a late answer must not follow a newer one.
  let looking: Promise<void> | undefined;
  const lookAgain = () => looking ??= look().finally(() => looking = undefined);
  const timer = setInterval(() => document.hidden || void lookAgain(), EVERY_MS);
  void lookAgain();
  listen().catch(() => signal.aborted || lost());
  return {
    close() {
      over.abort();
      clearInterval(timer);
    },
  };
}

function lost(how: "lost" | "foreign" = "lost"): void {
  close();
  distrust();
  connection.value = how;
  clearTimeout(retry);
  retry = setTimeout(() => void connect(), wait * (0.75 + Math.random() / 2));
  wait = Math.min(wait * 2, MAX_WAIT_MS);
}

function close(): void {
  attempt.abort();
  for (const log of logs.values()) log.error(new Error("The connection is lost"));
  logs.clear();
  open = undefined;
  const old = stream;
  stream = undefined;
  old?.close();
}

function receive(message: Readonly<Record<string, unknown>>): void {
  heardAt = Date.now();
  lastMessageAt.value = now();
  wait = FIRST_WAIT_MS;
  connection.value = "live";
  if ("id" in message) return takeLines(message);
  if (message.type === "process_list") {
    if (takeItems(message.processes as Partial<ProcessJson>[])) refreshSoon();
  } else if (message.type === "system_metrics") takeMetrics(message.metrics as SystemMetrics);
  else if (message.type === "event") {
    happened.value++;
    // The feed does not include health, reasons and configurations.
    refreshSoon();
  }
}
