/** The common base of `Manager` and `Client`: a program written for one runs with the other. */

import type { ProcessConfigInput } from "../model/config_input.ts";
import type { DurationInput } from "../model/duration.ts";
import { hasCode, ProcsupError } from "../model/errors.ts";
import { inputKeys } from "../model/key_spelling.ts";
import type { LogStream } from "../model/log_line.ts";
import { isMap, onlyGiven } from "../model/merge_patch.ts";
import { nameFromPath } from "../model/name.ts";
import { NO_USAGE, type ProcessInfo, type ProcessState } from "../model/process_info.ts";
import { commandOf } from "../model/shell_line.ts";
import type { SignalName } from "../model/signal.ts";
import { checkText, configsOf, optionsOf, stopOptions } from "./program_input.ts";
import type {
  CallOptions,
  ConfigSet,
  JobInput,
  JobResult,
  LineOptions,
  OutputLine,
  Resurrected,
  RollingOptions,
  RunOptions,
  SaveOptions,
  StartOptions,
  StopOptions,
  WaitOptions,
} from "./options.ts";

/** Options of `launch()`. */
export interface LaunchOptions extends StartOptions {
  /** Whether to start it as well. */
  readonly start: boolean;
}

/** What the verbs on the processes of a target take, besides the target and an abort signal. */
export type VerbOptions = {
  readonly stop: Omit<StopOptions, "signal">;
  readonly restart: Omit<StartOptions, "signal">;
  readonly reload: Omit<StartOptions, "signal">;
  readonly rollingReload: Omit<RollingOptions, "signal">;
  readonly scale: Omit<StartOptions, "signal"> & { readonly instances: number | string };
  readonly signal: { readonly signal: SignalName | number };
  readonly send: { readonly text: string };
  readonly flush: Readonly<Record<never, never>>;
  readonly remove: Readonly<Record<never, never>>;
};

/**
 * Supervises processes, here or in a daemon. A target is a name, a base name of instances, an id or
 * a unique prefix of one, `all`, `ns:shop`, `tag:web` or `label:team=web`. Failures throw a
 * `ProcsupError`. A verb on several processes handles all of them, then throws the error of the
 * first that failed.
 */
export abstract class ProcessHost {
  /** All processes, by numeric id. */
  abstract list(options?: CallOptions): readonly ProcessInfo[] | Promise<readonly ProcessInfo[]>;
  /** One process. */
  abstract inspect(target: string, options?: CallOptions): ProcessInfo | Promise<ProcessInfo>;
  /** Resolves when each process has reached a state, or at once if it has already. */
  abstract wait(target: string, options?: WaitOptions): Promise<readonly ProcessInfo[]>;
  /** Lines of logs, merged by time over streams and processes. */
  abstract lines(target: string, options?: LineOptions): ReadableStream<OutputLine>;
  /** Saves the list of processes and returns their number. */
  abstract save(options?: SaveOptions): Promise<number>;
  /** Restores missing saved processes, and starts those that were running. */
  abstract resurrect(options?: CallOptions): Promise<Resurrected>;

  /** Carries out a verb on the processes of a target. */
  protected abstract perform<V extends keyof VerbOptions>(
    verb: V,
    target: string,
    how: VerbOptions[V],
    signal: AbortSignal | undefined,
  ): Promise<void>;
  /** Registers a process and starts it if `start` is set. Returns the (first) process. */
  protected abstract launch(
    config: ProcessConfigInput,
    options: LaunchOptions,
  ): Promise<ProcessInfo>;
  /** Starts existing processes. Returns the first one. */
  protected abstract startAgain(target: string, options: StartOptions): Promise<ProcessInfo>;
  /** Applies configurations to processes. */
  protected abstract bringTo(
    configs: readonly ProcessConfigInput[],
    options: StartOptions,
  ): Promise<void>;
  /** A whole log of a process. */
  protected abstract output(
    target: string,
    stream: LogStream,
    options: CallOptions,
  ): Promise<string>;
  /**
   * The current information about a process, if known without a request; null if it is known to be
   * removed.
   */
  protected known(_id: string): ProcessInfo | null | undefined {
    return undefined;
  }

