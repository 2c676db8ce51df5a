/** `procsup startup install`: shows every step before it does anything. */

import { ProcsupError } from "../../model/errors.ts";
import { dirname } from "../../npm/path.js";
import { readFileIfAny } from "../../platform/atomic_file.ts";
import { comesTrue } from "../../platform/clock.ts";
import { readDaemonRecord } from "../../platform/daemon_record.ts";
import { beginHandover } from "../../platform/handover.ts";
import { isFree } from "../../platform/lock.ts";
import { pathsIn } from "../../platform/paths.ts";
import { wayProblem } from "../../platform/way.ts";
import { systemdRuns } from "../../platform/service_manager.ts";
import { DAEMON_PATIENCE_MS } from "../../protocol/liveness.ts";
import { confirmed } from "../ask.ts";
import type { CommandContext } from "../command.ts";
import { answers, releaseDaemon, untilReleased } from "../detach.ts";
import { checkHome } from "../doctor/home.ts";
import { runSteps } from "./steps.ts";
import { namesHome, type Unit } from "./unit.ts";

const POLL_MS = 50;

/** Writes the unit and starts it, after confirmation or with `--yes`. Replaces a running daemon. */
export async function install(context: CommandContext, unit: Unit): Promise<number> {
  const { output, home } = context;
  refuseForeignHome(home);
  const byHand = starts(unit) && runsByHand(home);
  output.note(`${unit.text}\nThis goes to ${unit.path}${instead(unit, home)}, then:`);
  if (byHand) output.note("  it replaces the running daemon; apps keep running");
  for (const { words } of unit.enable) output.note(`  ${words.join(" ")}`);
  refuseUnasked(context, "written", "install");
  if (!confirmed(context, "Write it?")) return 1;
  write(unit);
  output.done(`✔ wrote ${unit.path}`);
  using _handover = byHand
    ? await beginHandover(pathsIn(home), { ms: DAEMON_PATIENCE_MS })
    : undefined;
  if (byHand) await release(home);
  if (!await runSteps(output, unit.enable)) return 1;
  if (starts(unit)) await untilAnswers(home);
  return 0;
}

/** Waits for the daemon: not every service manager waits until a service is ready. */
async function untilAnswers(home: string): Promise<void> {
  if (await comesTrue(() => answers(home), { ms: DAEMON_PATIENCE_MS, everyMs: POLL_MS })) return;
  throw new ProcsupError("start_failed", `No daemon answers for home "${home}" yet`, {
    hint: "See what the service manager says: procsup startup status",
  });
}

/** True if a daemon runs that no service manager started. */
function runsByHand(home: string): boolean {
  return !isFree(pathsIn(home).lock) && !readDaemonRecord(home)?.service;
}

/** Ends that daemon, keeps its apps. Throws `daemon_hangs`, or `timeout` if it does not end. */
async function release(home: string): Promise<void> {
  await untilReleased(home, await releaseDaemon(home));
}

/** Throws `bad_request` without a terminal to confirm on, unless `-y` was given. */
export function refuseUnasked({ flags }: CommandContext, done: string, verb: string): void {
  if (flags.on("yes") || Deno.stdin.isTerminal()) return;
  throw new ProcsupError("bad_request", `Nothing was ${done}: confirmation needs a terminal`, {
    hint: `procsup startup ${verb} --yes`,
  });
}

/** Throws `home_unusable` for a home that the daemon would refuse at each start. */
function refuseForeignHome(home: string): void {
  const { status, says, fix } = checkHome(home);
  if (status !== "error") return;
  throw new ProcsupError("home_unusable", `Cannot start a daemon at boot: ${says}`, { hint: fix });
}

/** Describes the unit that is replaced, which may be that of another home. */
function instead({ path }: Unit, home: string): string {
  const there = readFileIfAny(path);
  if (there === undefined) return "";
  return namesHome(there, home) ? ", in place of the one there" : ", in place of another home's";
}

/** True if the daemon starts now, not only at the next boot. */
function starts({ enable }: Unit): boolean {
  return systemdRuns() || !enable.some(({ live }) => live);
}

function write({ path, text, mode }: Unit): void {
  // Root must not write through links of a user, whose HOME may still be set.
  const problem = Deno.uid() === 0 ? wayProblem(path) : undefined;
  if (problem !== undefined) {
    throw new ProcsupError("forbidden", `Refusing to write "${path}": ${problem}`);
  }
  try {
    Deno.mkdirSync(dirname(path), { recursive: true });
    Deno.writeTextFileSync(path, text, { mode });
    // The mode above applies only to new files, and the umask reduces it.
    Deno.chmodSync(path, mode);
  } catch (error) {
    if (!(error instanceof Deno.errors.PermissionDenied)) throw error;
    throw new ProcsupError("forbidden", `Not allowed to write "${path}"`, {
      hint: "sudo procsup startup install, or: procsup startup install --user",
    });
  }
}
