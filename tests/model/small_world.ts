/** A runner of effects without an operating system: what may happen next is up to the test. */

import { assert } from "@std/assert";
import type { HookName } from "../../src/model/config_parts.ts";
import {
  type Effect,
  NEW,
  type ProcessEvent,
  type Snapshot,
} from "../../src/model/process_state.ts";
import { type Policy, wantsReadiness } from "../../src/model/outcomes.ts";
import { transition } from "../../src/model/transition.ts";
import {
  becameReady,
  delayOver,
  dependenciesMet,
  dependencyFailed,
  exited,
  exitOf,
  gone,
  launched,
  readyTimedOut,
  recovered,
  recycle,
  RESTART,
  runOf,
  START,
  stop,
} from "./life.ts";

/** What may happen; a step that has no occasion is passed over. */
export const STEPS = [
  "start",
  "stop",
  "restart",
  "spawn",
  "spawn fails",
  "pid",
  "ready",
  "not ready in time",
  "recycle",
  "dependencies met",
  "dependency fails",
  "fail",
  "succeed",
  "gone",
  "delay over",
  "daemon dies",
  "daemon dies, then the app",
] as const;

/** One of `STEPS`. */
export type WorldStep = (typeof STEPS)[number];

/** Runs one process by its effects, and fails as soon as two of it would be alive. */
export class SmallWorld {
  now: Snapshot = NEW;
  /** The hooks that ran on the side. */
  readonly hooks: HookName[] = [];
  readonly #rules: Policy;
  /** Attempts that are being launched, run, are being ended, and wait for their delay or dependencies. */
  #launching: number | null = null;
  #running: number | null = null;
  #ending: number | null = null;
  #delayed: number | null = null;
  #depending: number | null = null;
  /** The run that is not ready yet, where that is asked for. */
  #unready: number | null = null;

  constructor(rules: Policy) {
    this.#rules = rules;
  }

  /** Whether an app of the process lives. */
  get alive(): boolean {
    return this.#running !== null;
  }

  /** Lets one thing happen. */
  take(step: WorldStep): void {
    switch (step) {
      case "start":
        return this.#post(START);
      case "stop":
        return this.#post(stop());
      case "restart":
        return this.#post(RESTART);
      case "spawn":
        return this.#spawn();
      case "spawn fails":
        return this.#failToSpawn();
      case "pid":
        if (this.#running === null) return;
        return this.#post({ type: "pid_known", attempt: this.#running, pid: 77 });
      case "ready":
        return this.#becomeReady(becameReady);
      case "not ready in time":
        return this.#becomeReady(readyTimedOut);
      case "recycle":
        return this.#running === null ? undefined : this.#post(recycle(this.#running));
      case "dependencies met":
        return this.#passDependencies(dependenciesMet);
      case "dependency fails":
        return this.#passDependencies(dependencyFailed);
      case "fail":
        return this.#exit(1);
      case "succeed":
        return this.#exit(0);
      case "gone":
        return this.#goAway();
      case "delay over":
        return this.#passDelay();
      case "daemon dies":
        return this.#recover(false);
      case "daemon dies, then the app":
        return this.#recover(true);
    }
  }

  /** Lets happen all that is under way, and nothing of its own accord. */
  settle(): void {
    for (let left = 100; left > 0; left--) {
      if (this.#ending !== null) this.#goAway();
      else if (this.#launching !== null) this.#spawn();
      else if (this.#delayed !== null) this.#passDelay();
      else if (this.#depending !== null) this.#passDependencies(dependenciesMet);
      else if (this.#unready !== null) this.#becomeReady(becameReady);
      else return;
    }
    throw new Error("it never comes to rest");
  }

  #post(event: ProcessEvent): void {
    const [next, effects] = transition(this.now, event, this.#rules);
    this.now = next;
    for (const effect of effects) this.#perform(effect);
  }

  #perform(effect: Effect): void {
    const { attempt } = this.now;
    switch (effect.type) {
      case "launch":
        assert(this.#running === null, "launched while the app lives");
        assert(this.#launching === null, "launched while a launch is under way");
        this.#launching = attempt;
        return;
      case "adopt":
        assert(this.#running !== null && this.now.run !== null, "adopted what is not there");
        return;
      case "end":
        this.#ending = attempt;
        return;
      case "sweep":
        assert(this.#running === null, "swept while the app lives");
        return;
      case "arm_delay":
        assert(this.#delayed === null, "two delays at once");
        assert(this.#depending === null, "delayed while it waits for dependencies");
        this.#delayed = attempt;
        return;
      case "await_dependencies":
        assert(this.#delayed === null, "waits for dependencies while it is delayed");
        assert(this.#depending === null, "waits twice for dependencies");
        assert(this.#running === null, "waits for dependencies while the app lives");
        this.#depending = attempt;
        return;
      case "disarm":
        this.#delayed = this.#depending = null;
        return;
      case "hook":
        this.hooks.push(effect.hook);
    }
  }

  #spawn(): void {
    const attempt = this.#launching;
    if (attempt === null) return;
    this.#launching = null;
    this.#running = attempt;
    this.#unready = wantsReadiness(this.#rules) ? attempt : null;
    this.#post({ type: "launching", attempt, run: runOf(attempt) });
    this.#post(launched(attempt));
  }

  #failToSpawn(): void {
    const attempt = this.#launching;
    if (attempt === null) return;
    this.#launching = null;
    this.#post({ type: "launch_failed", attempt, reason: "not found" });
  }

  #exit(code: number): void {
    const attempt = this.#running;
    if (attempt === null) return;
    this.#running = this.#unready = null;
    this.#post(exited(attempt, code));
  }

  #goAway(): void {
    const attempt = this.#ending;
    if (attempt === null) return;
    const ran = this.#running !== null;
    this.#ending =
      this.#launching =
      this.#running =
      this.#unready =
        null;
    this.#post(gone(attempt, { exit: ran ? exitOf("SIGTERM") : null }));
  }

  #passDelay(): void {
    const attempt = this.#delayed;
    if (attempt === null) return;
    this.#delayed = null;
    this.#post(delayOver(attempt));
  }

  #becomeReady(event: (attempt: number) => ProcessEvent): void {
    const attempt = this.#unready;
    if (attempt === null) return;
    this.#unready = null;
    this.#post(event(attempt));
  }

  #passDependencies(event: (attempt: number) => ProcessEvent): void {
    const attempt = this.#depending;
    if (attempt === null) return;
    this.#depending = null;
    this.#post(event(attempt));
  }

  /** A new daemon: all that the old one had under way is lost, apps live on. */
  #recover(appEnds: boolean): void {
    const attempt = this.#running;
    this.#launching =
      this.#ending =
      this.#delayed =
      this.#depending =
      this.#unready =
        null;
    if (appEnds) this.#running = null;
    if (attempt === null) return this.#post(recovered({ kind: "no_run" }));
    this.#post(recovered(
      appEnds
        ? { kind: "ended", exit: exitOf(1), random: 0 }
        : { kind: "alive", run: runOf(attempt), pid: 77 },
    ));
    // Whether it is ready is found out again, unless that is on record.
    if (this.now.state === "starting" && this.#running !== null) this.#unready = attempt;
  }
}
