/** What the last run of a process said on standard error. */

import { lastTextLines } from "../logs/last_lines.ts";
import type { ProcessConfig } from "../model/process_config.ts";
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

/** What helps an app that found its port taken; undefined where its last words tell of something else. */
export function portHint(
  { instances, sockets }: Pick<ProcessConfig, "instances" | "sockets">,
  stderr: readonly string[],
): string | undefined {
  const line = stderr.find((line) => /EADDRINUSE|address (is )?already in use/i.test(line));
  if (line === undefined) return undefined;
  // Node says it in the same line, or in one of its own.
  const [, port = "HOST:PORT"] = /:(\d{2,5})\b/.exec(line) ??
    /^ *port: (\d+)/m.exec(stderr.join("\n")) ?? [];
  return instances > 1 && sockets.length === 0
    ? `Instances share a port by --socket ${port}, in a file by sockets: ["${port}"]`
    : `Another program has the port. Instances of one app share it by --socket ${port}`;
}
