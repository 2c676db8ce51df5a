/** The library's face, and the life of a home: opened, saved, resurrected, closed (spec 4.5). */

import { inputKeys } from "../model/config_keys.ts";
import type { DurationInput } from "../model/duration.ts";
import { ProcsupError } from "../model/errors.ts";
import type { ProcessChange } from "../model/process_change.ts";
import type { ProcessConfigInput, ProcessDefaults } from "../model/process_config.ts";
import type { ProcessInfo } from "../model/process_info.ts";
import { filteredStream } from "../logs/filtered_stream.ts";
import { logStream } from "../logs/follow_log.ts";
import { parseLogFilter } from "../logs/log_filter.ts";
import { notPermitted, refuseMissingPermissions } from "../platform/permissions.ts";
import { takeLock } from "../platform/lock.ts";
import { absolute, type HomePaths, libraryHome, prepareHome } from "../platform/paths.ts";
import { unlessAborted } from "./abandon.ts";
import { throwFirst } from "./bulk.ts";
import { Fleet } from "./fleet.ts";
import { recoverHome } from "./recovery.ts";
import { resurrect, type Resurrected, saveState } from "./saved_state.ts";
import { type SystemWorld, systemWorld } from "./system_world.ts";

/** What a manager is made with (spec 2.4). */
export interface ManagerConfig {
  /** Directory for logs and saved state; default `$TMPDIR/procsup-<uid>`. One manager at a time. */
  readonly logDir?: string;
  /** Values for all processes that do not set them themselves. */
  readonly defaults?: ProcessDefaults;
  /** Gets what the supervisor itself has to say; default: nothing is said. */
  readonly warn?: (message: string) => void;
}

/** What the daemon asks for besides. Not exported by the library. */
export interface SupervisorConfig extends ManagerConfig {
  /** Gets all news, what is found out while opening included. */
  readonly onNews?: (change: ProcessChange) => void;
}

/** How a log is read (spec 2.7). */
export interface LogOptions {
  /** Deliver that many of the last lines first; 0, the default, means all. */
  readonly tail?: number;
  /** Go on with what is written from now on. */
  readonly follow?: boolean;
  /** Standard error instead of standard output. */
  readonly stderr?: boolean;
  /** Ends the stream. */
  readonly signal?: AbortSignal;
  /** Nothing of what is there, only what is written from now on. */
  readonly newOnly?: boolean;
  /** Only lines from then on, archives included: a time, or how long ago (`"10m"`). */
  readonly since?: string | Date;
  /** Only lines up to then. */
  readonly until?: string | Date;
  /** Only lines that match. */
  readonly grep?: string | RegExp;
  /** With `grep`: only lines that do not. */
  readonly invert?: boolean;
}

/** Where Go takes a context: ends the waiting, not what has begun. */
export interface CallOptions {
  /** Aborted, the promise is rejected with its reason; aborted before, nothing is done. */
  readonly signal?: AbortSignal;
}

/** How the list of processes is saved. */
export interface SaveOptions extends CallOptions {
  /** Save even when there is nothing to save but something was saved before; default: refuse. */
  readonly allowEmpty?: boolean;
}

/** How news are read. */
export interface EventOptions {
  /** Ends the stream. */
  readonly signal?: AbortSignal;
}

/** Every verb by target, on one or many processes. Not exported by the library. */
export let fleetOf: (manager: Manager) => Fleet;

/**
 * Supervises processes (spec 4.5). Every method that takes an id also takes a numeric id as text, a
 * name, a base name or a unique prefix of an id. What fails throws a `ProcsupError`: besides the codes
 * named at each method `process_not_found`, `ambiguous_target`, and `closed` after `close()`.
 */
export class Manager implements AsyncDisposable {
  readonly #fleet: Fleet;
  readonly #paths: HomePaths;
  readonly #lock: Disposable;
  readonly #system: SystemWorld;
  #closing: Promise<void> | undefined;

  static {
    fleetOf = (manager) => manager.#fleet;
  }

  private constructor(paths: HomePaths, lock: Disposable, config: ManagerConfig) {
    this.#paths = paths;
    this.#lock = lock;
    this.#system = systemWorld(paths);
    this.#fleet = new Fleet(this.#system.world, paths, config.defaults ?? {}, config.warn);
  }

  /**
   * Opens a manager on its directory and takes up what an earlier one left running there.
   * Throws `home_unusable`, `home_in_use` when another manager or a daemon has it, and `forbidden`
   * when Deno was not given the permissions that supervising needs.
   */
  static async open(config: ManagerConfig = {}, { signal }: CallOptions = {}): Promise<Manager> {
    signal?.throwIfAborted();
    const opening = Manager.#open(config);
    try {
      return await unlessAborted(signal, () => opening);
    } catch (error) {
      // Given up: nobody is left to close it.
      opening.then((manager) => manager.release(), () => {});
      throw notPermitted(error, "supervise processes") ?? error;
    }
  }

