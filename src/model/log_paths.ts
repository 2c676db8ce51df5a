/** Paths of logs outside the home: `log.stdout` and `log.stderr`. */

import { resolve } from "@std/path";

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

/** The log that several instances would write to one file, and the problem; undefined if none. */
export function oneForMany(
  config: LogPathConfig & { readonly instances: number },
): { readonly key: keyof LogPaths; readonly path: string; readonly problem: string } | undefined {
  const { instances } = config;
  if (instances === 1) return undefined;
  const paths = Object.entries(logPathTemplates(config)) as [keyof LogPaths, string][];
  const [key, path] = paths.find(([, path]) => !path.includes("{instance}")) ?? [];
  if (key === undefined) return undefined;
  return { key, path: path!, problem: `is one file for ${instances} instances` };
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
