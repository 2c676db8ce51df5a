/** A daemon that was started by hand makes room for the one of the service manager. */

import { ProcsupError } from "../../model/errors.ts";
import { readDaemonRecord } from "../../platform/daemon_record.ts";
import { isFree } from "../../platform/lock.ts";
import { pathsIn } from "../../platform/paths.ts";
import { DaemonClient } from "../../protocol/daemon_client.ts";
import { homeFlag } from "../doctor/finding.ts";

/** How long it may take to let go of its home. */
const PATIENCE_MS = 15_000;

const POLL_MS = 10;

/** Whether a daemon runs on the home that no service manager starts again. */
export function runsByHand(home: string): boolean {
  const { lock } = pathsIn(home);
  return !isFree(lock) && !readDaemonRecord(home)?.service;
}

/** Ends that daemon without its apps. Throws `daemon_hangs`, and `timeout` when it stays. */
export async function handOver(home: string): Promise<void> {
  await new DaemonClient(home, () => {}).call("release");
  const deadline = performance.now() + PATIENCE_MS;
  while (!isFree(pathsIn(home).lock)) {
    if (performance.now() > deadline) {
      throw new ProcsupError("timeout", `The daemon does not let go of "${home}"`, {
        hint: `procsup doctor${homeFlag(home)}`,
      });
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
