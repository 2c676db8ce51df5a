/**
 * One supervised process: an actor. Events go through its mailbox to the pure `transition()`, whose
 * effects are performed at the edge. The snapshot changes in one place only.
 */

import { messageOf, ProcsupError } from "../model/errors.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { NO_USAGE, type ProcessInfo, type Usage } from "../model/process_info.ts";
import type { ProcessEvent, Recovered, Snapshot } from "../model/process_state.ts";
import type { SignalName } from "../model/signal.ts";
import { transition } from "../model/transition.ts";
import type { Clock } from "../platform/clock.ts";
import { Effects } from "./effects.ts";
import { Mailbox } from "./mailbox.ts";
import type { World } from "./world.ts";

/** What of a process never changes. */
export interface Identity {
  /** UUID. */
  readonly id: string;
  readonly numericId: number;
  /** With the instance's index where there are several: `api:0`. */
  readonly name: string;
  readonly instanceIndex: number;
  readonly createdAt: Date;
}

/** What a process reports to who made it. */
export interface Observer {
  /** Puts the process on record before anything is done about it. May throw: a launch is then refused. */
  record(process: ManagedProcess): void;
  /** The snapshot changed, or a note was made. */
  changed(process: ManagedProcess, before: Snapshot, event: ProcessEvent): void;
  /** Something that the log of the supervisor should hold. */
  note(process: ManagedProcess, message: string): void;
}

/** How a stop is meant. */
export interface StopRequest {
  readonly timeoutMs?: number;
  readonly reason?: string;
}

/** How a start is meant. */
export interface UpOptions {
  /** Resolve only when the process has stayed up for its `min_uptime`. */
  readonly wait?: boolean;
}

/** One supervised process. */
export class ManagedProcess {
  readonly identity: Identity;
  readonly config: ProcessConfig;
  readonly #clock: Clock;
  readonly #observer: Observer;
  readonly #effects: Effects;
  readonly #mailbox = new Mailbox<ProcessEvent>((event) => this.#handle(event));
  readonly #waiters = new Set<(snapshot: Snapshot) => void>();
  #snapshot: Snapshot;

  constructor(
    identity: Identity,
    config: ProcessConfig,
    snapshot: Snapshot,
    world: World,
    observer: Observer,
  ) {
    this.identity = identity;
    this.config = config;
    this.#snapshot = snapshot;
    this.#clock = world.clock;
    this.#observer = observer;
    this.#effects = new Effects(this, world);
  }

  get name(): string {
    return this.identity.name;
  }

  get instanceIndex(): number {
    return this.identity.instanceIndex;
  }

  /** Everything that decides what the process does next. */
  get snapshot(): Snapshot {
    return this.#snapshot;
  }

  /** Milliseconds since the launch; 0 while nothing runs. */
  get uptimeMs(): number {
    return this.#effects.uptimeMs;
  }

  /** The process as it stands, with the given usage. */
  info(usage: Usage = NO_USAGE): ProcessInfo {
    const now = this.#snapshot;
    return {
      ...usage,
      ...this.identity,
      namespace: this.config.namespace,
      runtime: this.#effects.runtime,
      state: now.state,
      ready: now.ready,
      pid: now.pid,
      exitCode: now.lastExit?.code ?? 0,
      lastExit: now.lastExit,
      restarts: now.restarts,
      startedAt: dateOrNull(now.startedAt),
      finishedAt: dateOrNull(now.finishedAt),
      nextRestartAt: dateOrNull(now.nextRestartAt),
      lastReason: now.lastReason,
      uptimeMs: this.uptimeMs,
      tags: this.config.tags,
      config: this.config,
    };
  }

