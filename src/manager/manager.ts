/** The API of the library: a supervisor that throws failures. */

import { inScriptFolder, lineOptions, optionsOf } from "../library/program_input.ts";
import type {
  CallOptions,
  LineOptions,
  OutputLine,
  Resurrected,
  SaveOptions,
  StartOptions,
  WaitOptions,
} from "../library/options.ts";
import { type LaunchOptions, ProcessHost, type VerbOptions } from "../library/process_host.ts";
import { inLibraryWords, withLibraryWords } from "../library/words.ts";
import { parseLogFilter } from "../logs/read/log_filter.ts";
import { logStream } from "../logs/read/log_stream.ts";
import type { ReleaseInfo } from "../model/app.ts";
import type { ProcessConfigInput } from "../model/config_input.ts";
import { ifPossible, ProcsupError } from "../model/errors.ts";
import { StartFailedError } from "../model/start_failed.ts";
import { inputKeys } from "../model/key_spelling.ts";
import type { LogStream } from "../model/log_line.ts";
import type { ProcessChange, ProcessInfo } from "../model/process_info.ts";
import { parseSignal } from "../model/signal.ts";
import { Turns, unlessAborted } from "../platform/concurrency.ts";
import { onSignals } from "../platform/scan/signals.ts";
import { sendText } from "./app_terminal.ts";
import { type Outcome, throwFirst } from "./bulk.ts";
import { filteredBytes, outputLines } from "./log_sources.ts";
import {
  checkLogOptions,
  type EventOptions,
  type LogOptions,
  type ManagerConfig,
} from "./manager_options.ts";
import { openSupervisor } from "./open_supervisor.ts";
import type { Supervisor } from "./supervisor.ts";

/**
 * Supervises processes. Every method that takes an id also takes a numeric id as text, a name, a
 * base name or a unique prefix of an id. Failures throw a `ProcsupError`: besides the codes named
 * at each method, `process_not_found`, `ambiguous_target`, and `closed` after `close()`.
 */
export class Manager extends ProcessHost implements AsyncDisposable {
  readonly #supervisor: Supervisor;
  readonly #leaves: boolean;
  /**
   * Two plans made at once would register the same process. Starts and changes take no turn: one may
   * wait for a dependency without a time limit.
   */
  readonly #plans = new Turns();
  readonly #ignoreSignals: () => void;