  /**
   * Starts a new process, or existing ones by target. Without `cwd` a script runs in its own
   * folder, any other program in the current directory. Throws `StartFailedError` if it does not
   * start; the process stays in the state that the error names.
   */
  async start(what: string | ProcessConfigInput, options: StartOptions = {}): Promise<Process> {
    const how = optionsOf("start", options);
    return typeof what === "string"
      ? this.#process(await this.startAgain(what, how), what)
      : this.#process(await this.launch(what, { ...how, start: true }));
  }

  /** Registers a new process without starting it. */
  async add(config: ProcessConfigInput, options: CallOptions = {}): Promise<Process> {
    const how = optionsOf("call", options);
    return this.#process(await this.launch(config, { ...how, start: false }));
  }

  /** An existing process. */
  async get(target: string, options: CallOptions = {}): Promise<Process> {
    return this.#process(await this.inspect(target, options), target);
  }

  /**
   * Stops processes and everything they started: sends the stop signal, and SIGKILL after the
   * timeout. A duration is the timeout; default: the `stopTimeout`. Throws `stop_failed`.
   */
  async stop(target: string, options: DurationInput | StopOptions = {}): Promise<void> {
    const { signal, ...how } = stopOptions(options);
    await this.perform("stop", target, how, signal);
  }

  /**
   * Stops and starts processes between their restart hooks, or starts stopped ones. Throws like
   * `start()` if one does not come up.
   */
  async restart(target: string, options: StartOptions = {}): Promise<void> {
    const { signal, ...how } = optionsOf("start", options);
    await this.perform("restart", target, how, signal);
  }

  /**
   * Sends the reload signal, or stops and starts, between the reload hooks. Instances reload one
   * after the other, each once the previous one is ready. Throws like `restart()`.
   */
  async reload(target: string, options: StartOptions = {}): Promise<void> {
    const { signal, ...how } = optionsOf("start", options);
    await this.perform("reload", target, how, signal);
  }

  /** Reloads the instances of a process in batches. Stops at the first failure. */
  async rollingReload(target: string, options: RollingOptions = {}): Promise<void> {
    const { signal, ...how } = optionsOf("rolling", options);
    await this.perform("rollingReload", target, how, signal);
  }

  /**
   * Changes the number of instances of the process of that name: `4`, `"+2"` or `"-1"`. Throws like
   * `restart()`.
   */
  async scale(name: string, instances: number | string, options: StartOptions = {}): Promise<void> {
    const { signal, ...how } = optionsOf("start", options);
    await this.perform("scale", name, { ...how, instances }, signal);
  }

  /**
   * Sends a signal, by name or number, to the apps' main processes. Throws `wrong_state` if an app
   * does not run.
   */
  async signal(
    target: string,
    name: SignalName | number,
    options: CallOptions = {},
  ): Promise<void> {
    const { signal } = optionsOf("call", options);
    await this.perform("signal", target, { signal: name }, signal);
  }

  /**
   * Writes a text to the standard input of apps with `stdin` or `tty`. A client takes up to 65,536
   * characters.
   */
  async send(target: string, text: string, options: CallOptions = {}): Promise<void> {
    const { signal } = optionsOf("call", options);
    checkText(text);
    await this.perform("send", target, { text }, signal);
  }

  /** Empties logs and removes their archives; the apps continue to write. */
  async flush(target: string, options: CallOptions = {}): Promise<void> {
    const { signal, ...how } = optionsOf("call", options);
    await this.perform("flush", target, how, signal);
  }

  /** Stops processes and removes them; their logs stay. */
  async remove(target: string, options: CallOptions = {}): Promise<void> {
    const { signal, ...how } = optionsOf("call", options);
    await this.perform("remove", target, how, signal);
  }

