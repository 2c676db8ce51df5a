/** The state of the dashboard's connection and what came over it, and the messages that change it. Pure. */

import { type RowChanges, type Rows, withChanges } from "../../../../protocol/row_changes.ts";
import type { Role } from "../../../../verbs/verb.ts";
import type { ProcessJson, SystemMetricsJson } from "../../../../protocol/wire.ts";
import { HOST, keepOnly, type Sample, type Samples, withSamples } from "../process/history.ts";

/** `GET /system/metrics`. Unavailable figures are missing. */
export type SystemMetrics =
  & Partial<Omit<SystemMetricsJson, "daemon">>
  & { readonly daemon?: Partial<SystemMetricsJson["daemon"]> };

export interface Session {
  readonly name: string;
  readonly role: Role;
}

/** `foreign`: another program answers at the daemon's address. */
export type Connection = "connecting" | "live" | "lost" | "foreign" | "signed_out";

export interface FeedState {
  readonly connection: Connection;
  readonly session: Session | undefined;
  /** Null before the first answer. */
  readonly processes: Rows | null;
  readonly metrics: SystemMetrics | undefined;
  readonly samples: Samples;
  /** Time of the last message. All times are the daemon's, in milliseconds since the epoch. */
  readonly heardAt: number;
  /** Number of events so far: earlier answers about the past are out of date. */
  readonly happened: number;
  /** Number of the attempt to connect. What belongs to an earlier one is ignored. */
  readonly attempt: number;
  /** How messages come; undefined while there is no connection. */
  readonly way: "socket" | "poll" | undefined;
  /** Whether a message has come this way, and since when it is tried. */
  readonly isProven: boolean;
  readonly since: number;
  /** Number of consecutive WebSockets that brought no message. */
  readonly refusals: number;
  /** Time of the next attempt, and how long it waits after a failure. */
  readonly retryAt: number | undefined;
  readonly waitMs: number;
}

export type FeedMessage =
  /** The user or the browser says that it may work now. */
  | { readonly type: "connect" }
  | { readonly type: "seen" }
  | { readonly type: "tick"; readonly now: number }
  | {
    readonly type: "signed_in";
    readonly attempt: number;
    readonly session: Session;
    readonly now: number;
  }
  | {
    readonly type: "failed";
    readonly attempt: number;
    readonly how: "lost" | "foreign" | "signed_out";
    readonly now: number;
  }
  | {
    readonly type: "received";
    readonly attempt: number;
    readonly message: PushedMessage;
    readonly now: number;
  };

/** What the daemon pushes, or answers while the page polls. Others are ignored. */
export type PushedMessage =
  | { readonly type: "processes" } & RowChanges
  | { readonly type: "system_metrics"; readonly metrics: SystemMetrics }
  | { readonly type: "event" | "subscribed" | "process_list" };

/** What the caller has to do. */
export type FeedEffect =
  | { readonly type: "close" }
  | { readonly type: "sign_in" | "listen" | "poll"; readonly attempt: number }
  | { readonly type: "announce"; readonly text: string };

interface Update {
  readonly state: FeedState;
  readonly effects: readonly FeedEffect[];
}

/** A daemon that is back is seen within two seconds: its answer takes a moment, too. */
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 1500;
/** A WebSocket without a message for this long is lost. One comes every 2 s, the first at once. */
const SILENCE_MS = 8000;
const FIRST_SILENCE_MS = 3000;
/** After this many WebSockets that brought nothing, the page polls: some proxies block them. */
const MAX_REFUSALS = 2;

export const INITIAL_STATE: FeedState = {
  connection: "connecting",
  session: undefined,
  processes: null,
  metrics: undefined,
  samples: new Map(),
  heardAt: 0,
  happened: 0,
  attempt: 0,
  way: undefined,
  isProven: false,
  since: 0,
  refusals: 0,
  retryAt: undefined,
  waitMs: FIRST_WAIT_MS,
};

/** Applies a message. Only this function changes the state. */
export function update(state: FeedState, message: FeedMessage): Update {
  if ("attempt" in message && message.attempt !== state.attempt) return { state, effects: [] };
  switch (message.type) {
    case "connect":
      return connecting(state);
    case "seen":
      // The user may have signed in elsewhere.
      return state.connection === "signed_out" || isLost(state)
        ? connecting({ ...state, waitMs: FIRST_WAIT_MS })
        : { state, effects: [] };
    case "tick":
      return ticked(state, message.now);
    case "signed_in":
      return signedIn(state, message);
    case "failed":
      return failed(state, message);
    case "received":
      return received(state, message);
  }
}

