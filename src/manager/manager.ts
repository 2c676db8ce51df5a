/** The library's face: a supervisor whose failures are thrown. */

import { parseLogFilter } from "../logs/log_filter.ts";
import { filteredStream, logStream } from "../logs/log_stream.ts";
import type { ProcessConfigInput } from "../model/config_input.ts";
import type { DurationInput } from "../model/duration.ts";
import { ProcsupError } from "../model/errors.ts";
import { inputKeys } from "../model/key_spelling.ts";
import type { ProcessChange } from "../model/process_change.ts";
import type { ProcessInfo } from "../model/process_info.ts";
import { parseSignal, type SignalName } from "../model/signal.ts";
import { StartFailedError } from "../model/start_failed.ts";
import { inWorkingDirectory } from "../platform/paths.ts";
import { unlessAborted } from "../process/abort.ts";
import { type Outcome, throwFirst } from "./bulk.ts";
import { checkLogOptions } from "./check_options.ts";
import { lastWords } from "./last_words.ts";
import type {
  CallOptions,
  EventOptions,
  LogOptions,
  ManagerConfig,
  RollingOptions,
  SaveOptions,
  StartOptions,
  WaitOptions,
} from "./manager_options.ts";
import { openSupervisor } from "./open_supervisor.ts";
import type { Resurrected } from "./saved_state.ts";
import type { Supervisor } from "./supervisor.ts";

/**
 * Supervises processes. Every method that takes an id also takes a numeric id as text, a
 * name, a base name or a unique prefix of an id. What fails throws a `ProcsupError`: besides the codes
 * named at each method `process_not_found`, `ambiguous_target`, and `closed` after `close()`.
 */
export class Manager implements AsyncDisposable {
  readonly #supervisor: Supervisor;

  private constructor(supervisor: Supervisor) {
    this.#supervisor = supervisor;
  }

  /**
   * Opens a manager on its directory and takes up what an earlier one left running there.
   * Throws `invalid_config`, `home_unusable`, `home_in_use` when another manager or a daemon has the
   * directory, and `forbidden` when Deno was not given the permissions that supervising needs.
   */
  static async open(config: ManagerConfig = {}, { signal }: CallOptions = {}): Promise<Manager> {
    signal?.throwIfAborted();
    const opening = openSupervisor(config);
    try {
      return new Manager(await unlessAborted(signal, () => opening));
    } catch (error) {
      // The caller gave up and will not close it.
      opening.then((supervisor) => supervisor.release(), () => {});
      throw error;
    }
  }

  /**
   * Starts a process, or its instances, and returns the (first) id, a UUID. A relative or missing
   * `cwd` is against the current directory. Throws `invalid_config` and `name_taken` before anything is
   * done. When it does not come up it throws a `StartFailedError`, and the process stays, in the state
   * that the error tells.
   */
  async addProcess(config: ProcessConfigInput, options: StartOptions = {}): Promise<string> {
    const { signal, ...how } = options;
    const wire = inWorkingDirectory(inputKeys(config));
    const outcomes = await this.#up(signal, () => this.#live.add(wire, how));
    return outcomes[0]!.process.identity.id;
  }

