/** Runs effects without an operating system: the test decides what happens next. */

import { assert } from "@std/assert";
import type { HookName } from "../../src/model/process_config.ts";
import { type Effect, type Input, NEW, type Snapshot } from "../../src/model/process_state.ts";
import { type Policy, wantsReadiness } from "../../src/model/transition_steps.ts";
import { transition } from "../../src/model/transition.ts";
import {
  becameReady,
  delayOver,
  dependenciesMet,
  dependencyFailed,
  exited,
  exitOf,
  launched,
  readyTimedOut,
  recovered,
  recycle,
  RESTART,
  runOf,
  START,
  stop,
  terminated,
} from "./life.ts";

/** Possible steps; a step that does not apply is skipped. */
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
  "terminated",
  "delay over",
  "daemon dies",
  "daemon dies, then the app",
] as const;

/** One of `STEPS`. */
export type WorldStep = (typeof STEPS)[number];

/**
 * The state of an attempt: launching, running, being terminated, waiting for its delay or
 * dependencies, or running without being ready yet.
 */
type Matter = "launching" | "running" | "ending" | "delayed" | "depending" | "unready";

/** Runs one process by its effects, and fails as soon as two runs would be alive. */
export class SmallWorld {
  now: Snapshot = NEW;
  /** The hooks that ran. */
  readonly hooks: HookName[] = [];
  readonly #rules: Policy;
  /** What is pending, with its attempt. */
  readonly #matters = new Map<Matter, number>();

  constructor(rules: Policy) {
    this.#rules = rules;
  }

  /** True if an app of the process is alive. */
  get alive(): boolean {
    return this.#is("running");
  }

  /** Performs one step. */
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
        return this.#pass("launching", launchFailed);
      case "pid":
        return this.#tell((attempt) => ({ type: "pid_known", attempt, pid: 77 }));
      case "ready":
        return this.#pass("unready", becameReady);
      case "not ready in time":
        return this.#pass("unready", readyTimedOut);
      case "recycle":
        return this.#tell(recycle);
      case "dependencies met":
        return this.#pass("depending", dependenciesMet);
      case "dependency fails":
        return this.#pass("depending", dependencyFailed);
      case "fail":
        return this.#exit(1);
      case "succeed":
        return this.#exit(0);
      case "terminated":
        return this.#goAway();
      case "delay over":
        return this.#pass("delayed", delayOver);
      case "daemon dies":
        return this.#recover(false);
      case "daemon dies, then the app":
        return this.#recover(true);
    }
  }

  /** Completes everything that is pending, without any event from outside. */
  settle(): void {
    for (let left = 100; left > 0; left--) {
      if (this.#is("ending")) this.#goAway();
      else if (this.#is("launching")) this.#spawn();
      else if (this.#is("delayed")) this.#pass("delayed", delayOver);
      else if (this.#is("depending")) this.#pass("depending", dependenciesMet);
      else if (this.#is("unready")) this.#pass("unready", becameReady);
      else return;
    }
    throw new Error("it never comes to rest");
  }

  #is(matter: Matter): boolean {
    return this.#matters.has(matter);
  }

  /** Clears what is pending and returns its attempt. */
  #over(matter: Matter): number | undefined {
    const attempt = this.#matters.get(matter);
    this.#matters.delete(matter);
    return attempt;
  }

  /** Completes what is pending. */
  #pass(matter: Matter, event: (attempt: number) => Input): void {
    const attempt = this.#over(matter);
    if (attempt !== undefined) this.#post(event(attempt));
  }

  /** Delivers an event to the running app. */
  #tell(event: (attempt: number) => Input): void {
    const attempt = this.#matters.get("running");
    if (attempt !== undefined) this.#post(event(attempt));
  }

  #post(event: Input): void {
    const [next, effects] = transition(this.now, event, this.#rules);
    this.now = next;
    for (const effect of effects) this.#perform(effect);
  }

  #perform(effect: Effect): void {
    const { attempt } = this.now;
    switch (effect.type) {
      case "launch":
        assert(!this.#is("running"), "launched while the app lives");
        assert(!this.#is("launching"), "launched while a launch is under way");
        return void this.#matters.set("launching", attempt);
      case "adopt":
        assert(this.#is("running") && this.now.run !== null, "adopted what is not there");
        return;
      case "terminate":
        return void this.#matters.set("ending", attempt);
      case "clean_up_orphans":
        assert(!this.#is("running"), "cleaned up while the app runs");
        return;
      case "arm_delay":
        assert(!this.#is("delayed"), "two delays at once");
        assert(!this.#is("depending"), "delayed while it waits for dependencies");
        return void this.#matters.set("delayed", attempt);
      case "await_dependencies":
        assert(!this.#is("delayed"), "waits for dependencies while it is delayed");
        assert(!this.#is("depending"), "waits twice for dependencies");
        assert(!this.#is("running"), "waits for dependencies while the app lives");
        return void this.#matters.set("depending", attempt);
      case "disarm":
        this.#over("delayed");
        this.#over("depending");
        return;
      case "hook":
        this.hooks.push(effect.hook);
        this.#post({ type: "hook_begun", hook: effect.hook });
    }
  }

  #spawn(): void {
    const attempt = this.#over("launching");
    if (attempt === undefined) return;
    this.#matters.set("running", attempt);
    if (wantsReadiness(this.#rules)) this.#matters.set("unready", attempt);
    this.#post({ type: "launching", attempt, run: runOf(attempt) });
    this.#post(launched(attempt));
  }

  #exit(code: number): void {
    if (this.#is("running")) this.#over("unready");
    this.#pass("running", (attempt) => exited(attempt, code));
  }

  #goAway(): void {
    const attempt = this.#over("ending");
    if (attempt === undefined) return;
    const ran = this.#is("running");
    for (const matter of ["launching", "running", "unready"] as const) this.#over(matter);
    this.#post(terminated(attempt, { exit: ran ? exitOf("SIGTERM") : null }));
  }

  /** A new daemon: everything pending is lost, apps survive. */
  #recover(appEnds: boolean): void {
    const attempt = this.#matters.get("running");
    this.#matters.clear();
    if (attempt === undefined) return this.#post(recovered({ kind: "no_run" }));
    if (appEnds) return this.#post(recovered({ kind: "ended", exit: exitOf(1), random: 0 }));
    this.#matters.set("running", attempt);
    this.#post(recovered({ kind: "alive", run: runOf(attempt), pid: 77 }));
    // Readiness is checked again unless it is on record.
    if (this.now.state === "starting") this.#matters.set("unready", attempt);
  }
}

function launchFailed(attempt: number): Input {
  return { type: "launch_failed", attempt, reason: "not found" };
}
