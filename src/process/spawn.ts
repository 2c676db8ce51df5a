/** Makes a run: plans it, prepares its logs, records the intent, launches it. */

import { logFiles, prepareLogFiles } from "../logs/write/log_files.ts";
import { logEnd } from "../logs/write/log_position.ts";
import { ifPossible, messageOf, ProcsupError } from "../model/errors.ts";
import { logPaths } from "../model/log_paths.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import type { Run, Snapshot } from "../model/process_state.ts";
import { basename, resolve } from "@std/path";
import type { OtherUser } from "../platform/users/as_user.ts";
import { headOfProgram } from "../platform/files/foreign_file.ts";
import { notifyPathProblem } from "../platform/launch/notify_socket.ts";
import type { Child, LaunchSetup } from "../platform/launch/launcher.ts";
import { commandLine } from "../runtimes/command_line.ts";
import type { Versions } from "../runtimes/programs.ts";
import { appUser } from "../platform/users/app_user.ts";
import { appEnvironment, fileContents } from "./environment.ts";
import { getsNotifySocket, launchSetup, saysReady } from "./launch_setup.ts";
import type { ProcessActor } from "./process_actor.ts";
import type { World } from "../platform/world.ts";

type LaunchedProcess = Pick<ProcessActor, "id" | "name" | "instanceIndex" | "config">;

interface LaunchPlan {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Name of the runtime; `auto` for a plain program. */
  readonly runtime: string;
  /** Settings of the app's process. */
  readonly setup: LaunchSetup;
}

/**
 * The command line and environment of a process. Throws `invalid_config` naming what is missing.
 * Secrets that commands print must have been fetched.
 */
export function launchPlan(
  process: LaunchedProcess,
  world: Pick<World, "inherited" | "secrets">,
  versions: Versions = "asked",
): LaunchPlan {
  const env = appEnvironment(world, process);
  const user = appUser(process.config);
  const { argv, runtime } = commandLine(process.config, { path: env.PATH ?? "", user, versions });
  // A user's own deno command line may lack the permissions that the preload needs.
  const program = runtime === "auto" ? basename(argv[0]!).replace(/^deno$/, "") : runtime;
  const setup = launchSetup(process.config, program);
  if (process.config.tty) env.TERM ??= "xterm-256color";
  // Into a file Python writes in blocks: print() would show nothing for minutes.
  if (runtime === "python" || runsPython(argv, process.config.cwd, user)) {
    env.PYTHONUNBUFFERED ??= "1";
  }
  return { argv, env, cwd: process.config.cwd, runtime, setup };
}

/** A run that was just launched. */
export interface Spawned {
  readonly child: Child;
  readonly run: Run;
  /** Name of the runtime; `auto` for a plain program. */
  readonly runtime: string;
  /** Steady milliseconds. */
  readonly launchedAt: number;
}

/** A process with the configuration of its next run. */
interface LaunchedRun extends LaunchedProcess, Pick<Snapshot, "truncatesLog"> {
  readonly generation: number;
}

/**
 * Launches a run. `intend` records it before there is a process, and may throw to refuse it. Throws
 * `ProcsupError` when the process cannot be started.
 */
export function spawnRun(
  process: LaunchedRun,
  world: World,
  intend: (run: Run) => void,
): Spawned {
  // Before the files are read for the app: a later change must not be missed.
  const contents = fileContents(process.config);
  const plan = launchPlan(process, world);
  const { logs, files, outputFrom } = preparedLogs(process, world);
  const runId = crypto.randomUUID();
  const { argv, cwd, setup } = plan;
  const notify = notifySocket(process.config, world, runId, setup);
  const more = {
    ...(notify !== undefined && { notify: true as const }),
    generation: process.generation,
    outputFrom,
    ...(Object.keys(contents).length > 0 && { contents }),
    ...(setup.user && { user: setup.user.uid }),
    ...(process.config.log.stdout ?? process.config.log.stderr ? { logs } : {}),
  };
  intend({ runId, wrapperPid: 0, wrapperStart: "", bootId: world.bootId, ...more });
  const { watchdogMs } = process.config;
  const env = {
    ...plan.env,
    ...saysReady(process.config) && { PROCSUP_READY_FILE: readyFile(world, runId, setup) },
    ...notify !== undefined && { NOTIFY_SOCKET: notify },
    ...watchdogMs !== undefined && { WATCHDOG_USEC: String(Math.round(watchdogMs * 1000)) },
  };
  const child = world.launch({
    ...{ runId, name: process.name, argv, cwd, env },
    ...{ stdout: files.stdout, stderr: logs.stderr ?? files.stderr },
    piped: usesPipes(process, argv, setup.user),
    stdin: process.config.stdin ?? world.stdin,
    tty: process.config.tty,
    notify,
    setup,
  });
  const run = { ...child.run, ...more };
  return { child: { ...child, run }, run, runtime: plan.runtime, launchedAt: world.clock.steady() };
}

