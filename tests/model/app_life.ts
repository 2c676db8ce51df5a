/** A simulated app: its instances, its daemon, and users who ask for anything at any time. */

import {
  type App,
  begun,
  failed,
  generationOf,
  newApp,
  proven,
  type Release,
  resized,
  spared,
  specOf,
  wantedConfig,
  withCount,
} from "../../src/model/app.ts";
import { type Instance, plan, type Step } from "../../src/model/app_plan.ts";
import { parseConfig } from "../../src/model/config_schema.ts";
import type { ProcessConfig } from "../../src/model/process_config.ts";

export interface Sim {
  readonly id: string;
  readonly index: number;
  isSingle: boolean;
  generation: number;
  /** A second run of a reload with overlap. */
  successor?: number | undefined;
  isUp: boolean;
  state: "serving" | "starting" | "failed" | "ended" | "stopped";
  /** It ended after its work: it need not run again, or must not. */
  rest?: "may" | "must" | undefined;
  isStoppedByUser?: boolean;
  /** A release that is not done has stopped it to make it a job. */
  isHeld?: boolean;
  isLeaving: boolean;
  /** Generations of its runs that are being ended. */
  draining: readonly number[];
  /** The release under way when it was added: until it came up, that is not done. */
  unproven?: number | undefined;
}

const { cron } = parseConfig({ name: "app", entrypoint: "/bin/true", cwd: "/", cron: "@yearly" });

/** Few keys, for the speed. */
export function config(keys: Partial<ProcessConfig>): ProcessConfig {
  return { name: "app", instances: 1, args: ["0"], tags: [], ...keys } as unknown as ProcessConfig;
}

export const JOB = { cron } as Partial<ProcessConfig>;

/** Whether a run with this configuration comes up. */
export function isGood({ args }: ProcessConfig): boolean {
  return args[0] !== "bad" && args[0] !== "exit";
}

export class Life {
  app: App;
  instances: Sim[] = [];
  /** The generation of each step under way: on record with the instance. */
  steps = new Map<string, number>();
  /** Those that are only awaited, in the memory of the daemon. */
  proving = new Set<string>();
  overlaps: boolean;
  /** Called before each begun replacement of an instance that serves. */
  beforeReplace: () => void = () => {};
  /** Called when a release is over. */
  onReleased: (release: Release) => void = () => {};
  #next = 0;
  now = 0;

  constructor(count: number, overlaps: boolean, first: Partial<ProcessConfig> = {}) {
    this.app = newApp(config({ instances: count, ...first }));
    this.overlaps = overlaps;
    for (let index = 0; index < count; index++) this.#add(index, count === 1);
    for (const one of this.instances) one.state = "serving";
  }

  /** The same state, for another daemon. */
  copy(): Life {
    const other = new Life(0, this.overlaps);
    other.app = this.app;
    other.instances = this.instances.map((one) => ({ ...one }));
    other.steps = new Map(this.steps);
    other.proving = new Set(this.proving);
    other.#next = this.#next;
    other.now = this.now;
    other.killed();
    return other;
  }

