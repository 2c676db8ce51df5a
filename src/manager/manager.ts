/** The library's face, and the life of a home: opened, saved, resurrected, closed (spec 4.5). */

import { inputKeys } from "../model/config_keys.ts";
import type { DurationInput } from "../model/duration.ts";
import { ProcsupError } from "../model/errors.ts";
import type { ProcessChange } from "../model/process_change.ts";
import type { ProcessConfigInput, ProcessDefaults } from "../model/process_config.ts";
import type { ProcessInfo } from "../model/process_info.ts";
import { logStream } from "../logs/follow_log.ts";
import { takeLock } from "../platform/lock.ts";
import { type HomePaths, libraryHome, prepareHome } from "../platform/paths.ts";
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
}

/**
 * Supervises processes (spec 4.5). Every method that takes an id also takes a numeric id as text, a
 * name, a base name or a unique prefix of an id, and throws `process_not_found` or
 * `ambiguous_target`.
 */
export class Manager implements AsyncDisposable {
  /** Every verb by target, on one or many processes. */
  readonly fleet: Fleet;
  readonly #paths: HomePaths;
  readonly #lock: Disposable;
  readonly #system: SystemWorld;
  #closing: Promise<void> | undefined;

  private constructor(paths: HomePaths, lock: Disposable, config: ManagerConfig) {
    this.#paths = paths;
    this.#lock = lock;
    this.#system = systemWorld(paths);
    this.fleet = new Fleet(this.#system.world, paths, config.defaults ?? {}, config.warn);
  }

  /**
   * Opens a manager on its directory and takes up what an earlier one left running there.
   * Throws `home_unusable`, or `home_in_use` when another manager or a daemon has it.
   */
  static async open(config: ManagerConfig = {}): Promise<Manager> {
    const paths = prepareHome(config.logDir ?? libraryHome());
    const lock = takeLock(paths.lock);
    if (lock === undefined) {
      throw new ProcsupError("home_in_use", `Home "${paths.home}" is in use by another supervisor`);
    }
    const manager = new Manager(paths, lock, config);
    await recoverHome(manager.fleet.registry, paths, manager.#system, config.warn);
    manager.fleet.logs.start();
    return manager;
  }

  /** Starts a process, or its instances, and returns the (first) id, a UUID. */
  async addProcess(config: ProcessConfigInput): Promise<string> {
    const outcomes = await this.fleet.add({ cwd: Deno.cwd(), ...inputKeys(config) });
    throwFirst(outcomes);
    return outcomes[0]!.process.identity.id;
  }

  /** Ends a process and all it started: its stop signal, and SIGKILL after the timeout. */
  async stop(id: string, timeout?: DurationInput): Promise<void> {
    throwFirst(await this.fleet.stop(id, timeout === undefined ? {} : { timeout }));
  }

  /** SIGKILL at once. */
  async forceStop(id: string): Promise<void> {
    throwFirst(await this.fleet.stop(id, { force: true }));
  }

  /** Stops and starts. Throws `start_failed`. */
  async restart(id: string): Promise<void> {
    throwFirst(await this.fleet.restart(id));
  }

  /** Sends the reload signal; without one it is stopped and started. */
  async reload(id: string): Promise<void> {
    throwFirst(await this.fleet.reload(id));
  }

  /** Stops a process and forgets it; its logs stay. */
  async remove(id: string): Promise<void> {
    throwFirst(await this.fleet.remove(id));
  }

  /** All processes, by numeric id. */
  list(): ProcessInfo[] {
    return this.fleet.list();
  }

  /** One process. */
  inspect(id: string): ProcessInfo {
    return this.fleet.one(id);
  }

  /** A process's log as it stands on the disk, byte for byte. */
  logs(id: string, options: LogOptions = {}): ReadableStream<Uint8Array<ArrayBuffer>> {
    return logStream(options.stderr ? this.logPathStderr(id) : this.logPath(id), options);
  }

  /** Path of the standard output log. */
  logPath(id: string): string {
    return this.fleet.logFiles(id).stdout;
  }

  /** Path of the standard error log. */
  logPathStderr(id: string): string {
    return this.fleet.logFiles(id).stderr;
  }

  /** News of all processes from now on. */
  events(options: { signal?: AbortSignal } = {}): ReadableStream<ProcessChange> {
    return this.fleet.events(options.signal);
  }

  /** Saves the list of processes to the disk; returns how many. */
  async save(options: { allowEmpty?: boolean } = {}): Promise<number> {
    const processes = this.fleet.registry.list();
    await saveState(this.#paths.saved, processes, options.allowEmpty ?? false);
    return processes.length;
  }

  /** Brings back the saved processes that are not here, and starts those that were up. */
  resurrect(): Promise<Resurrected> {
    return resurrect(this.fleet.registry, this.#paths.saved);
  }

  /** Stops all processes and cleans up. Safe to call several times. */
  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  /** Same as `close()`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Lets go of all processes and leaves them running, for the next manager to take up. */
  release(): void {
    this.fleet.release();
    this.#system.launcher.close();
    this.#system.files.close();
    this.#lock[Symbol.dispose]();
  }

  async #close(): Promise<void> {
    const outcomes = await this.fleet.close();
    await this.fleet.logs.close();
    this.release();
    throwFirst(outcomes);
  }
}