  /** Starts it unless it runs. */
  async start(options: UpOptions = {}): Promise<void> {
    if (this.#snapshot.state === "running") return;
    await this.#up({ type: "start_requested" }, options);
  }

  /** Stops it and starts it again. */
  async restart(options: UpOptions = {}): Promise<void> {
    await this.#up({ type: "restart_requested", reason: "restarted by user" }, options);
  }

  /** Sends its reload signal; without one it is stopped and started. */
  async reload(options: UpOptions = {}): Promise<void> {
    const { reloadSignal } = this.config;
    if (reloadSignal === undefined) await this.restart(options);
    else this.signal(reloadSignal);
  }

  /** Sends a signal to the app itself. Throws `wrong_state` when it does not run. */
  signal(signal: SignalName): void {
    if (this.#effects.signal(signal)) return;
    throw new ProcsupError("wrong_state", `Cannot signal "${this.name}": it is not running`);
  }

  /** Ends it and everything it started. Throws `stop_failed` naming what could not be ended. */
  async stop(request: StopRequest = {}): Promise<void> {
    const { timeoutMs = this.config.stopTimeoutMs, reason } = request;
    const ran = this.#snapshot.run !== null;
    this.post({ type: "stop_requested", timeoutMs, ...(reason === undefined ? {} : { reason }) });
    const over = await this.until((now) => now.state !== "stopping");
    if (ran && over.lastReason.startsWith("could not end")) {
      throw new ProcsupError("stop_failed", `Cannot stop "${this.name}": ${over.lastReason}`);
    }
  }

  /** Takes up what an earlier daemon left. */
  recover(recovered: Recovered): void {
    this.post(recovered);
  }

  /** Resolves with the first snapshot, the present one included, that fulfils the condition. */
  until(condition: (now: Snapshot) => boolean, signal?: AbortSignal): Promise<Snapshot> {
    if (condition(this.#snapshot)) return Promise.resolve(this.#snapshot);
    return new Promise((resolve, reject) => {
      const check = (now: Snapshot) => {
        if (condition(now)) settle(() => resolve(now));
      };
      const abort = () => settle(() => reject(signal!.reason));
      const settle = (how: () => void) => {
        this.#waiters.delete(check);
        signal?.removeEventListener("abort", abort);
        how();
      };
      this.#waiters.add(check);
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  /** Stops its timers; what runs is left running. */
  release(): void {
    this.#effects.close();
  }

  /** Part of the effects' view of a process. */
  post(event: ProcessEvent): void {
    this.#mailbox.post(event);
  }

  /** Part of the effects' view of a process. */
  note(message: string): void {
    this.#observer.note(this, message);
  }

  /** Throws `start_failed` when it could not be launched or, if asked to wait, did not stay up. */
  async #up(event: ProcessEvent, options: UpOptions): Promise<void> {
    const { attempt, state } = this.#snapshot;
    const earlier = state === "starting" ? attempt - 1 : attempt;
    this.post(event);
    const begun = await this.until((now) => now.attempt > earlier && settled(now));
    const now = options.wait ? await this.#proven(begun) : begun;
    if (now.state === "running" || endedWell(now, this.config)) return;
    if (!options.wait && now.state !== "errored") return;
    const reason = now.lastReason.replace(/^Cannot start "[^"]*": /, "");
    throw new ProcsupError("start_failed", `Cannot start "${this.name}": ${reason}`);
  }

  /** The snapshot after `min_uptime`, or when it left the running state before that. */
  async #proven(begun: Snapshot): Promise<Snapshot> {
    if (begun.state !== "running") return begun;
    const enough = new AbortController();
    const left = this.config.minUptimeMs - this.#effects.uptimeMs;
    const cancel = this.#clock.after(Math.max(0, left), () => enough.abort());
    try {
      return await this.until((now) => now.attempt !== begun.attempt || !isUp(now), enough.signal);
    } catch {
      return begun;
    } finally {
      cancel();
    }
  }

  #handle(event: ProcessEvent): void {
    const before = this.#snapshot;
    const [next, effects] = transition(before, event, this.config);
    if (next === before && effects.length === 0) return;
    this.#snapshot = next;
    this.#record(event, next);
    this.#observer.changed(this, before, event);
    for (const effect of effects) this.#effects.perform(effect);
    for (const waiter of [...this.#waiters]) waiter(next);
  }

  #record(event: ProcessEvent, now: Snapshot): void {
    try {
      this.#observer.record(this);
    } catch (error) {
      const message = `cannot be recorded: ${messageOf(error)}`;
      // Unrecorded, the app would be started again by the next daemon: it is not launched at all.
      if (event.type === "launching") throw new ProcsupError("start_failed", message);
      this.#observer.note(this, `${now.state} ${message}`);
    }
  }
}

function isUp(now: Snapshot): boolean {
  return now.state === "running" || now.state === "starting";
}

/** Up with a known pid, or at rest. */
function settled(now: Snapshot): boolean {
  return now.state === "running"
    ? now.pid > 0
    : now.state !== "starting" && now.state !== "stopping";
}

/** Done already, and with success: a short job. */
function endedWell(now: Snapshot, config: ProcessConfig): boolean {
  return now.state === "stopped" && now.lastExit?.signal === null &&
    config.successExitCodes.includes(now.lastExit.code ?? -1);
}

function dateOrNull(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
