/** Ends a run on request: cuts the pre_stop hook short, sends signals, finds out the exit. */

import { messageOf } from "../model/errors.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import type { Exit } from "../model/process_info.ts";
import type { Child } from "../platform/launch/launcher.ts";
import type { Listener } from "../platform/scan/listening_ports.ts";
import type { World } from "../platform/world.ts";

/** How long an ended run's exit status may take to arrive. */
const EXIT_PATIENCE_MS = 500;

/** How long a launched app's pid may take to become known. */
const PID_PATIENCE_MS = 1000;

/** How long after its deadline a failing end is retried, and how often. */
const RETRY_MS = 5000;
const RETRY_EVERY_MS = 100;

export interface Ended {
  readonly exit: Exit | null;
  /** Pids that could not be ended. */
  readonly left: readonly number[];
  /** Processes that still have a socket on which it listened. */
  readonly listening?: readonly Listener[];
  /** Set if it is unknown whether anything is left: the reason. */
  readonly problem?: string;
}

/** Whether a run has its stop signal already, and what to do once it has. */
interface SignalState {
  readonly isSignalled?: boolean | undefined;
  readonly signalled?: () => void;
}

/** The end of a run. Later stops may hurry it, but not delay it. */
export class RunEnd {
  readonly #world: World;
  readonly #impatient = new AbortController();
  #graceMs: number;
  /** Steady milliseconds; known once the signal is sent. */
  #deadline: number | undefined;

  constructor(world: World, graceMs: number) {
    this.#world = world;
    this.#graceMs = graceMs;
    if (graceMs === 0) this.#impatient.abort();
  }

  /** How long it waits between the signal and SIGKILL, in milliseconds. */
  get graceMs(): number {
    return this.#graceMs;
  }

  /** Applies the grace of a later stop. */
  hurry(graceMs: number): void {
    this.#graceMs = Math.min(this.#graceMs, graceMs);
    if (graceMs === 0) this.#impatient.abort();
    if (this.#deadline === undefined) return;
    this.#deadline = Math.min(this.#deadline, this.#world.clock.steady() + graceMs);
  }

  /** The app requests more time: at least this much from now. */
  extend(ms: number): void {
    if (this.#deadline === undefined || this.#graceMs === 0) return;
    this.#deadline = Math.max(this.#deadline, this.#world.clock.steady() + ms);
  }

  /** Aborted when the pre_stop hook must be cut short. */
  get impatient(): AbortSignal {
    return this.#impatient.signal;
  }

  /**
   * Signals the run and waits until all its processes have ended. With `isSignalled` it has the signal
   * already. Otherwise calls `signalled` once it has.
   */
  async terminate(
    child: Child,
    { stopSignal, stopMode }: Pick<ProcessConfig, "stopSignal" | "stopMode">,
    { isSignalled = false, signalled = () => {} }: SignalState = {},
  ): Promise<Ended> {
    let isSent = isSignalled;
    const sent = () => {
      isSent = true;
      signalled();
    };
    // Until the pid is known, the app's process is a shell, which would ignore the signal.
    await this.#within(PID_PATIENCE_MS, Promise.race([child.pid, child.exited]));
    this.#deadline = this.#world.clock.steady() + this.#graceMs;
    const notices = this.#world.notices(child.run);
    using _ = {
      [Symbol.dispose]: notices?.listen((notice) => {
        if (notice.type === "extend") this.extend(notice.ms);
      }) ?? (() => {}),
    };
    for (;;) {
      try {
        const { killed, left, listening = [] } = await this.#world.terminate(
          child.run,
          { signal: stopSignal, mode: stopMode },
          () => this.#deadline!,
          { isSent, sent },
        );
        return { exit: await this.#exitOf(child, killed), left, listening };
      } catch (error) {
        // The system may be short of something for a moment, such as descriptors.
        if (this.#world.clock.steady() >= this.#deadline + RETRY_MS) {
          return { exit: null, left: [], problem: messageOf(error) };
        }
      }
      await this.#within(RETRY_EVERY_MS, new Promise(() => {}));
    }
  }

  /** The exit as the wrapper recorded it, unless it was killed with the rest. */
  async #exitOf(child: Child, killed: boolean): Promise<Exit> {
    // If this daemon was suspended meanwhile, the wait ends before it could look.
    const exit = await this.#within(EXIT_PATIENCE_MS, child.exited) ??
      this.#world.exitOf(child.run.runId);
    if (exit.code !== null) return exit;
    const at = new Date(this.#world.clock.now());
    return killed ? { code: 137, signal: "SIGKILL", at } : { code: null, signal: null, at };
  }

  /** The value of a promise, or null when it takes too long. */
  async #within<T>(ms: number, promise: Promise<T>): Promise<T | null> {
    const late = Promise.withResolvers<null>();
    const cancel = this.#world.clock.after(ms, () => late.resolve(null));
    try {
      return await Promise.race([promise, late.promise]);
    } finally {
      cancel();
    }
  }
}
