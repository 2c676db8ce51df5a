/** What a configuration asks to be set up in the app's process: user, umask, nice, limits, sockets. */

import { isAbsolute } from "@std/path";
import { refuseStart } from "../model/errors.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { snakeCase } from "../model/key_table.ts";
import { cgroups, limitsGroup } from "../platform/scan/cgroup.ts";
import { type OtherUser, otherUserProblem, systemProgram } from "../platform/users/as_user.ts";
import { wantsReadiness } from "../model/transition_steps.ts";
import type { LaunchSetup } from "../platform/launch/launcher.ts";
import { connectionsProblem } from "../platform/scan/listening_ports.ts";
import { notifyProblem } from "../platform/launch/notify_socket.ts";
import type { PreloadVariable } from "../platform/sockets/sockets_node.ts";
import {
  foreign,
  parseSockets,
  type SharedSockets,
  type SocketAddress,
} from "../platform/sockets/sockets.ts";
import { terminalProblem } from "../platform/launch/app_input.ts";
import {
  isInTmp,
  type Isolation,
  isolationProblem,
  isolationWords,
} from "../platform/launch/isolation.ts";
import { ownNiceness, ulimitLines, ulimitProblem } from "../platform/launch/ulimits.ts";
import { appUser, type UserConfig } from "../platform/users/app_user.ts";

/** The configuration that a setup is made from. */
type SetupConfig =
  & UserConfig
  & ReadyConfig
  & Pick<
    ProcessConfig,
    | "umask"
    | "nice"
    | "limits"
    | "sockets"
    | "hooks"
    | "tty"
    | "log"
    | "stopSignal"
    | keyof Isolation
    | "startOn"
    | "idleTimeoutMs"
    | "cron"
  >;

type ReadyConfig = Pick<
  ProcessConfig,
  "waitReady" | "readyLog" | "readyDelayMs" | "healthCheck" | "notify" | "watchdogMs"
>;

/** Variables that make runtimes, and programs that start Node, load the preload. */
const PRELOADING: Readonly<Record<string, PreloadVariable>> = {
  node: "NODE_OPTIONS",
  npx: "NODE_OPTIONS",
  tsx: "NODE_OPTIONS",
  deno: "NODE_OPTIONS",
  bun: "BUN_OPTIONS",
};

/** Runtimes whose servers can take an inherited socket. */
const SHARING: ReadonlySet<string> = new Set(["node", "deno"]);

/**
 * The setup of a launch, made when a process is added and when it is launched. `runtime` is the
 * app's runtime, or the program of a command. Throws `ProcsupError` `invalid_config` naming what
 * cannot be done.
 */
export function launchSetup(config: SetupConfig, runtime: string): LaunchSetup {
  const user = knownUser(config);
  checkLimits(config);
  checkIsolation(config);
  checkRootHooks(config);
  checkTerminal(config);
  checkNotify(config);
  checkStartOn(config);
  const shell = [`umask ${config.umask}`, ...ulimitLines(config.limits)];
  const sockets = sharedSockets(config);
  const preload = saysReady(config)
    ? PRELOADING[runtime]
    : SHARING.has(runtime) && sockets !== undefined
    ? PRELOADING[runtime]
    : undefined;
  const limits = limitsGroup(config.limits) ? config.limits : undefined;
  return {
    shell,
    prefix: [...niceWords(config), ...isolationWords(config)],
    user,
    limits,
    sockets,
    preload,
    stopSignal: config.stopSignal,
  };
}

/** The sockets of a configuration, or undefined. Throws `invalid_config` naming a wrong one. */
export function sharedSockets(
  { name, sockets }: Pick<ProcessConfig, "name" | "sockets">,
): SharedSockets | undefined {
  if (sockets.length === 0) return undefined;
  return { owner: name, addresses: parseSockets(sockets) };
}

/**
 * Why a health check on a shared socket proves nothing about one of several instances: only Linux
 * tells which of them answers. Undefined if the check proves something.
 */