  /**
   * Runs a job to its end and returns its result. A code other than 0 is not an error. Throws
   * `StartFailedError` if it cannot be started. After an abort or a timeout the job is stopped.
   */
  async run(config: JobInput, options: RunOptions = {}): Promise<JobResult> {
    const { signal, timeout } = optionsOf("run", options);
    refuseForeign(config);
    const job = await this.#job({ restartPolicy: "never", ...config });
    // Not `await using`: Node.js 22 does not support it.
    try {
      // Remove output of an earlier job of this name.
      await job.flush({ signal });
      await job.start({ signal });
      const { lastExit } = await job.wait({ for: "exit", timeout, signal });
      const textOf = async (stream: LogStream) =>
        (await this.output(job.id, stream, { signal })).replace(/\r?\n$/, "");
      return {
        code: lastExit?.code ?? null,
        stdout: await textOf("stdout"),
        stderr: await textOf("stderr"),
      };
    } finally {
      // Its log stays until the next job of its name.
      await job[Symbol.asyncDispose]();
    }
  }

  /**
   * Applies a configuration with as few restarts as possible: adds new processes, replaces changed
   * ones, starts all of them. Leaves other processes alone. Changes nothing if any entry is
   * invalid. Returns the processes by name.
   */
  async apply<N extends string>(
    config: ConfigSet<N>,
    options: StartOptions = {},
  ): Promise<Record<N, Process>> {
    return await this.#bring(configsOf(config), optionsOf("start", options));
  }

  /** Applies the configuration of one process and starts it. Repeated calls are safe. */
  async ensure(config: ProcessConfigInput, options: StartOptions = {}): Promise<Process> {
    return (await this.#bring([config], optionsOf("start", options)))[config.name]!;
  }

  /** Registers a job. Without a name it gets the first free one. */
  async #job({ name, ...config }: JobInput): Promise<Process> {
    if (name !== undefined) return await this.add({ ...config, name } as ProcessConfigInput);
    const base = nameFromPath(programOf(config));
    const taken = new Set((await this.list()).map(({ name }) => name));
    for (let number = 1;; number++) {
      const free = `${base}-${number}`;
      if (taken.has(free)) continue;
      try {
        return await this.add({ ...config, name: free } as ProcessConfigInput);
      } catch (error) {
        // Another job took the name meanwhile.
        if (!hasCode(error, "name_taken")) throw error;
      }
    }
  }

  async #bring(
    configs: readonly ProcessConfigInput[],
    options: StartOptions,
  ): Promise<Record<string, Process>> {
    await this.bringTo(configs, options);
    const infos = Map.groupBy(
      await this.list({ signal: options.signal }),
      (info) => info.config.name,
    );
    const entries = configs.flatMap(({ name }) => {
      const [first] = infos.get(name) ?? [];
      return first === undefined ? [] : [[name, this.#process(first)]];
    });
    return Object.fromEntries(entries);
  }

  #process(info: ProcessInfo, target?: string): Process {
    const now = () => this.known(info.id);
    return new Process(this, info, now, target !== undefined && namesOne(target, info));
  }
}

/** A job runs once, at once, and its log is emptied before. */
function refuseForeign(job: JobInput): void {
  const { cron, cron_restart: cronRestart, instances, log } = inputKeys(job);
  const { stdout, stderr } = isMap(log) ? log : {};
  const given = { cron, cronRestart, instances, "log.stdout": stdout, "log.stderr": stderr };
  const [field] = Object.keys(onlyGiven(given));
  if (field === undefined) return;
  const message = `run() takes no ${field}: it runs one process once and returns its output`;
  throw new ProcsupError("invalid_config", message);
}

function programOf({ entrypoint, script, binary, command }: JobInput): string {
  const program = entrypoint ?? script ?? binary ??
    (typeof command === "string" ? commandOf(command).entrypoint : undefined);
  return typeof program === "string" ? program : "job";
}

/** True if a target names one of several instances. */
function namesOne(target: string, { id, numericId, name, config }: ProcessInfo): boolean {
  if (name === config.name || target === config.name) return false;
  return target === name || target === String(numericId) || id.startsWith(target) ||
    target.startsWith(id);
}

