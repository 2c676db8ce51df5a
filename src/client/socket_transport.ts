/** To the daemon of a home, over its Unix socket. */

import { isErrorCode, ProcsupError } from "../model/errors.ts";
import type { ActionMap, BulkResult } from "../protocol/actions.ts";
import { DaemonClient } from "../protocol/daemon_client.ts";
import type { CallOptions, ClientAction, ClientActions, Transport } from "./transport.ts";

/** The daemon of one home. */
export class SocketTransport implements Transport {
  readonly #daemon: DaemonClient;

  constructor(home: string) {
    this.#daemon = new DaemonClient(home);
  }

  async call<A extends ClientAction>(
    action: A,
    payload: Record<string, unknown> | undefined,
    options: CallOptions,
  ): Promise<ClientActions[A]> {
    const data = await this.#daemon.call(action, payload as ActionMap[A]["payload"], options);
    throwFailed(data);
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

function throwFailed(data: unknown): void {
  if (typeof data !== "object" || data === null || !("results" in data)) return;
  const failed = (data as BulkResult).results.find(({ ok }) => !ok);
  if (failed === undefined) return;
  const code = isErrorCode(failed.code) ? failed.code : "internal";
  throw new ProcsupError(code, failed.error ?? `"${failed.name}" failed`);
}
