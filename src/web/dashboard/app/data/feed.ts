/** Keeps the dashboard up to date: the WebSocket, its recovery, and the full list when it is needed. */

import { ApiError, ask } from "./api.ts";
import { addMissed, takeEvent } from "./news.ts";
import { loadRecent } from "./past.ts";
import { poll, type Stream } from "./poll.ts";
import { askOtherTabs, secretOfTab } from "./session_secret.ts";
import { connection, lastMessageAt, session, takeItems, takeList, takeMetrics } from "./store.ts";
import type { ProcessJson, Session, SystemMetrics } from "./types.ts";

const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 10_000;
/** Without a message for so long a stream counts as lost, be it still opening: one comes every 2 s. */
const SILENCE_MS = 8000;
/** How long the full list may take before it is asked for anew. */
const PATIENCE_MS = 30_000;
const REFRESH_MS = 150;

/** So many WebSockets that do not even open are taken for a sign that none will. */
const MAX_REFUSALS = 2;

let stream: Stream | undefined;
/** When the stream was opened, or its last message came. */
let heardAt = 0;
/** How many in a row did not open. */
let refusals = 0;
/** Once in the life of the page. */
let pastLoaded: Promise<void> | undefined;
let wait = FIRST_WAIT_MS;
let retry: ReturnType<typeof setTimeout> | undefined;
let refreshing: ReturnType<typeof setTimeout> | undefined;

/** Connects, and stays connected from now on. */
export function startFeed(): void {
  setInterval(() => {
    if (stream !== undefined && Date.now() - heardAt > SILENCE_MS) lost();
  }, 1000);
  addEventListener("online", retryNow);
  document.addEventListener("visibilitychange", () => document.hidden || seenAgain());
  addEventListener("focus", seenAgain);
  void connect();
}

/** Tries again at once, when the connection is lost. */
export function retryNow(): void {
  if (connection.value !== "lost") return;
  clearTimeout(retry);
  wait = FIRST_WAIT_MS;
  void connect();
}

/** Somebody who was signed out may have signed in elsewhere meanwhile. */
function seenAgain(): void {
  if (connection.value === "signed_out") void whoAmI().then(connect, () => {});
  else retryNow();
}

/** Who is signed in. A tab that is not may get what it takes from another one. */
async function whoAmI(signal?: AbortSignal): Promise<Session> {
  const how = signal === undefined ? {} : { signal };
  try {
    return await ask<Session>("/session", how);
  } catch (error) {
    if (!isRefusal(error) || !await askOtherTabs()) throw error;
    return await ask<Session>("/session", how);
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 401 || error.status === 403);
}

/** Fetches the full list soon; calls within a moment are one. */
export function refreshSoon(): void {
  refreshing ??= setTimeout(() => {
    refreshing = undefined;
    refresh().catch(() => {});
  }, REFRESH_MS);
}

async function refresh(signal?: AbortSignal): Promise<readonly ProcessJson[]> {
  const list = await ask<ProcessJson[]>("/processes", signal && { signal });
  takeList(list);
  return list;
}

async function connect(): Promise<void> {
  close();
  const signal = AbortSignal.timeout(PATIENCE_MS);
  try {
    session.value = await whoAmI(signal);
    addMissed(await refresh(signal));
  } catch (error) {
    if (isRefusal(error)) connection.value = "signed_out";
    else lost();
    return;
  }
  void (pastLoaded ??= loadRecent());
  heardAt = Date.now();
  // Some proxies let no WebSocket through; what it tells can be asked for as well.
  if (refusals >= MAX_REFUSALS) stream = poll({ receive, fail: lost });
  else stream = listen();
}

function listen(): Stream {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(`${scheme}//${location.host}/ws`);
  let isOver = false;
  refusals++;
  socket.addEventListener("open", () => {
    wait = FIRST_WAIT_MS;
    refusals = 0;
    const secret = secretOfTab();
    if (secret !== undefined) socket.send(JSON.stringify({ type: "session", secret }));
    socket.send(JSON.stringify({ type: "subscribe", topics: ["events", "system_metrics"] }));
  });
  socket.addEventListener("message", ({ data }) => isOver || receive(JSON.parse(String(data))));
  socket.addEventListener("close", () => isOver || lost());
  return { close: () => (isOver = true, socket.close()) };
}

function lost(): void {
  close();
  connection.value = "lost";
  clearTimeout(retry);
  retry = setTimeout(() => void connect(), wait * (0.75 + Math.random() / 2));
  wait = Math.min(wait * 2, MAX_WAIT_MS);
}

function close(): void {
  const old = stream;
  stream = undefined;
  old?.close();
}

function receive(message: Readonly<Record<string, unknown>>): void {
  heardAt = lastMessageAt.value = Date.now();
  connection.value = "live";
  if (message.type === "process_list") {
    if (takeItems(message.processes as Partial<ProcessJson>[])) refreshSoon();
  } else if (message.type === "system_metrics") takeMetrics(message.metrics as SystemMetrics);
  else if (message.type === "event") takeChange(message.event as ChangeMessage);
}

interface ChangeMessage {
  readonly type: string;
  readonly at: string;
  readonly name: string;
  readonly reason?: string;
}

function takeChange({ type, at, name, reason = "" }: ChangeMessage): void {
  takeEvent({ type, at: Date.parse(at), name, reason });
  // Health, reasons and configurations are not among the items of the feed.
  refreshSoon();
}
