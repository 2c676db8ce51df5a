/**
 * Starts a program as the leader of its own session and process group. `detached` would make the
 * runtime fork, which copies the memory map of this process: with 300 MB that took ten times as
 * long as the start by the program `setsid`. With it, the child leads nothing for a moment: until
 * then no signal to its group reaches it.
 */

import { systemProgram } from "./as_user.ts";
import { isLinux } from "./os.ts";
import { textsOf } from "./process_environment.ts";
import { type ProcessRow, processRow } from "./process_table.ts";
import { sendSignal } from "./signals.ts";

/** The path of the program `setsid`. Undefined where there is none. */
function setsidProgram(): string | undefined {
  return isLinux ? systemProgram("setsid") : undefined;
}

/**
 * Whether a process was started by `spawnInOwnSession()` a moment ago: its group and its session
 * are still those of its supervisor.
 */
export function willLead({ pid, pgid }: ProcessRow): boolean {
  const setsid = setsidProgram();
  if (pid === pgid || setsid === undefined) return false;
  if (textsOf(`/proc/${pid}/cmdline`)[0] === setsid) return true;
  // It may have begun its session since.
  const now = processRow(pid);
  return now !== undefined && now.pgid !== pgid;
}

/** Starts a program, by its absolute path. Throws when the system refuses. */
export function spawnInOwnSession(
  program: string,
  { args = [], ...options }: Deno.CommandOptions,
): Deno.ChildProcess {
  const setsid = setsidProgram();
  const command = setsid === undefined
    ? new Deno.Command(program, { ...options, args, detached: true })
    : new Deno.Command(setsid, { ...options, args: [program, ...args] });
  return command.spawn();
}

/** Kills a program that was started so, with its whole group. */
export function killOwnSession(pid: number): void {
  if (sendSignal(-pid, "SIGKILL")) return;
  sendSignal(pid, "SIGKILL");
  // It may have become a leader, and have forked, between the two.
  sendSignal(-pid, "SIGKILL");
}
