/** To the daemon of a home, over its Unix socket. */

import type { ActionMap } from "../protocol/actions.ts";
import { DaemonClient } from "../protocol/daemon_client.ts";
import type { CallOptions, ClientAction, ClientActions, Payload, Transport } from "./transport.ts";

/** The daemon of one home. */
export class SocketTransport implements Transport {
  readonly #daemon: DaemonClient;

  constructor(home: string) {
    this.#daemon = new DaemonClient(home);
  }

  async call<A extends ClientAction>(
    action: A,
    payload: Payload,
    options: CallOptions,
  ): Promise<ClientActions[A]> {
    const isBare = Object.values(payload).every((value) => value === undefined);
    const given = (isBare ? undefined : payload) as ActionMap[A]["payload"];
    return await this.#daemon.call(action, given, options) as ClientActions[A];
  }

  async stream(
    what: "events" | "logs",
    query: URLSearchParams,
    { signal }: CallOptions,
  ): Promise<ReadableStream<Uint8Array>> {
    return await this.#daemon.stream(`/${what}?${query}`, signal);
  }
}
