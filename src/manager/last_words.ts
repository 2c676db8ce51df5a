/** What the last run of a process said on standard error. */

import { lastTextLines } from "../logs/last_lines.ts";
import type { Fleet } from "./fleet.ts";
import type { ManagedProcess } from "../process/managed_process.ts";

/** Lines of standard error that go with a failure. */
const LINES = 10;

/** The last lines: by default none of an earlier run's, where it is known where this one begins. */
export async function lastWords(
  fleet: Fleet,
  process: ManagedProcess,
  from: number | undefined = process.journal.outputFrom?.[1],
): Promise<string[]> {
  const { stderr } = fleet.logFilesOf(process);
  return await lastTextLines(stderr, LINES, undefined, from);
}
