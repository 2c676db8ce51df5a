/** The two ways to a daemon, as the client sees them. */

import type { Action, ActionMap } from "../protocol/actions.ts";
import type { ProcessJson } from "../protocol/process_json.ts";

/** Ends the waiting; what the daemon has begun goes on. */
export interface CallOptions {
  /** Aborted, the promise is rejected with its reason. */
  readonly signal?: AbortSignal;
}

/** Verbs of which every way gives the daemon's own answer. */
type AsAnswered = Extract<
  Action,
  | "ping"
  | "list"
  | "status"
  | "why"
  | "history"
  | "wait"
  | "logs"
  | "reconfigure"
  | "scale"
  | "cron_list"
  | "cron_start"
  | "cron_stop"
  | "cron_run"
  | "system_metrics"
  | "system_info"
  | "ports"
  | "save"
  | "resurrect"
>;

/** Verbs of which all that counts is whether they worked for all. */
type Done = Extract<
  Action,
  "stop" | "restart" | "reload" | "rolling_reload" | "signal" | "flush" | "delete"
>;

/** The verbs of a client, and the one of their answers that it needs. */
export type ClientActions =
  & { readonly [A in AsAnswered]: ActionMap[A]["data"] }
  & { readonly [A in Done]: void }
  & { readonly start: ProcessJson };

/** One of them. */
export type ClientAction = keyof ClientActions;

/** What a verb is told, in wire form. What is undefined was not given. */
export type Payload = Readonly<Record<string, unknown>>;

/** A way to a daemon. Throws `ProcsupError`. */
export interface Transport {
  /** Carries out a verb; one on several processes throws what went wrong for the first that failed. */
  call<A extends ClientAction>(
    action: A,
    payload: Payload,
    options: CallOptions,
  ): Promise<ClientActions[A]>;
  /** A stream of one JSON value a line. */
  stream(
    what: "events" | "logs",
    query: URLSearchParams,
    options: CallOptions,
  ): Promise<ReadableStream<Uint8Array>>;
}
