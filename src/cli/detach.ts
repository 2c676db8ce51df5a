/** Brings a daemon up in the background: this same program, on its own, until it answers. */

import { ERROR_TABLE, ProcsupError } from "../model/errors.ts";
import { comesTrue, sleep } from "../platform/clock.ts";
import { sealDescriptors } from "../platform/descriptors.ts";
import { inheritedEnvironment } from "../platform/inherited_environment.ts";
import { refuseNewerState } from "../platform/daemon_record.ts";
import { keepProgram, keptWords } from "../platform/kept_program.ts";
import { npmBundle, ownWords } from "../platform/own_program.ts";
import { isFree } from "../platform/lock.ts";
import { absolute, pathsIn, prepareHome } from "../platform/paths.ts";
import { lookAt } from "../platform/stat.ts";
import { VERSION } from "../protocol/version.ts";
import { DaemonClient } from "../protocol/daemon_client.ts";
import { writeMessage } from "./output.ts";

/** How long a daemon may take until it answers. */
const PATIENCE_MS = 10_000;

/** How long a daemon may take to end without its apps. */
const RELEASE_MS = 15_000;

/** How often to poll it. Its start takes some 100 ms. */
const PING_EVERY_MS = 20;

/** Lines of the daemon's log that explain a failure. */
const LOG_LINES = 10;

/** How a daemon is started. */
export interface DetachOptions {
  /** Words of the program; this one's unless given. */
  readonly words?: readonly string[];
  /** SIGKILL to one that does not answer in time, so that it does not come up later. */
  readonly killOnFailure?: boolean;
}

/**
 * Starts a detached daemon for `home` and returns once one answers, be it another one that was
 * started at the same time. Throws `home_unusable`, or `daemon_unreachable` with the reason.
 */
export async function startDaemon(home: string, options: DetachOptions = {}): Promise<void> {
  const { daemonLog } = prepareHome(home);
  // The daemon would refuse as well, and could not say it here.
  refuseNewerState(home, VERSION);
  const logged = lookAt(daemonLog)?.size ?? 0;
  if (options.words === undefined) keepProgram(home);
  const child = spawnDaemon(home, options.words ?? daemonWords(home));
  let exitCode: number | undefined;
  child.status.then(({ code }) => exitCode = code);
  child.unref();
  const giveUp = () => {
    if (exitCode === undefined && options.killOnFailure) child.kill("SIGKILL");
  };
  const deadline = performance.now() + PATIENCE_MS;
  while (performance.now() < deadline) {
    try {
      if (await answers(home)) return;
    } catch (error) {
      giveUp();
      throw error;
    }
    // The one that lost the race for the home ends; the winner is about to answer.
    if (exitCode !== undefined && exitCode !== ERROR_TABLE.home_in_use.exit) break;
    await sleep(PING_EVERY_MS);
  }
  giveUp();
  for (const line of newLines(daemonLog, logged)) writeMessage(`  ${line}\n`);
  const reason = exitCode === undefined
    ? `it does not answer after ${PATIENCE_MS / 1000}s`
    : `it ended with exit code ${exitCode}`;
  throw new ProcsupError("daemon_unreachable", `Cannot start the daemon: ${reason}`, {
    hint: `See what it says in the foreground: procsup daemon --home ${home}`,
  });
}

/** Whether there is a daemon for `home`. Throws `daemon_hangs`; a socket file alone says nothing. */
export async function answers(home: string): Promise<boolean> {
  const client = new DaemonClient(home);
  try {
    await client.call("ping");
    return true;
  } catch (error) {
    if (error instanceof ProcsupError && error.code === "daemon_unreachable") return false;
    throw error;
  }
}

/** Waits until a daemon that was told to end has let go of its home. Throws `timeout`. */
export async function untilReleased(home: string, pid: number): Promise<void> {
  const { lock } = pathsIn(home);
  if (await comesTrue(() => isFree(lock), { ms: RELEASE_MS, everyMs: PING_EVERY_MS })) return;
  throw new ProcsupError("timeout", `The daemon (pid ${pid}) does not let go of "${home}"`, {
    hint: `procsup doctor --home ${home}`,
  });
}

function daemonWords(home: string): readonly string[] {
  return npmBundle() === undefined ? ownWords() : keptWords(home);
}

function spawnDaemon(home: string, words: readonly string[]): Deno.ChildProcess {
  // The daemon would hold open what its caller may wait to see closed, such as a pipe.
  sealDescriptors();
  const command = new Deno.Command(words[0]!, {
    args: [...words.slice(1), "daemon", "--home", home],
    // Not the caller's folder: the daemon would keep its file system busy.
    cwd: home,
    clearEnv: true,
    env: { ...inheritedEnvironment(), ...cacheFolder(), PROCSUP_HOME: home },
    detached: true,
    stdin: "null",
    stdout: "null",
    stderr: "null",
  });
  return command.spawn();
}

/** Where the executable is unpacked: without it the daemon would unpack its own, 100 MB. */
function cacheFolder(): Record<string, string> {
  const folder = Deno.env.get("PROCSUP_CACHE");
  return folder === undefined ? {} : { PROCSUP_CACHE: absolute(folder) };
}

function newLines(path: string, from: number): string[] {
  try {
    const text = new TextDecoder().decode(Deno.readFileSync(path).subarray(from));
    return text.split("\n").filter((line) => line !== "").slice(-LOG_LINES);
  } catch {
    return [];
  }
}