export function sharedCheckProblem(
  config: Pick<ProcessConfig, "name" | "sockets" | "healthCheck" | "instances" | "overlap">,
  system: string,
): string | undefined {
  const { healthCheck, instances, overlap } = config;
  const target = healthCheck?.url ?? healthCheck?.tcpEndpoint;
  if (system === "linux" || target === undefined || (instances === 1 && !overlap)) return undefined;
  const port = portOf(target);
  if (!sharedSockets(config)?.addresses.some((address) => address.port === port)) return undefined;
  return `another run may answer the health check on port ${port}: only Linux tells which one does`;
}

function portOf(target: string): number {
  if (!target.includes("://")) return Number(target.slice(target.lastIndexOf(":") + 1));
  const { port, protocol } = new URL(target);
  return port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
}

/** Whether the app itself reports readiness, in the file that `PROCSUP_READY_FILE` names. */
export function saysReady(config: ReadyConfig): boolean {
  return wantsReadiness(config) && config.readyLog === undefined &&
    config.readyDelayMs === undefined && config.healthCheck === undefined;
}

/** Throws `invalid_config` for an app that no client could start. */
export function checkStartOn(
  { name, startOn, idleTimeoutMs, sockets, cron }: Pick<
    ProcessConfig,
    "name" | "startOn" | "idleTimeoutMs" | "sockets" | "cron"
  >,
): void {
  if (startOn === undefined) {
    if (idleTimeoutMs === undefined) return;
    refuseStart(name, "idle_timeout needs start_on: connection, which starts it again");
  }
  if (sockets.length === 0) refuseStart(name, "start_on: connection needs sockets to connect to");
  if (cron !== undefined) refuseStart(name, "start_on and cron cannot be combined");
  const lack = idleTimeoutMs === undefined ? undefined : connectionsProblem();
  if (lack !== undefined) refuseStart(name, `idle_timeout ${lack}`);
}

/** Whether the app gets a notify socket. */
export function getsNotifySocket(config: NotifyConfig): boolean {
  const isWanted = config.notify ?? (config.watchdogMs !== undefined || saysReady(config));
  return isWanted && notifyLack(config) === undefined;
}

type NotifyConfig = ReadyConfig & Pick<ProcessConfig, "name" | "sockets" | "tty">;

/** Throws `invalid_config` if the configuration needs a notify socket and the app cannot have one. */
export function checkNotify(config: NotifyConfig): void {
  const { name, notify, watchdogMs } = config;
  if (watchdogMs !== undefined && notify === false) {
    refuseStart(name, "watchdog needs notify, which is false");
  }
  if (!notify && watchdogMs === undefined) return;
  const lack = notifyLack(config);
  if (lack !== undefined) refuseStart(name, `${notify ? "notify" : "watchdog"} ${lack}`);
}

/** The launch wrapper can name descriptors up to 9, and uses 9 itself for a terminal. */
function notifyLack({ sockets, tty }: NotifyConfig): string | undefined {
  const most = tty ? MAX_SOCKETS_WITH_TTY - 2 : MAX_SOCKETS_WITH_TTY;
  if (sockets.length > most) return `allows at most ${most} sockets`;
  return notifyProblem();
}

type WithSockets = Pick<ProcessConfig, "name" | "sockets">;

/** Throws `invalid_config` when another process has one of the sockets already. */
export function refuseTakenSockets(config: WithSockets, others: Iterable<WithSockets>): void {
  const [taken] = takenSockets(config, others);
  if (taken === undefined) return;
  const { socket, owner } = taken;
  const hint = {
    text: `"${owner}" shares its sockets among its instances; to add one`,
    command: { verb: "scale", target: owner, args: ["+1"] },
  };
  refuseStart(config.name, foreign(socket, owner), { hint });
}

/** The sockets of a configuration that other processes have, and the names of those. */
export function* takenSockets(
  config: WithSockets,
  others: Iterable<WithSockets>,
): Generator<{ readonly socket: SocketAddress; readonly owner: string }, void> {
  const wanted = new Set(parseSockets(config.sockets).map(({ text }) => text));
  if (wanted.size === 0) return;
  for (const other of others) {
    if (other.name === config.name) continue;
    const socket = parseSockets(other.sockets).find(({ text }) => wanted.has(text));
    if (socket !== undefined) yield { socket, owner: other.name };
  }
}

