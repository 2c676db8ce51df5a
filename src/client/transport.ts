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

/** The routes of one verb: the first whose fixed fields the payload has is taken. */
export interface VerbRequests {
  /** The field named by the last part of a path. */
  readonly bare: string;
  readonly requests: readonly {
    readonly method: string;
    /** Below `/api/v1`. */
    readonly path: string;
    /** Fields that the query gives. */
    readonly query?: readonly string[];
    /** Those that ask for the default of the verb unless they are given. */
    readonly own?: readonly string[];
    readonly fixed?: Fields;
    readonly hasBody?: boolean;
    /** The one field that is the body. */
    readonly bodyField?: string;
  }[];
}
