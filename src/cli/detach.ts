/** Starts a daemon of this same program in the background, and waits until it answers. */

import { ERROR_TABLE, hasCode, ifPossible, ProcsupError } from "../model/errors.ts";
import { shellWord } from "../model/shell_line.ts";
import { comesTrue, sleep } from "../platform/clock.ts";
import { sealDescriptors, spawnInOwnSession } from "../platform/launch/child_process.ts";
import { daemonEnvironment } from "../platform/launch/inherited_environment.ts";
import {
  type DaemonRecord,
  keepProgram,
  keptWords,
  readDaemonRecord,
  refuseNewerState,
} from "../platform/daemon_record.ts";
import { npmBundle, ownWords } from "../platform/own_program.ts";
import { isFree } from "../platform/files/lock.ts";
import { processRow, processTableIfReadable } from "../platform/scan/process_table.ts";
import { absolute, pathsIn, prepareHome } from "../platform/files/paths.ts";
import { lookAt } from "../platform/files/stat.ts";
import { openFilesVariable } from "../platform/launch/ulimits.ts";
import { VERSION } from "../protocol/version.ts";
import { DaemonClient, SocketWay } from "../protocol/daemon_client.ts";
import { DAEMON_PATIENCE_MS } from "../protocol/liveness.ts";
import { writeMessage } from "./output.ts";

/** A daemon starts in about 100 ms. */
const PATIENCE = { ms: DAEMON_PATIENCE_MS, everyMs: 20 };

/** A daemon without apps ends within 0.3 s, unless a rotation of a log is under way. */
const END_MS = 10_000;

/** A daemon that uses less processor time than this for this long has not begun to start. */
const LIFELESS_MS = 10_000;
const LEAST_CPU_MS = 20;

/** Interval of looks at its processor time. */
const LOOK_MS = 1000;

/** Lines of the daemon's log that are printed on failure. */
const LOG_LINES = 10;

/** A daemon that was started, and its exit code once it has ended. */
interface StartedDaemon {
  readonly child: Deno.ChildProcess;
  exitCode?: number;
}

interface StartDaemonOptions {
  /** The command of the program; default: this one. */
  readonly words?: readonly string[];
  /** The environment; default: what a daemon needs of this shell's. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Kill a daemon that does not answer in time, so that it does not come up later. */
  readonly killOnFailure?: boolean;
}

/**
 * Starts a detached daemon for `home` and returns when it, or one started at the same time,
 * answers. Throws
 * `home_unusable`, `home_in_use`, or `daemon_unreachable` with the reason.
 */
export async function startDaemon(
  home: string,
  options: StartDaemonOptions = {},
): Promise<void> {
  const { daemonLog } = prepareHome(home);
  // Checked here because a detached daemon could not print the error.
  refuseNewerState(home, VERSION);
  const logged = lookAt(daemonLog)?.size ?? 0;
  if (options.words === undefined) keepProgram(home);
  const { words = npmBundle() === undefined ? ownWords() : keptWords(home) } = options;
  const start = () => spawnDaemon(home, words, options.env);
  let daemon = start();
  const giveUp = () => {
    if (daemon.exitCode === undefined && options.killOnFailure) daemon.child.kill("SIGKILL");
  };
  const deadline = performance.now() + PATIENCE.ms;
  let life = new LifeSigns(daemon);
  while (performance.now() < deadline && !life.isMissing()) {
    try {
      if (await answers(home)) {
        // A daemon that is still loading would take the home after a shutdown of the other one.
        await comesTrue(() => daemon.exitCode !== undefined || !isAnother(home, daemon), PATIENCE);
        return;
      }
    } catch (error) {
      giveUp();
      throw error;
    }
    if (daemon.exitCode === ERROR_TABLE.home_in_use.exit) {
      // Another daemon had the home: it is still starting, or it was ending.
      if (isReleased(home)) life = new LifeSigns(daemon = start());
    } else if (daemon.exitCode !== undefined) break;
    await sleep(PATIENCE.everyMs);
  }
  giveUp();
  throw notStarted(home, daemon, life, () => newLines(daemonLog, logged));
}

/** Whether a daemon works on its start. One that hangs need not be waited for as long. */
class LifeSigns {
  readonly #daemon: StartedDaemon;
  #cpuMs = 0;
  #since = performance.now();
  #lookAt = this.#since + LOOK_MS;
  #isMissing = false;

  constructor(daemon: StartedDaemon) {
    this.#daemon = daemon;
  }

