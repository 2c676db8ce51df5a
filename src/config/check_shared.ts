/** Checks without the daemon that no two processes have the same socket or log file. */

import { logPathTemplates } from "../model/log_paths.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { parseSockets } from "../platform/sockets_address.ts";
import type { LoadedProcess } from "./load_config.ts";
import { ConfigProblem } from "./problem.ts";

/** A problem for each socket and log file that an earlier process has. */
export function sharedProblems(processes: readonly LoadedProcess[]): ConfigProblem[] {
  const owners = new Map<string, string>();
  return processes.flatMap(({ config, place }) =>
    exclusive(config).flatMap((thing) => {
      const owner = owners.get(thing);
      if (owner !== undefined) {
        const what = `cannot start "${config.name}": ${thing} belongs to "${owner}"`;
        return new ConfigProblem(place?.file ?? config.cwd, what, place && { place });
      }
      owners.set(thing, config.name);
      return [];
    })
  );
}

/** What only one process may have. */
function exclusive(config: ProcessConfig): string[] {
  const logs = new Set(Object.values(logPathTemplates(config)));
  return [
    ...parseSockets(config.sockets).map(({ text }) => `socket "${text}"`),
    ...[...logs].map((path) => `log "${path}"`),
  ];
}
