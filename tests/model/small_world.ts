/** Runs effects without an operating system: the test decides what happens next. */

import { assert } from "@std/assert";
import type { HookName } from "../../src/model/process_config.ts";
import {
  type Effect,
  type Input,
  NEW,
  type Recovered,
  type ReplaceRequest,
  type Run,
  type Snapshot,
} from "../../src/model/process_state.ts";
import { type Policy, wantsReadiness } from "../../src/model/transition_steps.ts";
import { transition } from "../../src/model/transition.ts";
import {
  becameReady,
  delayOver,
  dependenciesMet,
  dependencyFailed,
  exited,
  exitOf,
  NOON,
  readyTimedOut,
  recovered,
  recycle,
  reload,
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
  "reload",
  "reload with another configuration",
  "hook over",
  "signal sent",
  "signal refused",
  "survived the signal",
  "successor spawned",
  "successor up",
  "successor fails",
  "old run gone",
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
  "reloads",
  "has reloaded",
  "hangs",
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

/** The effect of a request that is under way. */
type RequestEffect = Extract<Effect, { request: ReplaceRequest }>;

/** Runs one process by its effects, and fails as soon as two runs would be alive. */
export class SmallWorld {
  now: Snapshot = NEW;
  /** The hooks that ran. */
  readonly hooks: HookName[] = [];
  readonly #rules: Policy;
  /** What is pending, with its attempt. */
  readonly #matters = new Map<Matter, number>();
  /** What a request has begun: at most one step at a time. */
  #step: RequestEffect | undefined;
  /** The second run of a reload. */
  #successor: Run | undefined;
  /** Runs that are being ended beside the current one. */
  readonly #others = new Set<Run>();
  /** The current run. */
  #run: Run | undefined;
  #runs = 0;
  /** The latest configuration that was asked for. */
  generation = 1;

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
      case "reload":
        return this.#post(reload({ unchanged: true, proof: true }));
      case "reload with another configuration":
        return this.#post(reload({ generation: ++this.generation }));
      case "hook over":
        return this.#passStep("before", (request) => ({ type: "before_over", request }));
      case "signal sent":
        return this.#passStep("reload_signal", signalled(true));
      case "signal refused":
        return this.#passStep("reload_signal", signalled(false));
      case "survived the signal":
        return this.#passStep("arm_proof", (request) => ({ type: "proof_over", request }));
      case "successor spawned":
        return this.#spawnSuccessor();
      case "successor up":
        return this.#takeOver();
      case "successor fails":
        return this.#passStep("launch_successor", (request) => {
          const failure = { code: "start_failed", why: "it ended at once" } as const;
          return { type: "successor_failed", request, failure };
        });
      case "old run gone":
        return this.#goOthers();
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
      case "reloads":
        return this.#tell((attempt) => ({ type: "reloading", attempt }));
      case "has reloaded":
        return this.#tell((attempt) => ({ type: "reloaded", attempt }));
      case "hangs":
        return this.#tell((attempt) => ({ type: "hung", attempt, reason: "no WATCHDOG=1" }));
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
      else if (this.#step !== undefined) this.#settleStep();
      else if (this.#others.size > 0) this.#goOthers();
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
    const [next, effects] = transition(this.now, event, () => this.#rules);
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
        return void this.#others.add(effect.run);
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
      case "before":
      case "reload_signal":
      case "arm_proof":
      case "launch_successor":
        assert(this.#step === undefined, "two steps of requests at once");
        assert(effect.type === "before" || this.#is("running"), "no run to replace");
        this.#step = effect;
        return;
      case "abandon":
        this.#step = undefined;
        return;
      case "take_over":
        assert(effect.run === this.#successor, "another run takes over");
        assert(this.now.state === "running", "it takes over from nothing");
        this.#successor = undefined;
        this.#run = effect.run;
        return void this.#matters.set("running", attempt);
      case "release":
        assert(effect.run.runId !== this.now.run?.runId, "the current run is released");
        if (effect.run.runId === this.#successor?.runId) this.#successor = undefined;
        return void this.#others.add(effect.run);
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
    const run = this.#run = this.#newRun();
    this.#post({ type: "launching", attempt, run });
    this.#post({ type: "launched", attempt, at: NOON, run });
  }

  #newRun(generation = this.now.generation): Run {
    return { ...runOf(++this.#runs), generation };
  }

  /** Completes the step of a request that is under way, if it is this one. */
  #passStep(type: RequestEffect["type"], event: (request: ReplaceRequest) => Input): void {
    if (this.#step?.type !== type) return;
    const { request } = this.#step;
    this.#step = undefined;
    this.#post(event(request));
  }

  #settleStep(): void {
    const { type } = this.#step!;
    if (type === "before") return this.take("hook over");
    if (type === "reload_signal") return this.take("signal sent");
    if (type === "arm_proof") return this.take("survived the signal");
    this.take("successor spawned");
    this.take("successor up");
  }

  #spawnSuccessor(): void {
    if (this.#step?.type !== "launch_successor" || this.#successor !== undefined) return;
    const { request } = this.#step;
    const run = this.#successor = this.#newRun(request.generation);
    this.#post({ type: "successor_launching", request, run });
  }

  #takeOver(): void {
    const run = this.#successor;
    if (run === undefined) return;
    this.#passStep(
      "launch_successor",
      (request) => ({ type: "replaced", request, at: NOON, run, pid: 78 }),
    );
  }

  #goOthers(): void {
    const others = [...this.#others];
    this.#others.clear();
    for (const run of others) this.#post({ type: "released", run });
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
    const successor = this.#successor;
    this.#matters.clear();
    this.#others.clear();
    this.#step = undefined;
    if (attempt !== undefined && !appEnds) this.#matters.set("running", attempt);
    this.#post(recovered(this.#found(attempt, appEnds)));
    const left = [...this.#others].map(({ runId }) => runId);
    assert(successor === undefined || left.includes(successor.runId), "a second run is left");
    // Readiness is checked again unless it is on record.
    if (attempt !== undefined && !appEnds && this.now.state === "starting") {
      this.#matters.set("unready", attempt);
    }
  }

  #found(attempt: number | undefined, appEnds: boolean): Recovered["found"] {
    if (attempt === undefined) return { kind: "no_run" };
    if (appEnds) return { kind: "ended", exit: exitOf(1), random: 0 };
    return { kind: "alive", run: this.#run!, pid: 77 };
  }
}

function signalled(isSent: boolean): (request: ReplaceRequest) => Input {
  return (request) => ({ type: "reload_signalled", request, isSent });
}

function launchFailed(attempt: number): Input {
  return { type: "launch_failed", attempt, reason: "not found" };
}