/** True without a connection to the daemon, after there was or should have been one. */
export function isLost({ connection }: Pick<FeedState, "connection">): boolean {
  return connection === "lost" || connection === "foreign";
}

function connecting(state: FeedState): Update {
  const attempt = state.attempt + 1;
  return {
    state: { ...state, attempt, way: undefined, retryAt: undefined },
    effects: [{ type: "close" }, { type: "sign_in", attempt }],
  };
}

function signedIn(
  state: FeedState,
  { session, now, attempt }: { session: Session; now: number; attempt: number },
): Update {
  const way = state.refusals < MAX_REFUSALS ? "socket" : "poll";
  return {
    state: { ...state, session, way, isProven: false, since: now },
    effects: [{ type: way === "socket" ? "listen" : "poll", attempt }],
  };
}

function ticked(state: FeedState, now: number): Update {
  if (state.retryAt !== undefined && now >= state.retryAt) return connecting(state);
  const { way, isProven, heardAt, since } = state;
  const isSilent = way === "socket" &&
    now - (isProven ? heardAt : since) > (isProven ? SILENCE_MS : FIRST_SILENCE_MS);
  return isSilent ? failed(state, { how: "lost", now }) : { state, effects: [] };
}

function failed(
  state: FeedState,
  { how, now }: { how: "lost" | "foreign" | "signed_out"; now: number },
): Update {
  // Another attempt than that of the page that asks to sign in, such as when it is seen again.
  if (state.connection === "signed_out") return { state, effects: [{ type: "close" }] };
  if (how === "signed_out") {
    return { state: { ...state, connection: how, way: undefined }, effects: [{ type: "close" }] };
  }
  if (state.way === "socket" && !state.isProven) {
    const refusals = state.refusals + 1;
    // The daemon has just answered: it is the WebSocket alone that fails.
    if (refusals <= MAX_REFUSALS) return connecting({ ...state, refusals });
  }
  const waitMs = Math.min(state.waitMs * 2, MAX_WAIT_MS);
  return {
    state: {
      ...state,
      ...{ connection: how, way: undefined, attempt: state.attempt + 1 },
      ...{ retryAt: now + state.waitMs, waitMs },
    },
    effects: [{ type: "close" }],
  };
}

function received(
  before: FeedState,
  { message, now }: { message: PushedMessage; now: number },
): Update {
  const isBack = before.connection !== "live";
  const happened = before.happened + (isBack || message.type === "event" ? 1 : 0);
  const state: FeedState = {
    ...before,
    ...{ connection: "live", heardAt: now, waitMs: FIRST_WAIT_MS, happened },
    ...{ isProven: true, refusals: before.way === "socket" ? 0 : before.refusals },
  };
  if (message.type === "processes") return withRows(state, message, now);
  if (message.type !== "system_metrics") return { state, effects: [] };
  const { metrics } = message;
  const { cpu_percent: cpu, used_memory: memory, cpu_load_1: load } = metrics;
  const samples = withSamples(state.samples, [[HOST, { at: now, cpu, memory, load } as Sample]]);
  return { state: { ...state, metrics, samples }, effects: [] };
}

function withRows(state: FeedState, changes: RowChanges, now: number): Update {
  const before: Rows = state.processes ?? new Map();
  const isChange = changes.all || changes.rows.length + changes.gone.length > 0;
  const processes = isChange || state.processes === null ? withChanges(before, changes) : before;
  const added = [...processes.values()].filter(({ pid }) => pid !== 0)
    .map(({ id, cpu_percent: cpu, memory_bytes: memory, fds, threads }) =>
      [id, { at: now, cpu, memory, fds, threads }] as const
    );
  return {
    state: {
      ...state,
      processes,
      samples: withSamples(keepOnly(state.samples, processes), added),
    },
    effects: changes.rows.flatMap(({ id }) => announcementOf(before.get(id), processes.get(id)!)),
  };
}

function announcementOf(old: ProcessJson | undefined, { name, state }: ProcessJson): FeedEffect[] {
  if (old === undefined || old.state === state) return [];
  return [{ type: "announce", text: `${name} is ${state}` }];
}
