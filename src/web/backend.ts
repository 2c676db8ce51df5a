/** The daemon's verbs and streams, as the web surface uses them. */

import type { ErrorJson } from "../protocol/error_json.ts";
import type { ProcessChange } from "../model/process_change.ts";

/** The daemon, for the web surface. */
export interface Backend {
  /** Carries out a verb. Throws `ProcsupError`. */
  dispatch(action: string, payload: unknown): Promise<unknown>;
  /** News of all processes from now on. */
  events(signal?: AbortSignal): ReadableStream<ProcessChange>;
  /** Names of the processes that a target addresses. Throws as `dispatch` does. */
  namesOf(target: string): ReadonlySet<string>;
  /** The lines of logs; its query is that of `GET /logs` on the daemon's socket. Throws as `dispatch` does. */
  streamLogs(query: URLSearchParams): Promise<ReadableStream<LogLines>>;
}

/** Lines of logs that came together. Others who follow the same logs may get the same object. */
export interface LogLines {
  /** A JSON line each, the newline of the last one included. */
  readonly ndjson: Uint8Array<ArrayBuffer>;
  /** What ended the stream; the only line then. */
  readonly failure?: ErrorJson | undefined;
}
