/** The daemon's verbs and streams, as used by the web surface. */

import type { Principal } from "../auth/gatekeeper.ts";
import type { ErrorJson } from "../protocol/envelope.ts";
import type { LogStart } from "../model/log_line.ts";
import type { TerminalPiece } from "../protocol/process_json.ts";
import type { LogQueryFields, TerminalQuery } from "../verbs/logs/rows.ts";
import type { ProcessChange } from "../model/process_info.ts";
import type { ShutdownNotice } from "../protocol/shutdown_notice.ts";

export interface Backend {
  /** The same for this sender: other apps than its own do not exist, and what it asks is recorded. */
  as(principal: Principal): Backend;
  /** Carries out a verb. Throws `ProcsupError`. */
  dispatch(verb: string, payload: unknown): Promise<unknown>;
  /** The apps that exist for the sender; undefined for all. */
  readonly only: readonly string[] | undefined;
  events(signal?: AbortSignal): ReadableStream<ProcessChange>;
  /** Events for a client. It counts as a stream of the sender: throws `too_many_clients`. */
  streamEvents(): Promise<ReadableStream<ProcessChange>>;
  /** Tells the events of a target from others; see `AppDirectory.matcher()`. Throws like `dispatch()`. */
  matcher(target: string): (change: ProcessChange) => boolean;
  /** CPU time of the runs of all apps, in seconds, by the first 8 characters of their UUIDs. */
  cpuSeconds(): ReadonlyMap<string, number>;
  /** The last message to the readers of events. */
  readonly shutdownNotice: ShutdownNotice;
  /**
   * Lines of logs; see `streamLogs()` of the daemon for `byName`, and for when followed logs end.
   * Throws like `dispatch()`, and like `streamEvents()`.
   */
  streamLogs(
    query: LogQueryFields,
    byName?: boolean,
  ): Promise<ReadableStream<LogLines | LogStart>>;
  /** The output of an app with a terminal. Throws like `streamLogs()`. */
  streamTerminal(query: TerminalQuery): Promise<ReadableStream<TerminalPiece>>;
}

/** A batch of log lines. Clients of the same logs may share the object. */
export interface LogLines {
  /** One JSON object per line, including the last newline. */
  readonly ndjson: Uint8Array<ArrayBuffer>;
  /** The error that ended the stream; such a batch has no lines. */
  readonly failure?: ErrorJson | undefined;
}

/** Maximum age of a list without changes. It limits how often usage is read. */
const LIST_AGE_MS = 250;

/** The list of processes, built and serialized once for all clients that need it at the same time. */
export class CachedList {
  readonly #backend: Pick<Backend, "dispatch">;
  readonly #now: () => number;
  #list: Promise<Uint8Array<ArrayBuffer>> | undefined;
  #at = -Infinity;

  /** `now` returns monotonic milliseconds. */
  constructor(backend: Pick<Backend, "dispatch">, now: () => number = () => performance.now()) {
    this.#backend = backend;
    this.#now = now;
  }

  /** Discards the list after a change. */
  invalidate(): void {
    this.#list = undefined;
  }

  /** The list as JSON in UTF-8. */
  json(): Promise<Uint8Array<ArrayBuffer>> {
    if (this.#list !== undefined && this.#now() - this.#at < LIST_AGE_MS) return this.#list;
    this.#at = this.#now();
    const built = this.#build();
    // Do not cache a failure.
    built.catch(() => this.#list === built && this.invalidate());
    return this.#list = built;
  }

  async #build(): Promise<Uint8Array<ArrayBuffer>> {
    const list = await this.#backend.dispatch("list", undefined);
    return new TextEncoder().encode(JSON.stringify(list));
  }
}