/** Creates the log files of a run; `outputFrom` has the sizes from which its own output begins. */
function preparedLogs({ config, name, instanceIndex }: LaunchedRun, { apps }: World) {
  const logs = logPaths(config, instanceIndex);
  const files = logFiles(apps, name, logs);
  const unwritten = prepareLogFiles(`${apps}/${name}`, files, config.log.mode);
  const endOf = (log: string) => unwritten.has(log) ? 0 : logEnd(log);
  const outputFrom = [endOf(files.stdout), endOf(files.stderr)] as const;
  return { logs, files, outputFrom };
}

const PYTHON = /(^|[/\s;&|(])(python|pypy)[\d.]*(\s|$)/;

/** Whether a command is Python, names it, or is a script for it, such as celery. */
function runsPython(argv: readonly string[], cwd: string, user: OtherUser | undefined): boolean {
  if (argv.some((word) => PYTHON.test(word))) return true;
  const first = ifPossible(() => headOfProgram(resolve(cwd, argv[0]!), 256, user));
  return first !== undefined && first.startsWith("#!") && PYTHON.test(first.split("\n")[0]!);
}

/** Names of its own output by which an app opens, and so truncates, its log. */
const OWN_OUTPUT = /\/dev\/(stdout|stderr|fd\/[12])\b|\/proc\/self\/fd\/[12]\b/;

/** A script that is longer names them earlier, or is seen to truncate its log. */
const SCRIPT_BYTES = 64 * 1024;

/** The header of an ELF or Mach-O file has a NUL. */
const MAGIC_BYTES = 32;

/** Whether the app writes through pipes, which an open does not truncate. */
function usesPipes(
  { config: { log, tty, cwd }, truncatesLog }: LaunchedRun,
  argv: readonly string[],
  user: OtherUser | undefined,
): boolean {
  if (log.pipe !== "auto") return log.pipe;
  const isOneFile = log.stdout !== undefined && log.stdout === log.stderr;
  if (tty || isOneFile) return false;
  if (truncatesLog || argv.some((word) => OWN_OUTPUT.test(word))) return true;
  // The program, or the script of an interpreter and its options.
  const files = argv.slice(0, 3).filter((word) => word.includes("/") || word.includes("."));
  return files.some((file) => {
    const path = resolve(cwd, file);
    const head = (bytes: number) => ifPossible(() => headOfProgram(path, bytes, user)) ?? "\0";
    // Most programs are machine code, which the first bytes tell.
    if (head(MAGIC_BYTES).includes("\0")) return false;
    const text = head(SCRIPT_BYTES);
    return !text.includes("\0") && OWN_OUTPUT.test(text);
  });
}

/** Path for the notify socket, if the app gets one. Throws `start_failed` if that is too long. */
function notifySocket(
  config: ProcessConfig,
  world: World,
  runId: string,
  { user }: LaunchSetup,
): string | undefined {
  if (!getsNotifySocket(config)) return undefined;
  const path = world.notifySocket(runId, user !== undefined);
  const problem = notifyPathProblem(path);
  if (problem === undefined) return path;
  if (!config.notify && config.watchdogMs === undefined) return undefined;
  throw new ProcsupError("start_failed", `${config.notify ? "notify" : "watchdog"} ${problem}`);
}

function readyFile(world: World, runId: string, { user }: LaunchSetup): string {
  try {
    return world.readyFile(runId, user);
  } catch (cause) {
    const why = `its ready file cannot be made: ${messageOf(cause)}`;
    throw new ProcsupError("start_failed", why, {
      hint: "Use ready_log or a health_check instead",
      cause,
    });
  }
}