/** The last details of a removed process. */
function removed(info: ProcessInfo): ProcessInfo {
  const over = { state: "stopped", pid: 0, uptimeMs: 0, ready: false, health: "unknown" } as const;
  return { ...info, ...NO_USAGE, ...over, nextRestartAt: null };
}

/**
 * A process of a `Manager` or of a `Client`. With several instances, `id`, `pid` and `state` are
 * those of the first, and every method acts on all of them; one that was got by a target of a single
 * instance, such as `api:1`, is that instance alone. `await using` removes it at the end.
 */
export class Process implements AsyncDisposable {
  /** Id of the (first) instance. */
  readonly id: string;
  /** Its name, or the common name of its instances. */
  readonly name: string;
  readonly #target: string;
  readonly #host: ProcessHost;
  readonly #now: () => ProcessInfo | null | undefined;
  #last: ProcessInfo;

  /** Use `start()`, `add()` or `get()` instead. `now` returns what is known without a request. */
  constructor(
    host: ProcessHost,
    info: ProcessInfo,
    now: () => ProcessInfo | null | undefined,
    isInstance: boolean,
  ) {
    this.id = info.id;
    this.name = isInstance ? info.name : info.config.name;
    this.#target = isInstance ? info.id : info.config.name;
    this.#host = host;
    this.#now = now;
    this.#last = info;
  }

  /**
   * All known information. From a manager it is current. From a client it is as of the last method
   * called here; `inspect()` asks the daemon.
   */
  get info(): ProcessInfo {
    const now = this.#now();
    return this.#last = now === null ? removed(this.#last) : now ?? this.#last;
  }

  /** Process id, 0 while nothing runs; see `info`. */
  get pid(): number {
    return this.info.pid;
  }

  /** Its state; see `info`. */
  get state(): ProcessState {
    return this.info.state;
  }

  /** Its current information. */
  async inspect(options: CallOptions = {}): Promise<ProcessInfo> {
    return this.#last = await this.#host.inspect(this.id, options);
  }

  /** Starts it again. */
  async start(options: StartOptions = {}): Promise<void> {
    await this.#host.start(this.#target, options);
    await this.inspect({ signal: options.signal });
  }

  /** Stops it and everything it started. */
  async stop(how: DurationInput | StopOptions = {}): Promise<void> {
    await this.#host.stop(this.#target, how);
    await this.inspect();
  }

  /** Stops and starts it. */
  async restart(options: StartOptions = {}): Promise<void> {
    await this.#host.restart(this.#target, options);
    await this.inspect({ signal: options.signal });
  }

  /** Reloads it gracefully. */
  async reload(options: StartOptions = {}): Promise<void> {
    await this.#host.reload(this.#target, options);
    await this.inspect({ signal: options.signal });
  }

  /** Stops it and removes it; its logs stay. */
  async remove(options: CallOptions = {}): Promise<void> {
    await this.#host.remove(this.#target, options);
    this.#last = removed(this.#last);
  }

  /** Sends a signal to the app's main process. */
  async signal(name: SignalName | number, options: CallOptions = {}): Promise<void> {
    await this.#host.signal(this.#target, name, options);
  }

  /** Writes a text to its standard input. Needs `stdin` or `tty`. */
  async send(text: string, options: CallOptions = {}): Promise<void> {
    await this.#host.send(this.#target, text, options);
  }

  /** Empties its logs. */
  async flush(options: CallOptions = {}): Promise<void> {
    await this.#host.flush(this.#target, options);
  }

  /** Resolves when it has reached a state, or at once if it has already: see `WaitOptions`. */
  async wait(options: WaitOptions = {}): Promise<ProcessInfo> {
    const all = await this.#host.wait(this.#target, options);
    return this.#last = all.find(({ id }) => id === this.id) ?? all[0] ?? this.info;
  }

  /** Lines of its standard output and standard error. */
  lines(options: LineOptions = {}): ReadableStream<OutputLine> {
    return this.#host.lines(this.#target, options);
  }

  /** Removes it, unless it was deleted or its manager closed. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.remove().catch((error) => {
      const isGone = hasCode(error, "process_not_found", "closed");
      if (!isGone) throw error;
    });
  }
}
