/** Requests that wait for the end of a release, with what became of each instance. */

import type { App, Release } from "../model/app.ts";
import { configChanges } from "../model/config_diff.ts";
import { ProcsupError } from "../model/errors.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import type { UpOptions } from "../process/process_requests.ts";
import type { Outcome } from "./bulk.ts";

export interface ReleaseResult {
  readonly outcomes: readonly Outcome[];
  readonly rolledBack: boolean;
  readonly isFailed: boolean;
  /** Whether a later request has set the number of instances. */
  readonly isScaled: boolean;
}

/** The requests for one generation. */
interface Waiting {
  readonly config: ProcessConfig;
  readonly members: readonly ManagedProcess[];
  readonly options: UpOptions;
  readonly outcomes: Map<ManagedProcess, Outcome>;
  readonly over: PromiseWithResolvers<ReleaseResult>;
  /** Number of steps under way. */
  steps: number;
}

export class ReleaseWaiters {
  readonly #now: () => App;
  readonly #waiting = new Map<number, Waiting>();

  constructor(now: () => App) {
    this.#now = now;
  }

  /** Resolves when the release of a generation is over, and its rollback. */
  wait(
    generation: number,
    { config, members, options }: Pick<Waiting, "config" | "members" | "options">,
  ): Promise<ReleaseResult> {
    const waiting = this.#waiting.get(generation) ?? {
      ...{ config, members, options, outcomes: new Map(), over: Promise.withResolvers(), steps: 0 },
    };
    this.#waiting.set(generation, waiting);
    return waiting.over.promise;
  }

  /** How a release was asked for. */
  options(generation: number): UpOptions {
    return this.#waiting.get(generation)?.options ?? {};
  }

  /** A step has begun. */
  begun(generation: number): void {
    const waiting = this.#waiting.get(generation);
    if (waiting !== undefined) waiting.steps++;
  }

  /** A step is over. */
  done(generation: number, outcome: Outcome): void {
    const waiting = this.#waiting.get(generation);
    if (waiting !== undefined) {
      waiting.steps--;
      waiting.outcomes.set(outcome.process, outcome);
      return;
    }
    // A rollback that fails is the result of its instance.
    const undone = this.#waiting.get(this.#now().release?.undoes ?? 0);
    if (outcome.error !== undefined) undone?.outcomes.set(outcome.process, outcome);
  }

  /** Answers the requests whose release is over. */
  answer(): void {
    const { release, history } = this.#now();
    for (const [generation, waiting] of [...this.#waiting]) {
      if (release?.generation === generation || release?.undoes === generation) continue;
      if (waiting.steps > 0) continue;
      const over = history.findLast((one) => one.generation === generation);
      // One that is not remembered any more was superseded, many times.
      const isOver = over !== undefined && over.result !== "superseded";
      if (isOver) this.#end(generation, waiting, over);
      else this.#superseded(generation, waiting);
    }
  }

  /** Answers all: the supervisor shuts down. */
  close(): void {
    for (const [generation, waiting] of [...this.#waiting]) {
      if (waiting.steps > 0) continue;
      const error = new ProcsupError("closed", "The supervisor is shutting down");
      this.#end(generation, withError(waiting, error));
    }
  }

  /** A later request for the same configuration answers for the earlier one, too. */
  #superseded(generation: number, waiting: Waiting): void {
    const app = this.#now();
    const later = app.history.find((one) => one.generation > generation) ?? app.release!;
    const answers = this.#waiting.get(later.generation);
    const isSame = answers !== undefined &&
      configChanges(waiting.config, answers.config).length === 0;
    if (isSame) {
      this.#waiting.delete(generation);
      return void answers.over.promise.then(waiting.over.resolve);
    }
    const [first] = waiting.members.filter((process) => !waiting.outcomes.has(process));
    const name = (first ?? waiting.members.at(-1)!).name;
    const why = `Cannot reload "${name}": a later request changes its configuration`;
    this.#end(generation, withError(waiting, new ProcsupError("wrong_state", why)));
  }

  #end(generation: number, { over, members, outcomes }: Waiting, record?: Release): void {
    this.#waiting.delete(generation);
    const isFailed = record?.result !== "done";
    if (outcomes.size > 0 || members.every(({ isLeaving }) => isLeaving)) {
      for (const one of deletedOf(members, outcomes)) outcomes.set(one.process, one);
    }
    over.resolve({
      // In the order of the instances. Later ones came while it was under way.
      outcomes: [...new Set([...members, ...outcomes.keys()])]
        .flatMap((process) => outcomes.get(process) ?? []),
      rolledBack: record?.result === "rolled_back",
      isFailed,
      isScaled: record?.growsBy === 0,
    });
  }
}

/** With an error for the first instance that was not tried, unless one has failed. */
function withError(waiting: Waiting, error: ProcsupError): Waiting {
  const outcomes = new Map(waiting.outcomes);
  if ([...outcomes.values()].some(({ error }) => error !== undefined)) return waiting;
  const process = waiting.members.find((one) => !outcomes.has(one)) ?? waiting.members.at(-1);
  if (process !== undefined) outcomes.set(process, { process, error });
  return { ...waiting, outcomes };
}

/** The outcomes of instances that were deleted before their turn. */
function deletedOf(
  members: readonly ManagedProcess[],
  outcomes: ReadonlyMap<ManagedProcess, Outcome>,
): Outcome[] {
  return members.filter((process) => process.isLeaving && !outcomes.has(process))
    .map((process) => {
      const why = `Cannot reload "${process.name}": it was deleted meanwhile`;
      return { process, error: new ProcsupError("wrong_state", why) };
    });
}
