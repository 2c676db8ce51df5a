/** The two ways to a daemon, as the client sees them. */

import type { CallOptions } from "../library/options.ts";
import type { Output, VerbName } from "../protocol/verbs/types.ts";

/** Fields of a verb, in wire form. What is undefined was not given. */
export type Fields = Readonly<Record<string, unknown>>;

/** A way to a daemon. Throws `ProcsupError`. */
export interface Transport {
  /**
   * Carries out a verb; one on several processes throws what went wrong for the first that failed.
   * Over REST `results` are left out where all went well.
   */
  call<N extends VerbName>(name: N, fields: Fields, options: CallOptions): Promise<Output<N>>;
  /** A stream of one JSON value a line. */
  stream(
    what: "events" | "logs",
    query: URLSearchParams,
    options: CallOptions,
  ): Promise<ReadableStream<Uint8Array>>;
}
