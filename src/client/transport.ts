/** The two ways to a daemon, as the client sees them. */

import type { ProcessJson } from "../protocol/process_json.ts";
import type { Action, ActionMap } from "../protocol/actions.ts";

/** Ends the waiting; what the daemon has begun goes on. */
export interface CallOptions {
  /** Aborted, the promise is rejected with its reason. */
  readonly signal?: AbortSignal;
}

/** The verbs of a client, and the one of their answers that it needs. */
export interface ClientActions {
  ping: ActionMap["ping"]["data"];
  list: readonly ProcessJson[];
  status: ProcessJson;
  start: ProcessJson;
  stop: void;
  restart: void;
  reload: void;
  delete: void;
  logs: ActionMap["logs"]["data"];
  save: ActionMap["save"]["data"];
  resurrect: ActionMap["resurrect"]["data"];
}

/** One of them. */
export type ClientAction = keyof ClientActions & Action;

/** A way to a daemon. Throws `ProcsupError`. */
export interface Transport {
  /** Carries out a verb; one on several processes throws what went wrong for the first that failed. */
  call<A extends ClientAction>(
    action: A,
    payload: Record<string, unknown> | undefined,
    options: CallOptions,
  ): Promise<ClientActions[A]>;
  /** A stream of one JSON value a line. */
  stream(
    what: "events" | "logs",
    query: URLSearchParams,
    options: CallOptions,
  ): Promise<ReadableStream<Uint8Array>>;
}
