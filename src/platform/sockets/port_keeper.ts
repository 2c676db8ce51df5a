/**
 * Keeps the port of the web listener while there is no daemon, so that no other user can take it: a
 * shell that holds the listening socket. It ends ten minutes after the daemon, unless the next daemon
 * takes the port over. Linux only, and where the C library may be used.
 */

import { ifPossible } from "../../model/errors.ts";
import { addressText, type ListenAddress } from "../../model/listen_address.ts";
import { readFileIfAny, removeIfPossible, replaceFile } from "../files/atomic_file.ts";
import { spawnWrapper } from "../launch/child_process.ts";
import { sleep } from "../clock.ts";
import { processRow } from "../scan/process_table.ts";
import { closeSocket, parseSockets, takeListeners } from "./sockets.ts";

/** Its children must not hold the socket: they would outlive it. */
const SCRIPT =
  'while kill -0 "$1" 2>/dev/null; do sleep 20 3>&-; done; trap "" HUP; exec sleep 600';

/** Time for a keeper to end after it was killed. */
const GONE_MS = 1000;
const LOOK_MS = 5;

export class PortKeeper {
  readonly #path: string;

  /** `path` remembers the keeper for the next daemon. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Keeps the port on which this process listens. Call `release()` before you stop listening. */
  keep(address: ListenAddress): void {
    const addresses = ifPossible(() => parseSockets([addressText(address)])) ?? [];
    const taken = ifPossible(() => takeListeners(Deno.pid, addresses));
    const fd = taken?.values().next().value;
    if (fd === undefined) return;
    try {
      const args = ["-c", SCRIPT, "procsup-port", String(Deno.pid)];
      const env = { PATH: "/usr/bin:/bin" };
      const { pid } = spawnWrapper({ program: "/bin/sh", args, cwd: "/", env, inherit: [fd] });
      replaceFile(this.#path, `${pid} ${processRow(pid)?.start}\n`);
    } finally {
      closeSocket(fd);
    }
  }

  /** Ends the keeper. Resolves to true if there was one, when the port is free. */
  async release(): Promise<boolean> {
    const [, pid, start] = /^(\d+) (\S+)/.exec(readFileIfAny(this.#path) ?? "") ?? [];
    removeIfPossible(this.#path);
    const isThere = () => start !== undefined && processRow(Number(pid))?.start === start;
    if (!isThere()) return false;
    // It leads a process group.
    ifPossible(() => Deno.kill(-Number(pid), "SIGKILL"));
    for (let waited = 0; isThere() && waited < GONE_MS; waited += LOOK_MS) await sleep(LOOK_MS);
    return true;
  }
}
