/** Checks without the daemon that the programs of processes exist. */

import { messageOf, type ProcsupError } from "../model/errors.ts";
import { commandLine } from "../runtimes/command_line.ts";
import type { LoadedProcess } from "./load_config.ts";
import { ConfigProblem } from "./problem.ts";

/** One problem for each process whose program does not exist. `path` is the PATH to search. */
export function commandProblems(
  processes: readonly LoadedProcess[],
  path: string,
): ProcsupError[] {
  return processes.flatMap(({ config, place }) => {
    try {
      commandLine(config, config.env.PATH ?? path);
      return [];
    } catch (error) {
      const what = messageOf(error).replace(/^Cannot/, "cannot");
      return [new ConfigProblem(place?.file ?? config.cwd, what, place && { place })];
    }
  });
}
