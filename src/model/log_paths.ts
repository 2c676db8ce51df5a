/** Paths of logs outside the home: `log.stdout` and `log.stderr`. */

import { resolve } from "../npm/path.js";

/** Absolute paths. If they are equal, both streams go to one file. */
export interface LogPaths {
  readonly stdout?: string;
  readonly stderr?: string;
}

/** The parts of a configuration that name log files. */
export interface LogPathConfig {
  readonly name: string;
  readonly cwd: string;
  readonly log: LogPaths;
}

/** The log files that a configuration names for one instance. */
export function logPaths(config: LogPathConfig, instanceIndex: number): LogPaths {
  return filledIn(config, (text) => text.replaceAll("{instance}", String(instanceIndex)));
}

/** Like `logPaths()`, but `{instance}` is left as it is. */
export function logPathTemplates(config: LogPathConfig): LogPaths {
  return filledIn(config, (text) => text);
}

function filledIn(
  { name, cwd, log: { stdout, stderr } }: LogPathConfig,
  fill: (text: string) => string,
): LogPaths {
  const path = (text: string) => resolve(cwd, fill(text.replaceAll("{name}", name)));
  return {
    ...(stdout === undefined ? {} : { stdout: path(stdout) }),
    ...(stderr === undefined ? {} : { stderr: path(stderr) }),
  };
}
