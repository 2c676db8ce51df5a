/** The interface of the client's two transports, and the one over the Unix socket. */

import type { CallOptions } from "../library/options.ts";
import { ProcsupError } from "../model/errors.ts";
import { quote } from "../model/quote.ts";
import { absolute, defaultHome } from "../platform/paths.ts";
import { notPermitted } from "../platform/permissions.ts";
import { DaemonClient } from "../protocol/daemon_client.ts";
import type { ActionMap, Output, VerbName } from "../protocol/wire.ts";

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

/** The daemon of one home. */
export class SocketTransport implements Transport {
  readonly #daemon: DaemonClient;

  /**
   * Throws `bad_request` for an invalid home, `forbidden` if the permission to find it is missing.
   */
  constructor(home: string | undefined) {
    this.#daemon = new DaemonClient(homeOf(home));
  }

  async call<N extends VerbName>(
    name: N,
    fields: Fields,
    options: CallOptions,
  ): Promise<Output<N>> {
    return await this.#daemon.call(name, fields as ActionMap[N]["payload"], options);
  }

  async stream(
    what: "events" | "logs",
    query: URLSearchParams,
    { signal }: CallOptions,
  ): Promise<ReadableStream<Uint8Array>> {
    return await this.#daemon.stream(`/${what}?${query}`, signal);
  }
}

function homeOf(home: unknown): string {
  // An empty path would be the working directory.
  if (home !== undefined && (typeof home !== "string" || home === "")) {
    throw new ProcsupError(
      "bad_request",
      `Invalid "home" ${quote(home)}: expected the path of a directory`,
    );
  }
  try {
    return home === undefined ? defaultHome() : absolute(home);
  } catch (error) {
    throw notPermitted(error, "find the daemon") ?? error;
  }
}
