/**
 * Starts programs in a session and process group of their own. The option `detached` makes the
 * runtime fork, which copies the memory map of this process: with 300 MB that takes ten times as
 * long as a start by setsid(1). With setsid, the child has its session only a moment after the
 * start: before that, a signal to its group does not reach it.
 */

import { systemProgram } from "./as_user.ts";
import { isLinux } from "./os.ts";
import { textsOf } from "./process_environment.ts";
import { type ProcessRow, processRow } from "./process_table.ts";
import { sendSignal } from "./signals.ts";

/** The path of setsid(1), or undefined if the system does not have it. */
function setsidProgram(): string | undefined {
  return isLinux ? systemProgram("setsid") : undefined;
}

/**
 * Whether a process was started by `spawnInOwnSession()` and, in this row, does not have its session
 * yet: its group and session are those of its supervisor.
 */
export function willLead({ pid, pgid }: ProcessRow): boolean {
  const setsid = setsidProgram();
  if (pid === pgid || setsid === undefined) return false;
  if (textsOf(`/proc/${pid}/cmdline`)[0] === setsid) return true;
  // The row may be older than the session.
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

/** Kills a program started by `spawnInOwnSession()`, with its process group. */
export function killOwnSession(pid: number): void {
  if (sendSignal(-pid, "SIGKILL")) return;
  sendSignal(pid, "SIGKILL");
  // It may have become a leader, and have forked, between the two.
  sendSignal(-pid, "SIGKILL");
}
