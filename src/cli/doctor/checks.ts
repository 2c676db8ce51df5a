/** What can be wrong with a home, its daemon and this machine, and what mends it. */

import { checkBoot } from "./boot.ts";
import { checkClock } from "./clock.ts";
import { checkDaemon } from "./daemon.ts";
import { checkDisk } from "./disk.ts";
import type { Finding } from "./finding.ts";
import { checkHome, checkOwners } from "./home.ts";
import { checkLimits } from "./limits.ts";
import { checkState } from "./state.ts";
import { checkUnpacked } from "./unpacked.ts";

/** Everything, in the order in which it is best read. */
export async function examine(home: string): Promise<Finding[]> {
  const there = checkHome(home);
  return [
    there,
    // Of a home that is not safe the daemon would say nothing else.
    ...there.status === "ok" ? [...checkOwners(home), ...await checkDaemon(home)] : [],
    ...checkState(home),
    ...checkBoot(home),
    ...await checkDisk(home),
    checkClock(home),
    ...checkLimits(home),
    ...checkUnpacked(home),
  ];
}
