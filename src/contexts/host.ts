/** Another machine's daemon; ssh is loaded with the first request. */

import type { DaemonRequest, Way } from "../protocol/daemon_client.ts";
import type { UnixResponse } from "../protocol/unix_http.ts";
import type { Hello, Machine, SshWay } from "./ssh.ts";

/** Another machine, by ssh. */
export class Host implements Way {
  readonly machine: string;
  readonly home: string;
  readonly #load: () => Promise<SshWay>;
  #ssh: Promise<SshWay> | undefined;

  constructor(machine: Machine, isBatch = false) {
    this.machine = machine.name;
    this.home = machine.home ?? "";
    this.#load = async () => new (await import("./ssh.ts")).SshWay(machine, isBatch);
  }

  async send(request: DaemonRequest): Promise<UnixResponse> {
    return await (await this.#way()).send(request);
  }

  /** Version, home and folder of the other end. */
  async hello(): Promise<Hello> {
    return await (await this.#way()).hello();
  }

  /** A request that needs no daemon there. */
  async ask<T>(path: string, body?: unknown): Promise<T> {
    return await (await this.#way()).ask(path, body ?? null);
  }

  /** Closes idle connections. */
  async close(): Promise<void> {
    (await this.#ssh)?.close();
  }

  #way(): Promise<SshWay> {
    return this.#ssh ??= this.#load();
  }
}