  /** Whether it has used nearly no processor time for `LIFELESS_MS`. */
  isMissing(): boolean {
    const now = performance.now();
    if (now < this.#lookAt || this.#daemon.exitCode !== undefined) return this.#isMissing;
    this.#lookAt = now + LOOK_MS;
    const { pid } = this.#daemon.child;
    // The executable may unpack itself first, by other programs.
    const rows = processTableIfReadable().filter((row) => row.pid === pid || row.sid === pid);
    const cpuMs = rows.reduce((sum, row) => sum + row.cpuMs, 0);
    if (rows.length === 0 || Math.abs(cpuMs - this.#cpuMs) >= LEAST_CPU_MS) {
      this.#cpuMs = cpuMs;
      this.#since = now;
    }
    this.#isMissing = now - this.#since >= LIFELESS_MS;
    return this.#isMissing;
  }
}

/** The error for a daemon that did not start. Prints the new lines of its log. */
function notStarted(
  home: string,
  { exitCode }: StartedDaemon,
  life: LifeSigns,
  log: () => string[],
): ProcsupError {
  const silent = life.isMissing()
    ? `shows no sign of life for ${LIFELESS_MS / 1000}s`
    : `does not answer after ${DAEMON_PATIENCE_MS / 1000}s`;
  if (exitCode === ERROR_TABLE.home_in_use.exit) {
    return new ProcsupError(
      "home_in_use",
      `Home "${home}" is in use by a supervisor that ${silent}`,
      {
        hint: "A program that uses the library takes no commands: choose another home with --home",
      },
    );
  }
  for (const line of log()) writeMessage(`  ${line}\n`);
  const reason = exitCode === undefined ? `it ${silent}` : `it ended with exit code ${exitCode}`;
  return new ProcsupError("daemon_unreachable", `Cannot start the daemon: ${reason}`, {
    hint: `Run it in the foreground to see its messages: procsup daemon --home ${shellWord(home)}`,
  });
}

/** True if another daemon than this one has the home. */
function isAnother(home: string, { child: { pid } }: StartedDaemon): boolean {
  const recorded = readDaemonRecord(home)?.pid ?? pid;
  // On a full disk, the record of an earlier daemon stays.
  return recorded !== pid && processRow(recorded) !== undefined;
}

/** True if a daemon answers. A socket file alone does not prove that. Throws `daemon_hangs`. */
export async function answers(home: string): Promise<boolean> {
  const client = new DaemonClient(home);
  try {
    await client.call("ping");
    return true;
  } catch (error) {
    const isAbsent = hasCode(error, "daemon_unreachable", "closed");
    if (isAbsent) return false;
    throw error;
  }
}

/** Waits for the end of a daemon that was shut down. Resolves with false if it still has its home. */
export async function untilShutDown(home: string, { pid }: DaemonRecord): Promise<boolean> {
  // Its service may start another daemon at once.
  const isOver = () => isReleased(home) || readDaemonRecord(home)?.pid !== pid;
  return await comesTrue(isOver, { ...PATIENCE, ms: END_MS });
}

/**
 * Tells the daemon to end and keep its apps, for a program that has begun a handover. Resolves with
 * its pid while it ends.
 */
export async function releaseDaemon(
  home: string,
  payload: { readonly upgrade_to?: string } = {},
): Promise<number> {
  // Not patient: it would wait for the end of the handover.
  const client = new DaemonClient(new SocketWay(home, false), () => {});
  return (await client.call("release", payload)).pid;
}

/** Waits until a daemon that is ending has released its home. Throws `timeout`. */
export async function untilReleased(home: string, pid: number): Promise<void> {
  if (await comesTrue(() => isReleased(home), PATIENCE)) return;
  throw new ProcsupError("timeout", `The daemon (pid ${pid}) does not release "${home}"`, {
    hint: `procsup doctor --home ${shellWord(home)}`,
  });
}

function isReleased(home: string): boolean {
  return isFree(pathsIn(home).lock);
}

function spawnDaemon(
  home: string,
  words: readonly string[],
  env: Readonly<Record<string, string>> = daemonEnvironment(),
): StartedDaemon {
  // Do not pass on descriptors: the caller may wait for the end of a pipe.
  sealDescriptors();
  const child = spawnInOwnSession(words[0]!, {
    args: [...words.slice(1), "daemon", "--home", home],
    // Not the caller's folder: its file system could not be unmounted.
    cwd: home,
    clearEnv: true,
    env: { ...openFilesVariable(), ...env, ...cacheFolder(), PROCSUP_HOME: home },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  });
  const daemon: StartedDaemon = { child };
  void child.status.then(({ code }) => daemon.exitCode = code);
  child.unref();
  return daemon;
}

/** The folder of the unpacked executable. Without it the daemon would unpack 100 MB again. */
function cacheFolder(): Record<string, string> {
  const folder = Deno.env.get("PROCSUP_CACHE");
  return folder === undefined ? {} : { PROCSUP_CACHE: absolute(folder) };
}

function newLines(path: string, from: number): string[] {
  const bytes = ifPossible(() => Deno.readFileSync(path)) ?? new Uint8Array();
  const text = new TextDecoder().decode(bytes.subarray(from));
  return text.split("\n").filter((line) => line !== "").slice(-LOG_LINES);
}
