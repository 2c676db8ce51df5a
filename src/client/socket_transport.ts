/** Talks to the daemon of a home over its Unix socket. */

import { absolute, defaultHome } from "../platform/paths.ts";
import { notPermitted } from "../platform/permissions.ts";
import { DaemonClient } from "../protocol/daemon_client.ts";
import type { ActionMap, Output, VerbName } from "../protocol/verbs/types.ts";
import { checkHome } from "./address.ts";
import type { CallOptions } from "../library/options.ts";
import type { Fields, Transport } from "./transport.ts";

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

function homeOf(home: string | undefined): string {
  if (home !== undefined) checkHome(home);
  try {
    return home === undefined ? defaultHome() : absolute(home);
  } catch (error) {
    throw notPermitted(error, "find the daemon") ?? error;
  }
}
