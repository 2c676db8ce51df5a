/** Selects processes of a configuration, with their dependencies. */

import { hasCode, ProcsupError, quote } from "../model/errors.ts";
import { baseName } from "../model/name.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { type Addressable, resolveTarget } from "../model/target.ts";
import type { LoadedProcess } from "./load_config.ts";

/** Maximum number of names that an error lists. */
const MAX_NAMES = 10;

/**
 * The processes that match any of the targets; all of them without a list of targets. Throws
 * `process_not_found` for a target that matches nothing.
 */
export function matchingProcesses(
  processes: readonly LoadedProcess[],
  only: readonly string[] | undefined,
): LoadedProcess[] {
  if (only === undefined) return [...processes];
  const entries = processes.map(addressable);
  const names = new Set(
    only.flatMap((word) => resolved(baseName(word), entries).map(({ name }) => name)),
  );
  return processes.filter(({ config }) => names.has(config.name));
}

/** Like `matchingProcesses()`, with everything that they depend on. */
export function selectProcesses(
  processes: readonly LoadedProcess[],
  only: readonly string[] | undefined,
): LoadedProcess[] {
  const wanted = new Set(matchingProcesses(processes, only).map(({ config }) => config.name));
  const byName = new Map(processes.map((process) => [process.config.name, process]));
  for (const name of wanted) {
    for (const dependency of Object.keys(byName.get(name)?.config.dependsOn ?? {})) {
      wanted.add(dependency);
    }
  }
  return processes.filter(({ config }) => wanted.has(config.name));
}

/**
 * One instance of a process without its dependencies, for a container that an engine places. The engine
 * provides the copies, the order and the cgroup limits, and its environment overrides `env`. It starts
 * even with `autostart: false`, of which an engine makes no container until it is asked for one. With
 * `now`, a job runs at once rather than on schedule. Throws `process_not_found`.
 */
export function singleProcess(
  processes: readonly LoadedProcess[],
  name: string,
  environment: Readonly<Record<string, string>>,
  now: boolean,
): ProcessConfig {
  const [found] = resolved(name, processes.map(addressable));
  const { references, config: { cron, limits, ...config } } = processes.find(({ config }) =>
    config.name === found!.name
  )!;
  const { memoryBytes: _memory, cpuPercent: _cpu, pids: _pids, ...own } = limits;
  // `PATH: "bin:${PATH}"` already contains the value of the environment.
  const extended = new Set(
    references.filter(({ path: [key, name], variables }) =>
      key === "env" && Object.hasOwn(variables, name!)
    ).map(({ path: [, name] }) => name),
  );
  const env = Object.entries(config.env).map(([key, value]) =>
    [key, extended.has(key) ? value : environment[key] ?? value] as const
  );
  return {
    ...config,
    env: Object.fromEntries(env),
    instances: 1,
    autostart: true,
    dependsOn: {},
    limits: own,
    ...(cron === undefined || now ? {} : { cron }),
  };
}

/**
 * Splits `"a,b"`, or returns the words of a list; undefined if nothing is given. Throws `bad_request`
 * for a list without words, which must not mean all.
 */
export function onlyWords(only: string | readonly string[] | undefined): string[] | undefined {
  if (only === undefined) return undefined;
  const list = typeof only === "string" ? only.split(",") : only;
  const words = list.map((word) => word.trim()).filter((word) => word !== "");
  if (words.length > 0) return words;
  throw new ProcsupError(
    "bad_request",
    `Invalid "only" ${JSON.stringify(only)}: expected the name of a process`,
  );
}

/**
 * Throws `bad_request` for a prune of a part of the files: by `only`, or by that of the apply which is
 * made again.
 */
export function refusePartialPrune(
  { prune = false, only }: { readonly prune?: boolean; readonly only?: unknown },
  remembered?: readonly string[],
): void {
  if (!prune || (only === undefined && remembered === undefined)) return;
  const what = only === undefined
    ? `Cannot use "prune": the last files were applied with "only" ${quote(remembered!.join())}`
    : 'Cannot use "prune" with "only"';
  throw new ProcsupError("bad_request", what, {
    hint: "Only a whole file shows which apps are no longer in it; name the file alone",
  });
}

/** Like `resolveTarget()`, but names the processes of the configuration, not `procsup list`. */
function resolved(target: string, entries: readonly Addressable[]): Addressable[] {
  try {
    return resolveTarget(target, entries);
  } catch (error) {
    const isMissing = hasCode(error, "process_not_found");
    if (!isMissing || error.near !== undefined) throw error;
    const names = entries.slice(0, MAX_NAMES).map(({ name }) => name).join(", ");
    const more = entries.length > MAX_NAMES ? ` and ${entries.length - MAX_NAMES} more` : "";
    throw new ProcsupError(error.code, error.message, {
      hint: `Nothing in the configuration matches "${target}"; it has ${
        names || "no process"
      }${more}`,
    });
  }
}

function addressable({ config }: LoadedProcess): Addressable {
  const { name, namespace, tags, labels } = config;
  return { id: name, numericId: -1, name, namespace, tags, labels };
}
