/** Carries out what the state of the feed asks for: the WebSocket, polling, signing in. */

import { announce } from "../shell/notices.ts";
import { ApiError, ask, call, jsonLines, send } from "./api.ts";
import { type FeedEffect, type FeedMessage, type Session, update } from "./feed_state.ts";
import { FeedSocket } from "./feed_socket.ts";
import { feed } from "./store.ts";
import { distrust, dropKey, ForeignError, hasSession } from "./tab_key.ts";
import { continueSession, keepPass, whenOthersSignIn } from "./tab_session.ts";
import { now } from "./time_range.ts";

/** How often the state looks at the time. */
const TICK_MS = 250;
/** Maximum wait for the session, and for figures while the page polls. */
const PATIENCE_MS = 8000;
/** Interval of the requests without a WebSocket. */
const EVERY_MS = 2000;

/** What belongs to the current attempt to connect; aborted by the next one. */
let current = new AbortController();

/** Connects, and reconnects after every loss. */
export function startFeed(): void {
  const seen = () => handle({ type: "seen" });
  addEventListener("online", seen);
  addEventListener("focus", seen);
  document.addEventListener("visibilitychange", () => document.hidden || seen());
  whenOthersSignIn(() => feed.value.connection === "signed_out" && seen());
  setInterval(() => handle({ type: "tick", now: now() }), TICK_MS);
  handle({ type: "connect" });
}

/** Reconnects at once if the connection is lost. */
export function retryNow(): void {
  handle({ type: "seen" });
}

function handle(message: FeedMessage): void {
  const { state, effects } = update(feed.value, message);
  feed.value = state;
  for (const effect of effects) carryOut(effect);
}

function carryOut(effect: FeedEffect): void {
  switch (effect.type) {
    case "close":
      return current.abort();
    case "announce":
      return announce(effect.text);
    case "sign_in":
      current = new AbortController();
      return void signIn(effect.attempt, current.signal);
    case "listen":
      return listen(effect.attempt, current.signal);
    case "poll":
      return poll(effect.attempt, current.signal);
  }
}

async function signIn(attempt: number, over: AbortSignal): Promise<void> {
  try {
    const session = await whoAmI(AbortSignal.any([over, AbortSignal.timeout(PATIENCE_MS)]));
    handle({ type: "signed_in", attempt, session, now: now() });
  } catch (error) {
    fail(attempt, error);
  }
}

function fail(attempt: number, error: unknown): void {
  const isForeign = error instanceof ForeignError;
  const how = isRefusal(error) ? "signed_out" : isForeign ? "foreign" : "lost";
  if (how !== "signed_out" && attempt === feed.value.attempt) distrust();
  handle({ type: "failed", attempt, how, now: now() });
}

/** The current session. Without one, continues that of this tab before a reload, or of another tab. */
async function whoAmI(signal: AbortSignal): Promise<Session> {
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

function listen(attempt: number, over: AbortSignal): void {
  const socket = new FeedSocket(over, {
    received: (message) => handle({ type: "received", attempt, message, now: now() }),
    lost: (error) => fail(attempt, error),
  });
  socket.subscribe(["events", "processes", "system_metrics"]);
}

/** Polls every two seconds, and receives events in between. */
function poll(attempt: number, over: AbortSignal): void {
  const receive = (message: Extract<FeedMessage, { type: "received" }>["message"]) =>
    handle({ type: "received", attempt, message, now: now() });
  const lost = (error?: unknown) => over.aborted || fail(attempt, error);
  const listen = async () => {
    for await (const batch of jsonLines(await send("/events", { signal: over }))) {
      for (const _ of batch) receive({ type: "event" });
    }
    lost();
  };
  const look = async () => {
    const signal = AbortSignal.any([over, AbortSignal.timeout(PATIENCE_MS)]);
    const [rows, metrics] = await Promise.all([
      call("list", undefined, signal),
      call("system_metrics", undefined, signal),
    ]);
    receive({ type: "system_metrics", metrics });
    receive({ type: "processes", all: true, rows, gone: [] });
  };
  // One at a time: a late answer must not follow a newer one.
  let looking: Promise<unknown> | undefined;
  const lookAgain = () => looking ??= look().catch(lost).finally(() => looking = undefined);
  const timer = setInterval(() => document.hidden || void lookAgain(), EVERY_MS);
  over.addEventListener("abort", () => clearInterval(timer));
  void lookAgain();
  listen().catch(lost);
}
