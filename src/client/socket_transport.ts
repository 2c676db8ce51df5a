/** To the daemon of a home, over its Unix socket. */

import { DaemonClient } from "../protocol/daemon_client.ts";
import type { ActionMap, Output, VerbName } from "../protocol/verbs/types.ts";
import type { CallOptions, Fields, Transport } from "./transport.ts";

/** The daemon of one home. */
export class SocketTransport implements Transport {
  readonly #daemon: DaemonClient;

  constructor(home: string) {
    this.#daemon = new DaemonClient(home);
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
