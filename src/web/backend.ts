/** The daemon's verbs and streams, as used by the web surface. */

import type { ErrorJson } from "../protocol/error_json.ts";
import type { ProcessChange } from "../model/process_change.ts";
import type { ShutdownNotice } from "../protocol/shutdown_notice.ts";

export interface Backend {
  /** Carries out a verb. Throws `ProcsupError`. */
  dispatch(action: string, payload: unknown): Promise<unknown>;
  events(signal?: AbortSignal): ReadableStream<ProcessChange>;
  /** Tells the events of a target from others; see `Registry.matcher()`. Throws like `dispatch()`. */
  matcher(target: string): (change: ProcessChange) => boolean;
  /** The last message to the readers of events. */
  readonly shutdownNotice: ShutdownNotice;
  /**
   * Lines of logs. The query is that of `GET /logs` on the Unix socket; see `streamLogs()` of the
   * daemon for when followed logs end. Throws like `dispatch()`.
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
