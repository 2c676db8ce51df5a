/** Adds defaults to configurations. Checks configurations and their log files before a start. */

import type { ProcessDefaults } from "../model/config_input.ts";
import { ifPossible, messageOf, ProcsupError, refuseStart } from "../model/errors.ts";
import { startWaves } from "../model/start_order.ts";
import { inputKeys } from "../model/key_spelling.ts";
import { type LogPaths, logPathTemplates, oneForMany } from "../model/log_paths.ts";
import { literally } from "../model/plain_text.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { basename, dirname } from "@std/path";
import { checkWatch } from "../platform/files/watch_paths.ts";
import { sharedFileProblem } from "../platform/files/way.ts";
import type { OtherUser } from "../platform/users/as_user.ts";
import { appEnvironment, fileVariables } from "../process/environment.ts";
import {
  checkIsolation,
  checkLimits,
  checkNotify,
  checkPrivateTmp,
  checkRootHooks,
  checkStartOn,
  checkTerminal,
  knownUser,
  refuseTakenSockets,
  sharedSockets,
  takenSockets,
} from "../process/launch_setup.ts";
import { ordered } from "./bulk.ts";
import { readyPattern } from "../process/readiness.ts";
import { commandLine } from "../runtimes/command_line.ts";
import type { World } from "../platform/world.ts";

/** The supervisor's defaults that apply to a configuration, in wire form. */
export function wireDefaults(
  { restWindow, restartPolicy, ...others }: ProcessDefaults,
  { cron }: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  // The default policy is for processes that are kept up; jobs have their own.
  const policy = cron === undefined ? { restartPolicy } : {};
  return inputKeys({ restartWindow: restWindow, ...policy, ...others });
}

/** To look, which runs nothing that a configuration names, or to start. */
export type Purpose = "look" | "start";

interface CheckParts {
  readonly world: Pick<World, "inherited" | "secrets" | "apps">;
  readonly others: Iterable<ProcessConfig>;
  readonly purpose: Purpose;
}

/**
 * Throws `invalid_config` for a problem that can be found before a start. To start, the secrets are
 * fetched last.
 */
export async function checkConfig(config: ProcessConfig, parts: CheckParts): Promise<void> {
  for (const { error } of startProblems(config, parts)) throw error;
  if (parts.purpose === "start") await parts.world.secrets.fetch(config, "fresh");
  if (config.readyLog !== undefined) await readyPattern(config.readyLog).ready();
}

/** Why a configuration cannot be started. */
export interface StartProblem {
  readonly error: ProcsupError;
  /** Whether it is about the supervisor itself: one that runs already may be set up otherwise. */
  readonly ofSupervisor: boolean;
}

/**
 * What would keep a configuration from starting, for the user that it runs as: programs, files,
 * secrets, limits, sockets and logs.
 */
export function startProblems(
  config: ProcessConfig,
  { world, others, purpose }: CheckParts,
): StartProblem[] {
  const { inherited, apps } = world;
  const problems: StartProblem[] = [];
  function attempt<T>(act: () => T, ofSupervisor = false): T | undefined {
    try {
      return act();
    } catch (error) {
      if (!(error instanceof ProcsupError)) throw error;
      problems.push({ error, ofSupervisor });
      return undefined;
    }
  }
  const user = attempt(() => knownUser(config));
  // Everything else depends on the user.
  if (problems.length > 0) return problems;
  const env = environmentFor(config, world, user, attempt);
  const path = env?.PATH ?? config.env.PATH ?? inherited.PATH ?? "";
  const versions = purpose === "look" ? "assumed" : "asked";
  const line = attempt(() => commandLine(config, { path, user, versions }));
  attempt(() => checkLimits(config), true);
  attempt(() => checkIsolation(config), true);
  const argv = line?.argv ?? config.args;
  attempt(() => checkPrivateTmp(config, { argv, user, home: dirname(apps) }), true);
  attempt(() => checkRootHooks(config));
  attempt(() => checkTerminal(config));
  attempt(() => checkNotify(config));
  attempt(() => checkStartOn(config));
  attempt(() => sharedSockets(config));
  attempt(() => checkWatch(config));
  attempt(() => checkLogPaths(config, dirname(apps)));
  attempt(() => refuseTakenSockets(config, others));
  attempt(() => refuseTakenLogs(config, others));
  return problems;
}

/** The environment, without secrets that only a command prints; undefined if a part is missing. */
function environmentFor(
  config: ProcessConfig,
  world: CheckParts["world"],
  user: OtherUser | undefined,
  attempt: <T>(act: () => T, ofSupervisor?: boolean) => T | undefined,
): Readonly<Record<string, string>> | undefined {
  const secrets = Object.entries(config.secrets).filter(([, source]) =>
    source.command === undefined
  );
  const parts = [
    ...secrets.map(([name, source]) => {
      const one = { ...config, secrets: { [name]: source } };
      return attempt(() => world.secrets.variables(one), source.env !== undefined);
    }),
    ...config.envFile.map((file) =>
      attempt(() => fileVariables({ ...config, envFile: [file] }, user))
    ),
  ];
  if (parts.includes(undefined)) return undefined;
  const isPrinted = (name: string) => config.secrets[name]?.command !== undefined;
  const known = {
    ...{ ...config, secrets: Object.fromEntries(secrets) },
    incrementEnv: config.incrementEnv.filter((name) => !isPrinted(name)),
  };
  const source = { id: "", name: config.name, instanceIndex: 0, config: known };
  return attempt(() => appEnvironment(world, source));
}

