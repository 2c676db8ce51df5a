/** The core of a supervised process: its snapshot, which changes in one place, by the pure table. */

import { messageOf, ProcsupError } from "../model/errors.ts";
import { logPaths } from "../model/log_paths.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import type { Effect, Input, Snapshot } from "../model/process_state.ts";
import { transition } from "../model/transition.ts";
import { type LogFiles, logFiles } from "../logs/write/log_files.ts";
import { Mailbox } from "../platform/concurrency.ts";
import type { World } from "../platform/world.ts";
import { Waiters } from "./waiters.ts";

export interface Identity {
  /** UUID. */
  readonly id: string;
  readonly numericId: number;
  /** Name of its app. */
  readonly app: string;
  /** With an index if there are several instances: `api:0`. */
  readonly name: string;
  readonly instanceIndex: number;
  readonly createdAt: Date;
}

/** What has the configurations of a process: its app. */
export interface Configured {
  /** The configuration of a generation. */
  specOf(generation: number): ProcessConfig;
}

/** What a process needs of its supervisor and the system. */
export interface Machine {
  readonly world: World;
  /** Records the process before anything is done with it. May throw: a launch is then refused. */
  record(process: ProcessActor): void;
  /** The same, within moments, for what a new daemon could find out by itself, or do once more. */
  recordSoon(process: ProcessActor): void;
  /** Calls `act` once the current state is recorded: at once, unless the disk refused. */
  whenRecorded(process: ProcessActor, act: () => void): void;
  /** The snapshot changed, or a note was made. */
  changed(process: ProcessActor, before: Snapshot, input: Input): void;
  /** A message for the supervisor's log. */
  note(process: ProcessActor, message: string): void;
  /** The result of its health checks changed. */
  healthChanged(process: ProcessActor, health: "healthy" | "unhealthy", reason: string): void;
  /** Whether a process is expected to end by itself: its start then counts as successful. */
  mayEnd(process: ProcessActor): boolean;
  /** Resolves when the dependencies are ready; throws the reason if one cannot become ready. */
  dependencies(process: ProcessActor, signal: AbortSignal): Promise<void>;
  /** Throws `closed` once the supervisor shuts down: nothing starts any more. */
  refuseClosed(): void;
}

/** One supervised process, as everything that works on it sees it. */
export abstract class ProcessActor {
  #identity: Identity;
  readonly #app: Configured;
  readonly machine: Machine;
  readonly #mailbox = new Mailbox<Input>((input) => this.#handle(input));
  readonly #waiters = new Waiters();
  #snapshot: Snapshot;
  readonly #gone = new AbortController();
  /** Aborted with the reason when it is deleted or released. */
  readonly gone: AbortSignal = this.#gone.signal;
  readonly #deleted = new AbortController();
  /** Aborted when it is deleted, but not when its supervisor ends. */
  readonly deleted: AbortSignal = this.#deleted.signal;

  constructor(identity: Identity, app: Configured, snapshot: Snapshot, machine: Machine) {
    this.#identity = identity;
    this.#app = app;
    this.#snapshot = snapshot;
    this.machine = machine;
  }

  /** Does what the table decided; returns at once. */
  protected abstract perform(effects: readonly Effect[], now: Snapshot): void;

  get identity(): Identity {
    return this.#identity;
  }

  get id(): string {
    return this.identity.id;
  }

  get name(): string {
    return this.identity.name;
  }

  get instanceIndex(): number {
    return this.identity.instanceIndex;
  }

  /** The configuration that it has, or that a reload under way gives it. */
  get config(): ProcessConfig {
    const { requests, generation } = this.#snapshot;
    return this.specOf(requests.findLast((it) => it.generation)?.generation ?? generation);
  }

  specOf(generation: number): ProcessConfig {
    return this.#app.specOf(generation);
  }

  /** Everything that decides what the process does next. */
  get snapshot(): Snapshot {
    return this.#snapshot;
  }

  /** What the next daemon must know of it. */
  get record(): { identity: Identity; snapshot: Snapshot } {
    return { identity: this.#identity, snapshot: this.#snapshot };
  }

  /** True while it is being deleted, and from then on. */
  get isLeaving(): boolean {
    return this.#snapshot.leaving || this.deleted.aborted;
  }

  /** Paths of the logs of its run; at rest, of its next run. */
  get logs(): LogFiles {
    const { run } = this.#snapshot;
    return logFiles(
      this.machine.world.apps,
      this.name,
      run === null ? logPaths(this.config, this.instanceIndex) : run.logs,
    );
  }

  get folder(): string {
    return `${this.machine.world.apps}/${this.name}`;
  }

  /** Handles an input in its turn. Does nothing once the process was removed or released. */
  post(input: Input): void {
    if (!this.gone.aborted) this.#mailbox.post(input);
  }

  /** Resolves with the first snapshot, the present one included, that fulfils the condition. */
  until(condition: (now: Snapshot) => boolean, signal?: AbortSignal): Promise<Snapshot> {
    return this.#waiters.until(condition, this.#snapshot, signal);
  }

  /** Checks waiting conditions again, after a change outside the snapshot. */
  refresh(): void {
    this.#waiters.check(this.#snapshot);
  }

  /** Reports a message that changes no state. */
  note(message: string): void {
    this.machine.note(this, message);
  }

  /** Marks it as removed, so that stale references cannot start it. */
  forget(): void {
    this.#deleted.abort();
    this.release(new ProcsupError("wrong_state", `"${this.name}" was deleted meanwhile`));
  }

  /** Handles no further input. The app keeps running. */
  release(why = new ProcsupError("closed", "The supervisor is shutting down")): void {
    this.#gone.abort(why);
  }

  protected renamed(name: string): void {
    this.#identity = { ...this.#identity, name };
  }

  #handle(input: Input): void {
    const before = this.#snapshot;
    const [next, effects] = transition(before, input, (generation) => this.specOf(generation));
    // A later daemon finds a process that has failed: nothing changes, but it is watched.
    if (next === before && effects.length === 0) return this.perform(effects, next);
    this.#snapshot = next;
    // The end of a run is published first: if the daemon is killed in between, the next one finds it
    // again, and webhooks report it twice rather than never.
    const isEnd = input.type === "exited" || input.type === "recovered";
    if (isEnd) this.machine.changed(this, before, input);
    this.#record(input, next);
    if (!isEnd) this.machine.changed(this, before, input);
    this.perform(effects, next);
    this.#waiters.check(next);
  }

  #record(input: Input, now: Snapshot): void {
    // The intent is recorded: with it recovery finds the run and its pid. A second stop signal is
    // the worst that a crash in between costs.
    if (RECORDED_SOON.has(input.type)) {
      return this.machine.recordSoon(this);
    }
    try {
      this.machine.record(this);
    } catch (error) {
      const message = messageOf(error);
      const failure = new ProcsupError("start_failed", message, { cause: error });
      // The next daemon would start an unrecorded app again, so it is not launched.
      if (input.type === "launching" || input.type === "successor_launching") throw failure;
      this.machine.note(this, `${now.state}: ${message}`);
    }
  }
}

const RECORDED_SOON: ReadonlySet<Input["type"]> = new Set([
  "launched",
  "pid_known",
  "signalled",
  "other_signalled",
  "released",
]);
