/** The daemon's verbs and streams, as used by the web surface. */

import type { ErrorJson } from "../protocol/error_json.ts";
import type { ProcessChange } from "../model/process_change.ts";
import type { ShutdownNotice } from "../protocol/shutdown_notice.ts";

export interface Backend {
  /** Carries out a verb. Throws `ProcsupError`. */
  dispatch(action: string, payload: unknown): Promise<unknown>;
  /** Events of all processes from now on. */
  events(signal?: AbortSignal): ReadableStream<ProcessChange>;
  /** Whether a name matches a target; see `Supervisor.named()`. Throws like `dispatch()`. */
  named(target: string): (name: string) => boolean;
  /** The last message to the readers of events. */
  readonly shutdownNotice: ShutdownNotice;
  /**
   * Lines of logs. The query is that of `GET /logs` on the Unix socket. Followed logs end when their
   * processes are deleted; with `byName` they continue with later processes of the same names.
   * Throws like `dispatch()`.
   */
  streamLogs(
    query: URLSearchParams,
    options?: { readonly byName?: boolean },
  ): Promise<ReadableStream<LogLines>>;
}

/** A batch of log lines. Clients of the same logs may share the object. */
export interface LogLines {
  /** One JSON object per line, including the last newline. */
  readonly ndjson: Uint8Array<ArrayBuffer>;
  /** The error that ended the stream; such a batch has no lines. */
  readonly failure?: ErrorJson | undefined;
}