/**
 * Throws `invalid_config` for a socket or a log that another process has. Call it again right before
 * the process gets them: another one may have come while secrets were fetched.
 */
export function refuseTaken(config: ProcessConfig, others: Iterable<ProcessConfig>): void {
  refuseTakenSockets(config, others);
  refuseTakenLogs(config, others);
}

function refuseTakenLogs(config: ProcessConfig, others: Iterable<ProcessConfig>): void {
  const [taken] = takenLogs(config, others);
  if (taken !== undefined) {
    refuseStart(config.name, `log "${taken.path}" belongs to "${taken.owner}"`);
  }
}

type Configured = Pick<ProcessConfig, "name" | "cwd" | "log" | "instances">;

/** Throws `invalid_config` for a log path that another user could replace, or in the home. */
function checkLogPaths(config: Configured, home: string): void {
  const { name, log } = config;
  const own = ownPaths(config);
  const merged = own.stdout !== undefined && own.stdout === own.stderr;
  if (merged && log.pipe === true) {
    refuseStart(name, "log.pipe needs two files: log.stdout and log.stderr are one");
  }
  for (const [stream, path] of Object.entries(own)) {
    const key = `log.${stream} "${path}"`;
    if (path.startsWith(`${home}/`)) {
      refuseStart(name, `${key} is in the home, which has its own files`);
    }
    const problem = sharedFileProblem(instanceOf(path));
    if (problem !== undefined) {
      refuseStart(name, `${key} is not safe to write to: ${problem}`, { hint: SAFE });
    }
  }
  if (!merged && overlap(own.stdout, own.stderr)) {
    refuseStart(name, "log.stdout and log.stderr would share a file for some instances");
  }
}

/** Throws `invalid_config` if several instances would write to one file. */
export function refuseOneForMany(config: Configured): void {
  const shared = oneForMany(config);
  if (shared === undefined) return;
  const { key, path, problem } = shared;
  refuseStart(config.name, `log.${key} "${path}" ${problem}`, {
    hint: "Put {instance} into the path",
  });
}

const SAFE = "Every folder above a log must belong to root or to the daemon's user, and no other " +
  "user may write to it";

function ownPaths(config: Configured): LogPaths {
  return Object.fromEntries(
    Object.entries(logPathTemplates(config)).map(([stream, path]) => [stream, canonical(path)]),
  );
}

/** The log paths of a configuration that are logs of other processes, and the names of those. */
export function* takenLogs(
  config: Configured,
  others: Iterable<Configured>,
): Generator<{ readonly path: string; readonly owner: string }, void> {
  const paths = Object.values(ownPaths(config));
  if (paths.length === 0) return;
  for (const other of others) {
    if (other.name === config.name) continue;
    const theirs = Object.values(logPathTemplates(other));
    const path = paths.find((path) => theirs.some((taken) => isSame(path, taken)));
    if (path !== undefined) yield { path, owner: other.name };
  }
}

const INSTANCE = "{instance}";

function instanceOf(template: string): string {
  return template.replaceAll(INSTANCE, "0");
}

/** True if two templates give the same file for some instances. */
function overlap(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  // Most have no instance. Each app's are compared with those of all others.
  if (![one, other].some((template) => template.includes(INSTANCE))) return one === other;
  return matches(one, other) || matches(other, one);
}

/** Whether a template gives a file of the other one, for an instance 0 or one that it names. */
function matches(template: string, other: string): boolean {
  const [first, ...rest] = template.split(INSTANCE).map(literally);
  const again = rest.join("\\k<index>");
  // The same number everywhere: to try each by itself could take years.
  const pattern = new RegExp(`^${first}${rest.length > 0 ? `(?<index>\\d+)${again}` : ""}$`);
  const numbers = ["0", ...template.match(/\d+/g) ?? []];
  return numbers.some((number) => pattern.test(other.replaceAll(INSTANCE, number)));
}

/** Compares the file names first: following links takes system calls for each pair of logs. */
function isSame(path: string, taken: string): boolean {
  return overlap(basename(path), basename(taken)) && overlap(path, canonical(taken));
}

/** A template whose folder has its symbolic links resolved. */
function canonical(path: string): string {
  return ifPossible(() =>
    `${Deno.realPathSync(dirname(path)).replace(/\/$/, "")}/${basename(path)}`
  ) ?? path;
}

/** Dependencies come first, and so do processes that give up a socket or a log for another one. */
export function applyWaves(
  configs: readonly ProcessConfig[],
  present: readonly ProcessConfig[],
): ProcessConfig[][] {
  const giversTo = (config: ProcessConfig) =>
    [...takenSockets(config, present), ...takenLogs(config, present)].map(({ owner }) => owner);
  try {
    return startWaves(configs, (config) => {
      const { dependsOn, ...rest } = ordered(config);
      return { ...rest, dependsOn: [...dependsOn, ...giversTo(config)] };
    });
  } catch (error) {
    const cycle = messageOf(error).replace(/^.*: /, "");
    throw new ProcsupError("invalid_config", `Sockets or logs move in a circle: ${cycle}`, {
      hint: "Apply it in two steps: first without these sockets and logs",
    });
  }
}
