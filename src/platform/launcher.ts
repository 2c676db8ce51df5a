/** Starts apps through the wrapper, and takes over those that an earlier daemon started. */

import { ProcsupError } from "../model/errors.ts";
import type { Exit } from "../model/process_info.ts";
import type { Run } from "../model/process_state.ts";
import { SIGNAL_NAMES } from "../model/signal.ts";
import { bootId, localSignal } from "./os.ts";
import { survivors, wrapperAlive } from "./process_group.ts";
import { processRow } from "./process_table.ts";
import type { RunFiles } from "./run_files.ts";
import { WRAPPER } from "./wrapper.ts";

/** What is to be run, every path absolute. */
export interface LaunchSpec {
  readonly runId: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The whole environment of the app but for `PROCSUP_ID`. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdout: string;
  readonly stderr: string;
}

/** A launched or adopted app. */
export interface Child {
  readonly run: Run;
  /** Resolves with the app's own pid; never, when it ended before it had one. */
  readonly pid: Promise<number>;
  /** Resolves when the app has ended. */
  readonly exited: Promise<Exit>;
}

/** How often adopted apps are looked for, in case their exit went unnoticed. */
const NET_MS = 3000;

/** Starts and adopts apps. */
export class Launcher {
  readonly #files: RunFiles;
  readonly #bootId = bootId();
  readonly #adopted = new Map<Run, () => void>();
  #net: ReturnType<typeof setInterval> | undefined;

  constructor(files: RunFiles) {
    this.#files = files;
  }

  /** Identity of the current boot. */
  get bootId(): string {
    return this.#bootId;
  }

  /** Starts an app. Throws `ProcsupError` `start_failed` when the system refuses. */
  launch(spec: LaunchSpec): Child {
    const { runId } = spec;
    const process = this.#spawn(spec);
    const wrapperPid = process.pid;
    const run: Run = {
      runId,
      wrapperPid,
      wrapperStart: processRow(wrapperPid)?.start ?? "",
      bootId: this.#bootId,
    };
    const pid = this.#whenPid(runId);
    return { run, pid, exited: this.#ownExit(process, run, pid) };
  }

  /** Takes over an app that is still running, or was when the record was written. */
  adopt(run: Run): Child {
    const exited = new Promise<Exit>((resolve) => {
      const over = () => {
        cancel();
        this.#adopted.delete(run);
        if (this.#adopted.size === 0) this.#stopNet();
        resolve(this.exitOf(run.runId));
      };
      const cancel = this.#files.when(run.runId, "exit", () => queueMicrotask(over));
      this.#adopted.set(run, over);
      this.#net ??= setInterval(() => this.#cast(), NET_MS);
    });
    return { run, pid: this.#whenPid(run.runId), exited };
  }

  /** How a run that is over ended, as its wrapper wrote it; code and signal null when it could not. */
  exitOf(runId: string): Exit {
    const status = this.#files.read(runId, "exit");
    if (status === undefined) return { code: null, signal: null, at: new Date() };
    return { ...exitFromStatus(status), at: this.#files.writtenAt(runId, "exit") };
  }

  /** Forgets a run that is over and recorded. */
  forget(runId: string): void {
    this.#files.remove(runId);
  }

  /** Stops looking after adopted apps; they run on. */
  close(): void {
    this.#adopted.clear();
    this.#stopNet();
  }

  #spawn(spec: LaunchSpec): Deno.ChildProcess {
    try {
      return new Deno.Command("/bin/sh", {
        args: [
          "-c",
          WRAPPER,
          "procsup",
          this.#files.stem(spec.runId),
          spec.stdout,
          spec.stderr,
          ...spec.argv,
        ],
        cwd: spec.cwd,
        clearEnv: true,
        env: { ...spec.env, PWD: spec.cwd, PROCSUP_ID: spec.runId },
        detached: true,
        stdin: "null",
        stdout: "null",
        stderr: "null",
      }).spawn();
    } catch (error) {
      throw new ProcsupError("start_failed", `The system refused: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }

  #whenPid(runId: string): Promise<number> {
    return new Promise((resolve) => this.#files.when(runId, "pid", resolve));
  }

  async #ownExit(process: Deno.ChildProcess, run: Run, pid: Promise<number>): Promise<Exit> {
    const { signal } = await process.status;
    if (this.#files.read(run.runId, "exit") === undefined) {
      // The wrapper alone was killed: the app may run on, and is watched like an adopted one.
      if ((await survivors(run)).includes(await settled(pid, 0))) {
        return await this.adopt(run).exited;
      }
      if (signal !== null) return exitFromStatus(128 + 9, "SIGKILL");
    }
    return this.exitOf(run.runId);
  }

  /** Adopted apps whose exit file never came: the wrapper was killed, or its disk is full. */
  async #cast(): Promise<void> {
    for (const [run, over] of [...this.#adopted]) {
      if (!wrapperAlive(run) && (await survivors(run)).length === 0) over();
    }
  }

  #stopNet(): void {
    clearInterval(this.#net);
    this.#net = undefined;
  }
}

/** The value of a promise if it has one by now, else `otherwise`. */
function settled<T>(promise: Promise<T>, otherwise: T): Promise<T> {
  return Promise.race([promise, new Promise<T>((resolve) => setTimeout(resolve, 0, otherwise))]);
}

/** A shell reports an end by a signal as 128 + its number. */
export function exitFromStatus(status: number, known?: string): Exit {
  const linuxName = SIGNAL_NAMES[status - 129];
  const signal = known ?? (linuxName === undefined ? null : localSignal(status - 128, linuxName));
  return { code: status, signal, at: new Date() };
}