  #add(index: number, isSingle = false): void {
    const id = `${this.#next++}`;
    const generation = generationOf(this.app);
    const isJob = wantedConfig(this.app).cron !== undefined;
    this.instances.push({
      ...{ id, index, isSingle, generation, isLeaving: false, draining: [] },
      ...{ isUp: !isJob, state: isJob ? "stopped" as const : "starting" as const },
      unproven: isJob ? undefined : this.app.release?.generation,
    });
  }

  specOf(one: Sim): ProcessConfig {
    return specOf(this.app, one.generation);
  }

  #seen(one: Sim): Instance {
    const { id, index, isSingle, generation, isLeaving, draining, isUp, state } = one;
    return {
      ...{ id, index, isSingle, generation, isLeaving, draining, replacing: this.steps.get(id) },
      isUp,
      hasEnded: state === "ended",
      hasRun: state === "serving" || state === "starting",
      isServing: state === "serving",
      isComingUp: isUp && state === "starting",
    };
  }

  /** Asks the plan, and begins its steps. */
  act(): boolean {
    const before = this.app;
    const { app, steps } = plan(this.app, this.instances.map((one) => this.#seen(one)), ++this.now);
    this.app = app;
    for (const step of steps) this.#begin(step);
    for (const release of app.history) {
      if (before.history.includes(release)) continue;
      this.onReleased(release);
      if (release.result !== "done") continue;
      for (const one of this.instances) {
        one.isHeld = false;
        // One that was added meanwhile, and has done its work.
        if (one.state === "ended" && one.generation === release.generation) one.rest ??= "may";
      }
    }
    return steps.length > 0 || before !== app;
  }

  /** Asks the plan until it has no more to say. */
  settle(): void {
    for (let round = 0; this.act(); round++) {
      if (round > 50) throw new Error("the plan does not come to rest");
    }
  }

  #begin(step: Step): void {
    if (step.type === "add") {
      for (const index of step.indexes) this.#add(index);
      return;
    }
    const one = this.instances.find(({ id }) => id === step.id)!;
    const wanted = generationOf(this.app);
    const before = one.generation;
    switch (step.type) {
      case "assign":
        one.generation = step.generation;
        return;
      case "rename":
        one.isSingle = false;
        return;
      case "remove":
        this.#drain(one);
        one.isLeaving = true;
        return;
      case "hold":
        this.#drain(one);
        one.generation = wanted;
        one.isUp = false;
        one.state = "stopped";
        one.isHeld = true;
        // Some cannot be stopped.
        if (this.now % 5 === 0) one.generation = before;
        return this.#result(one, wanted, this.now % 5 > 0);
      case "prove":
        this.proving.add(one.id);
        return void this.steps.set(one.id, wanted);
      case "replace":
        if (one.state === "serving") this.beforeReplace();
        this.steps.set(one.id, wanted);
        this.proving.delete(one.id);
        one.isUp = true;
        one.rest = undefined;
        one.isHeld = false;
        if (this.overlaps && one.state === "serving") one.successor = wanted;
        else {
          this.#drain(one);
          one.generation = wanted;
          one.state = "starting";
        }
    }
  }

  /** Its run, or a second one, begins to end. */
  #drain(one: Sim, generation = one.generation): void {
    const hasRun = one.state === "serving" || one.state === "starting";
    if (hasRun) one.draining = [...one.draining, generation];
  }

  /** The oldest of its runs that are being ended is gone. */
  drained(one: Sim): void {
    one.draining = one.draining.slice(1);
  }

  /** A step is over. */
  finish(one: Sim): void {
    const generation = this.steps.get(one.id)!;
    this.steps.delete(one.id);
    this.proving.delete(one.id);
    const comesUp = isGood(specOf(this.app, generation));
    if (one.successor !== undefined) {
      const takesOver = comesUp && one.isUp;
      this.#drain(one, takesOver ? one.generation : one.successor);
      if (takesOver) {
        one.generation = one.successor;
        one.state = "serving";
      }
      one.successor = undefined;
      return this.#result(one, generation, comesUp || !one.isUp);
    }
    if (one.isUp && one.state === "starting") this.settleRun(one);
    this.#result(one, generation, !one.isUp || one.state === "serving");
  }

  /** A run comes up, or fails, without a step. */
  settleRun(one: Sim): void {
    if (one.state !== "starting") return;
    const config = this.specOf(one);
    one.unproven = isGood(config) ? undefined : one.unproven;
    if (isGood(config)) one.state = "serving";
    else if (config.args[0] === "exit") this.#ended(one);
    else this.#failed(one);
  }

  #failed(one: Sim): void {
    this.#drain(one);
    one.state = "failed";
  }

  /** Its run ends after its work. */
  complete(one: Sim): void {
    if (one.state !== "serving") return;
    this.#ended(one);
    // What a release has launched must stay up until it is proven.
    if (!this.steps.has(one.id)) one.rest ??= "may";
  }

  #ended(one: Sim): void {
    this.#drain(one);
    one.state = "ended";
    const { stable, release } = this.app;
    if (one.generation > stable) return;
    one.rest = release === undefined && !this.steps.has(one.id) ? "must" : "may";
  }

  #result(one: Sim, generation: number, isDone: boolean): void {
    if (this.app.release?.generation !== generation) return;
    const failure = { instance: one.id, reason: "it fails", lastLines: [] };
    this.app = isDone || one.isLeaving
      ? proven(this.app, [one.id])
      : failed(this.app, one.id, failure);
  }

  request(
    config: ProcessConfig | undefined,
    { batch, rollback, always, growsBy = 0 }: {
      batch: number;
      rollback: boolean;
      always: boolean;
      growsBy?: number;
    },
  ): void {
    const wanted = config && { ...config, instances: wantedConfig(this.app).instances };
    this.app = begun(this.app, {
      ...{ by: "user", batch, rollback, waitReady: true, changes: [], growsBy, at: ++this.now },
      ...(wanted && { config: wanted }),
      reload: always ? this.instances.map(({ id }) => id) : [],
    });
    if (!always) return;
    for (const one of this.instances) {
      one.isStoppedByUser = false;
      if (one.rest !== undefined) one.rest = "may";
    }
  }

  scale(count: number): void {
    this.app = resized(this.app, count);
  }

  stop(one: Sim): void {
    if (one.successor !== undefined) this.#drain(one, one.successor);
    this.#drain(one);
    one.isUp = false;
    one.state = "stopped";
    one.unproven = undefined;
    one.rest = undefined;
    one.isStoppedByUser = true;
    one.isHeld = false;
    one.successor = undefined;
    this.app = spared(this.app, one.id);
    const generation = this.steps.get(one.id);
    this.steps.delete(one.id);
    this.proving.delete(one.id);
    if (generation !== undefined) this.#result(one, generation, true);
  }

  start(one: Sim): void {
    one.isUp = true;
    one.isStoppedByUser = false;
    one.rest = undefined;
    if (one.state !== "serving") one.state = "starting";
  }

  leave(one: Sim): void {
    if (one.isLeaving) return;
    this.#drain(one);
    one.isLeaving = true;
    const left = this.instances.filter(({ isLeaving }) => !isLeaving).length;
    const { instances } = wantedConfig(this.app);
    if (left === 0 || left >= instances) return;
    this.app = withCount(this.app, this.app.isResizing ? instances - 1 : left);
  }

  crash(one: Sim): void {
    if (one.state === "serving") this.#failed(one);
  }

  /** The next daemon has what is on record, and the runs that go on. */
  killed(): void {
    for (const id of this.proving) this.steps.delete(id);
    this.proving.clear();
  }

  /** Everything that is under way comes to its end. */
  end(): void {
    for (let round = 0; round < 500; round++) {
      this.settle();
      const step = this.instances.find(({ id }) => this.steps.has(id));
      const leaving = this.instances.find(({ isLeaving }) => isLeaving);
      const draining = this.instances.find(({ draining }) => draining.length > 0);
      const starting = this.instances.find(({ state }) => state === "starting");
      if (step !== undefined) this.finish(step);
      else if (leaving !== undefined) this.gone(leaving);
      else if (starting !== undefined) this.settleRun(starting);
      else if (draining !== undefined) this.drained(draining);
      else return;
    }
    throw new Error("it does not converge");
  }

  gone(one: Sim): void {
    this.steps.delete(one.id);
    this.proving.delete(one.id);
    this.instances = this.instances.filter((other) => other !== one);
  }
}
