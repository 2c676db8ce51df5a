/** Whether the clock can be right: restarts, schedules and the times in logs hang on it. */

import { pathsIn } from "../../platform/paths.ts";
import { humanDuration } from "../human.ts";
import { type Finding, listed, ok, wrong } from "./finding.ts";

/** No copy of this program is older. */
const BUILT = Date.UTC(2025, 0, 1);

/** File systems on other machines may be a little ahead. */
const SLACK_MS = 60_000;

/** The clock, against what was written by it earlier. */
export function checkClock(home: string, now: number = Date.now()): Finding {
  const fix = "sudo timedatectl set-ntp true";
  const date = new Date(now).toISOString();
  if (now < BUILT) return wrong("clock", `it says ${date}, before this program was made`, fix);
  const { records, daemonLog } = pathsIn(home);
  const written = [daemonLog, ...listed(records).map((name) => `${records}/${name}`)]
    .map((path) => ({ path, ahead: modified(path) - now }))
    .reduce((a, b) => b.ahead > a.ahead ? b : a);
  if (written.ahead <= SLACK_MS) return ok("clock", date);
  const says = `${written.path} is from ${humanDuration(written.ahead)} ahead: the clock went back`;
  return wrong("clock", says, fix);
}

function modified(path: string): number {
  try {
    return Deno.statSync(path).mtime?.getTime() ?? 0;
  } catch {
    return 0;
  }
}