  /**
   * Ends a process and all it started: its stop signal, and SIGKILL after the timeout, a Go duration
   * (`"5s"`) or nanoseconds; default: its `stopTimeout`. Throws `stop_failed`.
   */
  async stop(id: string, timeout?: DurationInput, { signal }: CallOptions = {}): Promise<void> {
    const options = timeout === undefined ? {} : { timeout };
    throwFirst(await unlessAborted(signal, () => this.#live.stop(id, options)));
  }

  /** SIGKILL at once. */
  async forceStop(id: string, { signal }: CallOptions = {}): Promise<void> {
    throwFirst(await unlessAborted(signal, () => this.#live.stop(id, { force: true })));
  }

  /**
   * Stops and starts, between the restart hooks; starts what is stopped. Throws as `addProcess()`
   * does when it does not come up.
   */
  async restart(id: string, { signal, ...how }: StartOptions = {}): Promise<void> {
    await this.#up(signal, () => this.#live.restart(id, how));
  }

  /**
   * Sends the reload signal, or stops and starts, between the reload hooks. The instances of one
   * follow each other, each when the one before it is ready. Throws as `restart()` does.
   */
  async reload(id: string, { signal, ...how }: StartOptions = {}): Promise<void> {
    await this.#up(signal, () => this.#live.reload(id, how));
  }

  /** Reloads the instances of a process a batch at a time, and goes on no further when one fails. */
  async rollingReload(id: string, { signal, ...how }: RollingOptions = {}): Promise<void> {
    await this.#up(signal, async () => (await this.#live.rollingReload(id, how)).outcomes);
  }

  /**
   * Changes how many instances there are of the process of that name: `4`, `"+2"` or `"-1"`. Throws
   * as `restart()` does.
   */
  async scale(
    name: string,
    instances: number | string,
    { signal }: CallOptions = {},
  ): Promise<void> {
    await this.#up(signal, () => this.#live.scale(name, instances));
  }

  /** Sends a signal to the app itself, by name or number. Throws `wrong_state` when it does not run. */
  async signal(id: string, name: SignalName | number, options: CallOptions = {}): Promise<void> {
    const number = parseSignal(name);
    throwFirst(await unlessAborted(options.signal, () => this.#live.signal(id, number)));
  }

  /**
   * Resolves when a process, or each of its instances, has come to a point in its life, be it already
   * there; the signal is the way to wait no longer. Throws `wrong_state` when it is removed meanwhile.
   */
  async wait(
    id: string,
    { for: point = "ready", signal }: WaitOptions = {},
  ): Promise<readonly ProcessInfo[]> {
    return await unlessAborted(signal, () => this.#live.waitFor(id, point, signal));
  }

  /** Stops a process and forgets it; its logs stay. */
  async remove(id: string, { signal }: CallOptions = {}): Promise<void> {
    throwFirst(await unlessAborted(signal, () => this.#live.remove(id)));
  }

  /** All processes, by numeric id. */
  list(): ProcessInfo[] {
    return this.#live.list();
  }

  /** One process. */
  inspect(id: string): ProcessInfo {
    return this.#live.inspect(id);
  }

  /**
   * A process's log as it stands on the disk, byte for byte; with one of `since`, `until` and `grep`
   * the lines of it that are wanted. Last lines that were rotated away come from the archives.
   */
  logs(id: string, options: LogOptions = {}): ReadableStream<Uint8Array<ArrayBuffer>> {
    checkLogOptions(options);
    const { gone } = this.#live.process(id);
    const path = options.stderr ? this.logPathStderr(id) : this.logPath(id);
    const filter = parseLogFilter(options, Date.now());
    return filter
      ? filteredStream(path, { ...options, filter, gone })
      : logStream(path, { ...options, gone });
  }

  /** Path of the standard output log. */
  logPath(id: string): string {
    return this.#live.logFiles(id).stdout;
  }

  /** Path of the standard error log. */
  logPathStderr(id: string): string {
    return this.#live.logFiles(id).stderr;
  }

  /** Empties the logs of a process and removes their archives; it goes on writing. */
  async flush(id: string, { signal }: CallOptions = {}): Promise<void> {
    throwFirst(await unlessAborted(signal, () => this.#live.flush(id)));
  }

  /** News of all processes from now on; ends with `close()`, and for a reader who is 10,000 behind. */
  events({ signal }: EventOptions = {}): ReadableStream<ProcessChange> {
    return this.#live.events(signal);
  }

  /**
   * Saves the list of processes to the disk; returns how many. Throws `wrong_state` for an empty one,
   * `home_unusable` when it cannot be written.
   */
  async save({ signal, ...options }: SaveOptions = {}): Promise<number> {
    return await unlessAborted(signal, () => Promise.resolve(this.#live.save(options)));
  }

  /** Brings back the saved processes that are not here, and starts those that were up. */
  async resurrect({ signal }: CallOptions = {}): Promise<Resurrected> {
    return await unlessAborted(signal, () => this.#live.resurrect());
  }

  /**
   * Stops all processes, the last one first, waits for their hooks that are under way, and cleans up;
   * logs and saved state stay. Safe to call several times. Throws `stop_failed` when something would not end.
   */
  close(): Promise<void> {
    return this.#supervisor.close();
  }

  /** Same as `close()`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Lets go of all processes and leaves them running, for the next manager to take up. */
  release(): void {
    this.#supervisor.release();
  }

  /** The supervisor of a manager that is not closed. */
  get #live(): Supervisor {
    if (!this.#supervisor.closing) return this.#supervisor;
    throw new ProcsupError("closed", "The manager is closed");
  }

  /** Something that starts processes, and what they said when it failed. */
  async #up(
    signal: AbortSignal | undefined,
    start: () => Promise<readonly Outcome[]>,
  ): Promise<readonly Outcome[]> {
    const outcomes = await unlessAborted(signal, start);
    await throwFailedStart(outcomes);
    return outcomes;
  }
}

/** Throws the first failure of several, if there is one; that of a start with the last words of its run. */
async function throwFailedStart(outcomes: readonly Outcome[]): Promise<void> {
  const failed = outcomes.find(({ error }) => error !== undefined);
  if (failed?.error?.code !== "start_failed") return throwFirst(outcomes);
  const { process, error, lastWords: words } = failed;
  throw new StartFailedError(error.message, {
    processName: process.name,
    state: process.snapshot.state,
    ...words ?? await lastWords(process),
  }, { cause: error });
}