/** Throws `invalid_config` for limits and a niceness that this supervisor cannot set. */
export function checkLimits(config: Pick<SetupConfig, "name" | "limits" | "nice">): void {
  const { name, limits } = config;
  const problem = ulimitProblem(limits, isRoot());
  if (problem !== undefined) refuseStart(name, problem);
  const lack = limitsGroup(limits) ? cgroups().problem(limits) : undefined;
  if (lack !== undefined) {
    const hint = limits.memoryBytes === undefined
      ? { text: "See what this machine supports", command: { verb: "doctor" } }
      : "max_memory needs no cgroup: it restarts an app that uses more";
    refuseStart(name, lack, { hint });
  }
  niceWords(config);
}

/** Throws `invalid_config` for an isolation that this machine cannot give. */
export function checkIsolation(config: Pick<SetupConfig, "name" | keyof Isolation>): void {
  const problem = isolationProblem(config);
  if (problem !== undefined) refuseStart(config.name, problem);
}

/** Throws `invalid_config` if the app's own `/tmp` hides files that it needs. */
export function checkPrivateTmp(
  config: NotifyConfig & Pick<ProcessConfig, "privateTmp" | "cwd" | "args">,
  { argv, user, home }: {
    readonly argv: readonly string[];
    readonly user: OtherUser | undefined;
    readonly home: string;
  },
): void {
  const { name, privateTmp, args, cwd } = config;
  if (!privateTmp) return;
  const program = argv.slice(0, argv.length - args.length)
    .find((word) => isAbsolute(word) && isInTmp(word));
  if (program !== undefined) refuseStart(name, `private_tmp hides "${program}"`);
  if (user !== undefined && isInTmp(cwd)) refuseStart(name, `private_tmp hides its cwd "${cwd}"`);
  // The sockets of apps of other users are not in the home.
  if (user !== undefined || !isInTmp(home)) return;
  const key = config.watchdogMs !== undefined
    ? "watchdog"
    : config.notify
    ? "notify"
    : saysReady(config)
    ? "wait_ready"
    : undefined;
  if (key !== undefined) {
    refuseStart(name, `${key} needs a home that private_tmp does not hide: ${home}`);
  }
}

/** The launch wrapper uses descriptor 9 for itself. */
const MAX_SOCKETS_WITH_TTY = 6;

/** Throws `invalid_config` for a terminal that cannot be given. */
export function checkTerminal(
  { name, tty, log, sockets }: Pick<SetupConfig, "name" | "tty" | "log" | "sockets">,
): void {
  if (!tty) return;
  if (sockets.length > MAX_SOCKETS_WITH_TTY) {
    refuseStart(name, `tty allows at most ${MAX_SOCKETS_WITH_TTY} sockets`);
  }
  if (log.pipe === true) {
    refuseStart(name, "tty and log.pipe cannot be combined: a terminal is not a pipe");
  }
  const problem = terminalProblem();
  if (problem !== undefined) refuseStart(name, `tty ${problem}`);
}

function niceWords({ name, nice }: Pick<SetupConfig, "name" | "nice">): string[] {
  if (nice === undefined || nice === ownNiceness()) return [];
  // `nice` adds to the current niceness.
  const change = nice - ownNiceness();
  if (change < 0 && !isRoot()) {
    refuseStart(
      name,
      `nice ${nice} is below the supervisor's own ${ownNiceness()}, which needs root`,
    );
  }
  const program = systemProgram("nice");
  if (program === undefined) return refuseStart(name, 'nice needs the program "nice"');
  return [program, "-n", String(change)];
}

/** The user that the app runs as; undefined: ours. Throws if this system cannot change users. */
export function knownUser(config: UserConfig): OtherUser | undefined {
  const user = appUser(config);
  const problem = user === undefined ? undefined : otherUserProblem();
  return problem === undefined ? user : refuseStart(config.name, `uid and gid ${problem}`);
}

/** Throws `invalid_config` for hooks that only root can run. */
export function checkRootHooks({ name, hooks }: Pick<SetupConfig, "name" | "hooks">): void {
  if (isRoot()) return;
  const [hook] = Object.entries(hooks).find(([, hook]) => hook?.runAsRoot) ?? [];
  if (hook === undefined) return;
  refuseStart(name, `hooks.${snakeCase(hook)}.run_as_root needs a supervisor that runs as root`);
}

function isRoot(): boolean {
  return Deno.uid() === 0;
}
