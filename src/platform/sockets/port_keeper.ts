/**
 * Keeps the port of the web listener while there is no daemon, so that no other user can take it: a
 * shell that holds the listening socket. It ends ten minutes after the daemon, unless the next daemon
 * takes the port over. Linux only, and where the C library may be used.
 */

import { ifPossible } from "../../model/errors.ts";
import { addressText, type ListenAddress } from "../../model/listen_address.ts";
import { spawnWrapper } from "../launch/child_process.ts";
import { sleep } from "../clock.ts";
import { isLinux } from "../os.ts";
import { textsOf } from "../scan/process_environment.ts";
import { processRow, procPids, userOf } from "../scan/process_table.ts";
import { closeSocket, parseSockets, takeListeners } from "./sockets.ts";

/** Its children must not hold the socket: they would outlive it. It stays the shell that it is found by. */
const SCRIPT =
  'while kill -0 "$1" 2>/dev/null; do sleep 20 3>&-; done; trap "" HUP; sleep 600 3>&-; exit';

const NAME = "procsup-port";

/** Time for a keeper to end after it was killed. */
const GONE_MS = 1000;
const LOOK_MS = 5;

export class PortKeeper {
  readonly #home: string;
  /** The keeper that this process has started, which may not have its command line yet. */
  #own: number | undefined;

  /** The next daemon of the same home finds the keeper by its command line: no file can lose it. */
  constructor(home: string) {
    this.#home = home;
  }

  /** Keeps the port on which this process listens. Call `release()` before you stop listening. */
  keep(address: ListenAddress): void {
    const addresses = ifPossible(() => parseSockets([addressText(address)])) ?? [];
    const taken = ifPossible(() => takeListeners(Deno.pid, addresses));
    const fd = taken?.values().next().value;
    if (fd === undefined) return;
    try {
      const args = ["-c", SCRIPT, NAME, String(Deno.pid), this.#home];
      const env = { PATH: "/usr/bin:/bin" };
      this.#own = spawnWrapper({ program: "/bin/sh", args, cwd: "/", env, inherit: [fd] }).pid;
    } finally {
      closeSocket(fd);
    }
  }

  /** Ends the keeper. Resolves to true if there was one, when the port is free. */
  async release(): Promise<boolean> {
    const isThere = (pid: number) => processRow(pid) !== undefined;
    const own = this.#own !== undefined && isThere(this.#own) ? [this.#own] : [];
    const found = new Set([...own, ...keepersOf(this.#home)]);
    this.#own = undefined;
    for (const pid of found) {
      // For a moment after its start it leads no group yet.
      for (const one of [-pid, pid]) ifPossible(() => Deno.kill(one, "SIGKILL"));
    }
    for (let waited = 0; [...found].some(isThere) && waited < GONE_MS; waited += LOOK_MS) {
      await sleep(LOOK_MS);
    }
    return found.size > 0;
  }
}

/** The keepers of a home, each the leader of its process group. */
export function keepersOf(home: string): number[] {
  if (!isLinux) return [];
  return [...procPids()].filter((pid) => {
    // Most have another command line, so that this is all that is read of them.
    const [, , , name, , of] = textsOf(`/proc/${pid}/cmdline`);
    if (name !== NAME || of !== home) return false;
    return userOf(pid) === Deno.uid() && processRow(pid)?.pgid === pid;
  });
}
