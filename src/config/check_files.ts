/** Checks without the daemon that the programs and watched paths of processes exist. */

import { messageOf, type ProcsupError } from "../model/errors.ts";
import { checkWatch } from "../platform/watch_paths.ts";
import { commandLine } from "../runtimes/command_line.ts";
import type { LoadedProcess } from "./load_config.ts";
import { ConfigProblem } from "./problem.ts";

/** A problem for each program and watched path that does not exist. `path` is the PATH to search. */
export function fileProblems(processes: readonly LoadedProcess[], path: string): ProcsupError[] {
  return processes.flatMap(({ config, place }) => {
    const found: ProcsupError[] = [];
    const note = (check: () => unknown, shown: (message: string) => string) => {
      try {
        check();
      } catch (error) {
        const what = shown(messageOf(error));
        found.push(new ConfigProblem(place?.file ?? config.cwd, what, place && { place }));
      }
    };
    note(
      () => commandLine(config, config.env.PATH ?? path),
      (message) => message.replace(/^Cannot/, "cannot"),
    );
    note(
      () => checkWatch(config),
      (message) => `"${config.name}": ${message.replace(/^Invalid/, "invalid")}`,
    );
    return found;
  });
}