  /**
   * Starts a process, or its instances, and returns the (first) id, a UUID. Relative paths and a
   * missing `cwd` are against the current directory. Throws `invalid_config`, `name_taken`,
   * `start_failed`.
   */
  async addProcess(config: ProcessConfigInput, { signal }: CallOptions = {}): Promise<string> {
    const wire = { cwd: Deno.cwd(), ...inputKeys(config) };
    const outcomes = await unlessAborted(signal, () => this.#live.add(wire));
    throwFirst(outcomes);
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

  /** Stops and starts, between the restart hooks; starts what is stopped. Throws `start_failed`. */
  async restart(id: string, { signal }: CallOptions = {}): Promise<void> {
    throwFirst(await unlessAborted(signal, () => this.#live.restart(id)));
  }

  /** Sends the reload signal, or stops and starts, between the reload hooks. */
  async reload(id: string, { signal }: CallOptions = {}): Promise<void> {
    throwFirst(await unlessAborted(signal, () => this.#live.reload(id)));
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
    return this.#live.one(id);
  }

  /**
   * A process's log as it stands on the disk, byte for byte; with one of `since`, `until` and `grep`
   * the lines of it that are wanted. Last lines that were rotated away come from the archives.
   */
  logs(id: string, options: LogOptions = {}): ReadableStream<Uint8Array<ArrayBuffer>> {
    const path = options.stderr ? this.logPathStderr(id) : this.logPath(id);
    const filter = parseLogFilter(options, Date.now());
    return filter ? filteredStream(path, { ...options, filter }) : logStream(path, options);
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

  /** News of all processes from now on; ends with `close()`. */
  events({ signal }: EventOptions = {}): ReadableStream<ProcessChange> {
    return this.#live.events(signal);
  }

  /** Saves the list of processes to the disk; returns how many. Throws `wrong_state` for an empty one. */
  async save({ allowEmpty = false, signal }: SaveOptions = {}): Promise<number> {
    return await unlessAborted(signal, async () => {
      const processes = this.#live.registry.list();
      await saveState(this.#paths.saved, processes, allowEmpty);
      return processes.length;
    });
  }

  /** Brings back the saved processes that are not here, and starts those that were up. */
  async resurrect({ signal }: CallOptions = {}): Promise<Resurrected> {
    return await unlessAborted(signal, async () => {
      const { registry, scheduler } = this.#live;
      const resurrected = await resurrect(registry, this.#paths.saved, () => void this.#live);
      await scheduler.sync();
      return resurrected;
    });
  }

  /**
   * Stops all processes, the last one first, waits for their post_stop hooks, and cleans up; logs
   * and saved state stay. Safe to call several times. Throws `stop_failed` when something would not end.
   */
  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  /** Same as `close()`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Lets go of all processes and leaves them running, for the next manager to take up. */
  release(): void {
    this.#closing ??= Promise.resolve();
    this.#fleet.release();
    this.#system.launcher.close();
    this.#system.files.close();
    this.#system.ready.close();
    this.#lock[Symbol.dispose]();
  }

  /** The fleet of a manager that is not closed. */
  get #live(): Fleet {
    if (this.#closing === undefined) return this.#fleet;
    throw new ProcsupError("closed", "The manager is closed");
  }

  static async #open(config: SupervisorConfig): Promise<Manager> {
    refuseMissingPermissions();
    const paths = prepareHome(
      config.logDir === undefined ? libraryHome() : absolute(config.logDir),
    );
    const lock = takeLock(paths.lock);
    if (lock === undefined) {
      throw new ProcsupError("home_in_use", `Home "${paths.home}" is in use by another supervisor`);
    }
    let manager: Manager | undefined;
    try {
      manager = new Manager(paths, lock, config);
      if (config.onNews !== undefined) manager.#fleet.listen(config.onNews);
      await recoverHome(manager.#fleet.registry, paths, manager.#system, config.warn);
      manager.#fleet.logs.start();
      await manager.#fleet.scheduler.sync();
      return manager;
    } catch (error) {
      if (manager === undefined) lock[Symbol.dispose]();
      else manager.release();
      throw error;
    }
  }

  async #close(): Promise<void> {
    const processes = this.#fleet.registry.list();
    const outcomes = await this.#fleet.close();
    // Whoever closes may be the first process of a container, which ends with it.
    await Promise.all(processes.map(({ journal }) => journal.over("postStop")));
    await this.#fleet.logs.close();
    await this.#system.launcher.close();
    this.release();
    throwFirst(outcomes);
  }
}
