/**
 * Checks without the daemon that the programs and watched paths of processes exist, that their log
 * paths are safe, and that no two have the same socket or log file.
 */

import { messageOf, ProcsupError } from "../model/errors.ts";
import { logPaths, logPathTemplates } from "../model/log_paths.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { parseSockets } from "../platform/sockets.ts";
import { checkWatch } from "../platform/watch_paths.ts";
import { sharedFileProblem } from "../platform/way.ts";
import { commandLine } from "../runtimes/command_line.ts";
import type { LoadedProcess } from "./load_config.ts";
import { ConfigProblem } from "./problem.ts";

/**
 * A problem for each program and watched path that does not exist, and for each unsafe log path.
 * `path` is the PATH to search.
 */
export function fileProblems(processes: readonly LoadedProcess[], path: string): ProcsupError[] {
  return processes.flatMap((loaded) => {
    const { config } = loaded;
    const found: ProcsupError[] = [];
    const note = (check: () => unknown, shown: (message: string) => string) => {
      try {
        check();
      } catch (error) {
        const hint = error instanceof ProcsupError ? error.hint : undefined;
        found.push(problemOf(loaded, shown(messageOf(error)), hint));
      }
    };
    const own = (message: string) => `"${config.name}": ${message.replace(/^Invalid/, "invalid")}`;
    const lower = (message: string) => message.replace(/^Cannot/, "cannot");
    note(() => commandLine(config, config.env.PATH ?? path), lower);
    note(() => checkWatch(config), own);
    for (const [stream, file] of Object.entries(logPaths(config, 0))) {
      const problem = sharedFileProblem(file);
      if (problem === undefined) continue;
      const what = `log.${stream} "${file}" is not safe to write to: ${problem}`;
      found.push(problemOf(loaded, own(what)));
    }
    return found;
  });
}

/** A problem for each socket and log file that an earlier process has. */
export function sharedProblems(processes: readonly LoadedProcess[]): ConfigProblem[] {
  const owners = new Map<string, string>();
  return processes.flatMap((loaded) => {
    const { name } = loaded.config;
    return exclusive(loaded.config).flatMap((thing) => {
      const owner = owners.get(thing);
      if (owner !== undefined) {
        return problemOf(loaded, `cannot start "${name}": ${thing} belongs to "${owner}"`);
      }
      owners.set(thing, name);
      return [];
    });
  });
}

/** What only one process may have. */
function exclusive(config: ProcessConfig): string[] {
  const logs = new Set(Object.values(logPathTemplates(config)));
  return [
    ...parseSockets(config.sockets).map(({ text }) => `socket "${text}"`),
    ...[...logs].map((path) => `log "${path}"`),
  ];
}

function problemOf({ config, place }: LoadedProcess, what: string, hint?: string): ConfigProblem {
  return new ConfigProblem(place?.file ?? config.cwd, what, { place, hint });
}