  private constructor(supervisor: Supervisor, { onExit, signals = false }: ManagerConfig) {
    super();
    this.#supervisor = supervisor;
    this.#leaves = onExit === "leave";
    this.#ignoreSignals = closeAt(signals, {
      close: () => this.close(),
      hurry: () => void supervisor.stop("all", { force: true }),
      ended: () => this.#ended(),
    });
  }

  /** Sends each app its stop signal if the program ends without `close()`. */
  #ended(): void {
    if (this.#leaves) return;
    for (const process of this.#supervisor.directory.list()) {
      if (process.snapshot.pid === 0) continue;
      // It has just ended, or belongs to another user. The others get theirs.
      ifPossible(() => process.signal(process.config.stopSignal));
    }
  }

  /**
   * Opens a manager on its directory and adopts processes that an earlier one left running. Throws
   * `invalid_config`, `home_unusable`, `home_in_use` if another manager or a daemon uses the
   * directory, and `forbidden` if Deno permissions are missing.
   */
  static async open(config: ManagerConfig = {}, options: CallOptions = {}): Promise<Manager> {
    const { signal } = optionsOf("call", options);
    signal?.throwIfAborted();
    const opening = openSupervisor(config);
    try {
      return new Manager(await unlessAborted(signal, () => opening), config);
    } catch (error) {
      // The caller aborted and will not close it.
      opening.then((supervisor) => supervisor.release(), () => {});
      throw inLibraryWords(error);
    }
  }

  /** Starts a process, or its instances, like `start()`. Returns the (first) id, a UUID. */
  async addProcess(config: ProcessConfigInput, options: StartOptions = {}): Promise<string> {
    return (await this.launch(config, { ...optionsOf("start", options), start: true })).id;
  }

  /** Stops a process with SIGKILL at once. */
  async forceStop(id: string, options: CallOptions = {}): Promise<void> {
    await this.stop(id, { ...options, force: true });
  }

  /**
   * Resolves when a process, or each of its instances, has reached a state, or at once if it has
   * already. Throws `timeout`, `start_failed` if it failed for good, and `wrong_state` if it is
   * removed meanwhile.
   */
  override async wait(id: string, options: WaitOptions = {}): Promise<readonly ProcessInfo[]> {
    const { for: point = "ready", ...limit } = optionsOf("wait", options);
    return await this.#do({ signal: limit.signal }, () => this.#live.waitFor(id, point, limit));
  }

  /** All processes, by numeric id. */
  override list(): ProcessInfo[] {
    return withLibraryWords(() => this.#live.list());
  }

  /** The changes of apps on record, the newest last. */
  releases(target: string): readonly ReleaseInfo[] {
    return withLibraryWords(() => this.#live.releases(target));
  }

  /** One process. */
  override inspect(id: string): ProcessInfo {
    return withLibraryWords(() => this.#live.inspect(id));
  }

  /**
   * Lines of the logs of one or more processes, in order of time. With `follow`, those of processes
   * that come later are included; the stream ends when all of its processes are removed (unless the
   * target is `all`), or when the manager is closed.
   */
  override lines(id: string, options: LineOptions = {}): ReadableStream<OutputLine> {
    return withLibraryWords(() => outputLines(this.#live.directory, id, lineOptions(options)));
  }

  /**
   * The bytes of a process's log as on disk; with `since`, `until` or `grep`, only matching lines.
   * Reads archives too if the last lines were rotated away.
   */
  logs(id: string, options: LogOptions = {}): ReadableStream<Uint8Array<ArrayBuffer>> {
    return withLibraryWords(() => {
      checkLogOptions(options);
      const process = this.#live.process(id);
      const filter = parseLogFilter(options, Date.now());
      if (filter !== undefined) return filteredBytes(process, { ...options, filter });
      const { gone, logs } = process;
      return logStream(options.stderr ? logs.stderr : logs.stdout, { ...options, gone });
    });
  }

  /** Path of the standard output log. */
  logPath(id: string): string {
    return withLibraryWords(() => this.#live.process(id).logs.stdout);
  }

  /** Path of the standard error log. */
  logPathStderr(id: string): string {
    return withLibraryWords(() => this.#live.process(id).logs.stderr);
  }

  /** New events of all processes. Ends at `close()`, and if a reader is 10,000 events behind. */
  events(options: EventOptions = {}): ReadableStream<ProcessChange> {
    return withLibraryWords(() => this.#live.events.stream(optionsOf("call", options).signal));
  }

  /**
   * Saves the list of processes to the disk and returns their number. Throws `wrong_state` for an
   * empty list, and `home_unusable` if it cannot be written.
   */
  override async save(options: SaveOptions = {}): Promise<number> {
    const { signal, ...how } = optionsOf("save", options);
    return await this.#do({ signal }, () => Promise.resolve(this.#live.save(how)));
  }

  /** Restores missing saved processes, and starts those that were running. */
  override async resurrect(options: CallOptions = {}): Promise<Resurrected> {
    return await this.#do(options, () => this.#live.resurrect());
  }

  /**
   * Stops all processes, the last one first, waits for their running hooks, and cleans up; logs and
   * saved state stay. With `onExit: "leave"` the processes keep running. Safe to call several
   * times. Throws `stop_failed` if a process does not end.
   */
  async close(): Promise<void> {
    this.#ignoreSignals();
    if (this.#leaves) return this.release();
    await this.#do({}, () => this.#supervisor.close());
  }

  /** Same as `close()`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Closes the manager and leaves all processes running, for the next manager to adopt. */
  release(): void {
    this.#ignoreSignals();
    this.#supervisor.release();
  }

  /** The supervisor. Throws `closed` after the manager was closed. */
  get #live(): Supervisor {
    if (!this.#supervisor.closing) return this.#supervisor;
    throw new ProcsupError("closed", "The manager is closed");
  }

  /** Carries out a verb on the processes of a target. */
  protected override async perform<V extends keyof VerbOptions>(
    verb: V,
    target: string,
    how: VerbOptions[V],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    await this.#all({ signal }, () => VERBS[verb](this.#live, target, how));
  }

  /** Registers a process. */
  protected override async launch(
    config: ProcessConfigInput,
    { signal, ...how }: LaunchOptions,
  ): Promise<ProcessInfo> {
    const wire = withLibraryWords(() => inScriptFolder(inputKeys(config)));
    const [first] = await this.#all({ signal }, () => this.#live.add(wire, how));
    return first!.process.info();
  }

  /** Starts processes that exist. */
  protected override async startAgain(
    target: string,
    { signal, ...how }: StartOptions,
  ): Promise<ProcessInfo> {
    const [first] = await this.#all({ signal }, () => this.#live.start(target, how));
    if (first !== undefined) return this.inspect(first.process.identity.id);
    throw new ProcsupError("process_not_found", `Nothing to start: "${target}" matches no app`, {
      hint: "A job is started by its name",
    });
  }

  /** Applies configurations to processes. */
  protected override async bringTo(
    configs: readonly ProcessConfigInput[],
    { signal, ...how }: StartOptions,
  ): Promise<void> {
    await this.#all({ signal }, async () => {
      const wanted = configs.map((config) => this.#live.parse(inScriptFolder(inputKeys(config))));
      const options = { ...how, startDown: true };
      const { applied } = await this.#plans.take(async () => {
        const plan = await this.#live.apply.plan(wanted);
        const registered = await this.#live.apply.register(plan, {});
        return { applied: this.#live.apply.carryOut(plan, registered, options) };
      });
      const { outcomes, errors } = await applied;
      throwFailed(outcomes);
      if (errors.length > 0) throw new ProcsupError("start_failed", errors.join("; "));
      return outcomes;
    });
  }

  /** A whole log of a process, archives included. */
  protected override async output(
    id: string,
    stream: LogStream,
    options: CallOptions,
  ): Promise<string> {
    const whole = { tail: Number.MAX_SAFE_INTEGER, stderr: stream === "stderr" };
    return await new Response(this.logs(id, { ...options, ...whole })).text();
  }

  /** The current information about a process, without its resource usage. */
  protected override known(id: string): ProcessInfo | null {
    return ifPossible(() => this.#supervisor.process(id).info()) ?? null;
  }

  /** Runs a verb on several processes. Throws the first failure, see `throwFailed()`. */
  async #all(
    options: CallOptions,
    act: () => Promise<readonly Outcome[]>,
  ): Promise<readonly Outcome[]> {
    return await this.#do(options, async () => {
      const outcomes = await act();
      throwFailed(outcomes);
      return outcomes;
    });
  }

  async #do<T>(options: CallOptions, act: () => Promise<T>): Promise<T> {
    try {
      const { signal } = optionsOf("call", options);
      return await unlessAborted(signal, act);
    } catch (error) {
      throw inLibraryWords(error);
    }
  }
}

/** The verbs on the processes of a target. */
const VERBS: {
  readonly [V in keyof VerbOptions]: (
    supervisor: Supervisor,
    target: string,
    how: VerbOptions[V],
  ) => Promise<readonly Outcome[]>;
} = {
  stop: (supervisor, target, how) => supervisor.stop(target, how),
  restart: (supervisor, target, how) => supervisor.restart(target, how),
  reload: async (supervisor, target, how) => (await supervisor.reload(target, how)).outcomes,
  rollingReload: async (supervisor, target, how) =>
    (await supervisor.reload(target, { waitReady: true, ...how })).outcomes,
  scale: (supervisor, name, { instances, ...how }) => supervisor.scale(name, instances, how),
  signal: async (supervisor, target, { signal }) =>
    await supervisor.signal(target, parseSignal(signal)),
  send: (supervisor, target, { text }) => sendText(supervisor, target, text),
  flush: (supervisor, target) => supervisor.flush(target),
  remove: (supervisor, target) => supervisor.remove(target),
};

/** Throws the first failure, if any. The error of a failed start has the last output of its run. */
function throwFailed(outcomes: readonly Outcome[]): void {
  const failed = outcomes.find(({ error }) => error !== undefined);
  if (failed?.error?.code !== "start_failed") return throwFirst(outcomes);
  const { process, error, lastWords: words } = failed;
  throw new StartFailedError(error.message, {
    processName: process.name,
    state: process.snapshot.state,
    ...words ?? { lastOutput: [] },
  }, { cause: error });
}

/** Callbacks for signals and for the end of the program. */
interface Closing {
  /** Called at the first signal. Once it is done, the program ends by that signal. */
  readonly close: () => Promise<void>;
  /** Called at a second signal. */
  readonly hurry: () => void;
  /** Called when the program ends without closing. It cannot wait for anything. */
  readonly ended: () => void;
}

const USUAL = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Closes a manager when its program ends. Listens until the returned function is called. */
function closeAt(
  signals: boolean | readonly Deno.Signal[],
  { close, hurry, ended }: Closing,
): () => void {
  const given = signals === true ? USUAL : signals === false ? [] : signals;
  // Each once: the first signal must not count as the second, too.
  const names = [...new Set(given.map(parseSignal))];
  let closing = false;
  const listening = onSignals(names, (name) => {
    if (closing) return hurry();
    closing = true;
    void close().catch(reportError).finally(() => {
      listening[Symbol.dispose]();
      // End by the signal itself, so that the parent process sees it.
      Deno.kill(Deno.pid, name);
    });
  });
  globalThis.addEventListener("unload", ended);
  return () => {
    globalThis.removeEventListener("unload", ended);
    // While closing, keep listening for a second signal.
    if (!closing) listening[Symbol.dispose]();
  };
}
