/** The interface of the client's two transports. */

import type { CallOptions } from "../library/options.ts";
import type { Output, VerbName } from "../protocol/verbs/types.ts";

/** Fields of a verb, in wire form. Undefined fields count as missing. */
export type Fields = Readonly<Record<string, unknown>>;

/** A connection to a daemon. Throws `ProcsupError`. */
export interface Transport {
  /**
   * Carries out a verb. On several processes, throws the error of the first that failed. Over REST
   * `results` are missing if all succeeded.
   */
  call<N extends VerbName>(name: N, fields: Fields, options: CallOptions): Promise<Output<N>>;
  /** A stream with one JSON value per line. */
  stream(
    what: "events" | "logs",
    query: URLSearchParams,
    options: CallOptions,
  ): Promise<ReadableStream<Uint8Array>>;
}

/** The routes of one verb. The first one whose fixed fields are in the payload is used. */
export interface VerbRequests {
  /** The field named by the last part of a path. */
  readonly bare: string;
  readonly requests: readonly {
    readonly method: string;
    /** Below `/api/v1`. */
    readonly path: string;
    /** Fields in the query. */
    readonly query?: readonly string[];
    /** Fields sent as `own` unless given: REST has other defaults than the verb. */
    readonly own?: readonly string[];
    readonly fixed?: Fields;
    readonly hasBody?: boolean;
    /** The field whose value is the whole body. */
    readonly bodyField?: string;
  }[];
}
