/** To the daemon of a home, over its Unix socket. */

import type { ActionMap, ActionResult } from "../protocol/actions.ts";
import { DaemonClient } from "../protocol/daemon_client.ts";
import { throwFailed } from "../protocol/failed_result.ts";
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
    const data = await this.#daemon.call(action, given, options) as unknown;
    throwFailed(resultsIn(data));
    return data as ClientActions[A];
  }

  async stream(
    what: "events" | "logs",
    query: URLSearchParams,
    { signal }: CallOptions,
  ): Promise<ReadableStream<Uint8Array>> {
    return await this.#daemon.stream(`/${what}?${query}`, signal);
  }
}

function resultsIn(data: unknown): readonly ActionResult[] {
  if (typeof data !== "object" || data === null || !("results" in data)) return [];
  return data.results as readonly ActionResult[];
}
