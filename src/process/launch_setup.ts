/** What a configuration asks to be set up in the app's process: user, umask, nice, limits, sockets. */

import type { ProcessConfig } from "../model/process_config.ts";
import type { LimitsConfig } from "../model/config_parts.ts";
import { cgroups } from "../platform/cgroup.ts";
import type { LaunchSetup } from "../platform/launcher.ts";
import { foreign, type SharedSockets } from "../platform/sockets.ts";
import { parseSockets } from "../platform/sockets_address.ts";
import { ownNiceness, ulimitLines, ulimitProblem } from "../platform/ulimits.ts";
import { runAs } from "../platform/users.ts";
import { findExecutable } from "../runtimes/executable.ts";
import { refuse } from "../runtimes/refusal.ts";
import { type AppUser, appUser } from "./app_user.ts";

/** The configuration that a setup is made from. */
export type SetupConfig = Pick<
  ProcessConfig,
  "name" | "uid" | "gid" | "umask" | "nice" | "limits" | "sockets"
>;

/** Environments of the app and of the supervisor. */
export interface SetupEnvironment {
  readonly env: Readonly<Record<string, string>>;
  readonly inherited: Readonly<Record<string, string>>;
  /** Name of the app's runtime. */
  readonly runtime: string;
}

/** What is set up, and for whom. */
export interface Setup extends LaunchSetup {
  /** The user that the app runs as; undefined when that is ours. */
  readonly user?: AppUser | undefined;
}

/** Who an app runs as. */
interface Identity {
  readonly user?: AppUser;
  readonly prefix: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Where programs that set something up are looked for. */
const SYSTEM_PATH = "/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin";

/**
 * The setup of a launch. Made when a process is added as well as when it is launched. Throws `ProcsupError` `invalid_config` naming what cannot be done.
 */
export function launchSetup(
  config: SetupConfig,
  around: SetupEnvironment,
): Setup {
  const { env, prefix, user } = identity(config, around);
  const { umask } = config;
  checkLimits(config);
  const shell = [...(umask === undefined ? [] : [`umask ${umask}`]), ...ulimitLines(config.limits)];
  const words = [...niceWords(config), ...prefix];
  const sockets = sharedSockets(config, around.runtime, prefix.length > 0);
  const limits = limitsGroup(config.limits) ? { limits: config.limits } : {};
  return {
    shell,
    prefix: words,
    env,
    user,
    ...limits,
    ...(sockets === undefined ? {} : { sockets }),
  };
}

/** The sockets of a configuration, or undefined. Throws `invalid_config` naming a wrong one. */
export function sharedSockets(
  { name, sockets }: Pick<ProcessConfig, "name" | "sockets">,
  runtime = "",
  otherUser = false,
): SharedSockets | undefined {
  if (sockets.length === 0) return undefined;
  const addresses = parseSockets(sockets);
  if (runtime !== "node") return { owner: name, addresses };
  return { owner: name, addresses, preload: otherUser ? "other_user" : "own" };
}

/** Throws `invalid_config` when another process has one of the sockets already. */
export function refuseTakenSockets(
  config: Pick<ProcessConfig, "name" | "sockets">,
  others: Iterable<Pick<ProcessConfig, "name" | "sockets">>,
): void {
  const wanted = new Set(parseSockets(config.sockets).map(({ text }) => text));
  if (wanted.size === 0) return;
  for (const other of others) {
    if (other.name === config.name) continue;
    const both = parseSockets(other.sockets).find(({ text }) => wanted.has(text));
    if (both === undefined) continue;
    refuse(
      config.name,
      foreign(both, other.name),
      `More instances of the same: procsup scale ${other.name} +1`,
    );
  }
}

function checkLimits({ name, limits }: SetupConfig): void {
  const problem = ulimitProblem(limits, isRoot()) ??
    (limitsGroup(limits) ? cgroups().problem(limits) : undefined);
  if (problem !== undefined) refuse(name, problem);
}

/** Whether there are limits for a control group. */
function limitsGroup({ memoryBytes, cpuPercent, pids }: LimitsConfig): boolean {
  return (memoryBytes ?? cpuPercent ?? pids) !== undefined;
}

function niceWords({ name, nice }: SetupConfig): string[] {
  if (nice === undefined || nice === ownNiceness()) return [];
  // The program adds to what it starts with.
  const change = nice - ownNiceness();
  if (change < 0 && !isRoot()) {
    refuse(name, `nice ${nice} is below the supervisor's own ${ownNiceness()}, which needs root`);
  }
  const program = findExecutable("nice", "/", SYSTEM_PATH);
  if (program === undefined) return refuse(name, 'nice needs the program "nice"');
  return [program, "-n", String(change)];
}

/** Nothing when it is the user that we are. */
function identity(config: SetupConfig, around: SetupEnvironment): Identity {
  const user = appUser(config);
  if (user === undefined) return { prefix: [], env: {} };
  const setpriv = findExecutable("setpriv", "/", SYSTEM_PATH);
  const prefix = runAs(setpriv, { ...user, known: user.name !== undefined });
  if (prefix === undefined) {
    return refuse(config.name, 'uid and gid need the program "setpriv"');
  }
  return { prefix, env: userEnv(user, around), user };
}

/** `HOME`, `USER` and `LOGNAME` of the user, where the configuration does not say otherwise. */
function userEnv(
  { name, home }: AppUser,
  { env, inherited }: SetupEnvironment,
): Record<string, string> {
  if (name === undefined || home === undefined) return {};
  const entries = Object.entries({ HOME: home, USER: name, LOGNAME: name });
  return Object.fromEntries(entries.filter(([key]) => env[key] === inherited[key]));
}

function isRoot(): boolean {
  return Deno.uid() === 0;
}
