/** Runs a verb on several processes, and waits for them. */

import { hasCode, ifPossible, messageOf, ProcsupError, quote } from "../model/errors.ts";
import type { LastWords } from "../model/start_failed.ts";
import { nearestWord } from "../model/nearest_word.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { type ProcessInfo, WAIT_POINTS, type WaitPoint } from "../model/process_info.ts";
import { type Ordered, startWaves } from "../model/start_order.ts";
import { isGroup } from "../model/target.ts";
import { AT_REST, isSuccess } from "../model/transition_steps.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import type { UpOptions } from "../process/process_requests.ts";
import { reasonOf, startFailed } from "../process/start_and_wait.ts";
import { lastWords } from "./last_words.ts";
import { commandHint } from "../model/hint.ts";

/** The result of a verb for one process. */
export interface Outcome {
  readonly process: ManagedProcess;
  /** Undefined on success. */
  readonly error?: ProcsupError;
  /** The last output of a failed start. Read at once: the next run may start within 100 ms. */
  readonly lastWords?: LastWords | undefined;
}

/**
 * The outcomes of starts, once all of them are over. With `wait`, an app that came up, and failed
 * while others came up, has failed.
 */
export async function whatStayedUp(
  starts: Outcome[] | Promise<Outcome[]>,
  { wait }: UpOptions,
): Promise<Outcome[]> {
  const outcomes = await starts;
  if (!wait) return outcomes;
  return await Promise.all(outcomes.map(async (outcome) => {
    const { process, error } = outcome;
    if (error !== undefined || !hasFailed(process)) return outcome;
    return await failedStart(process, startFailed(process));
  }));
}

function hasFailed({ snapshot: { state, awaiting, lastExit }, config }: ManagedProcess): boolean {
  if (state !== "waiting") return state === "crashed" || state === "errored";
  return awaiting !== "dependencies" && awaiting !== "connection" && !isSuccess(lastExit, config);
}

/** Acts on each process, in parallel or one after the other. After a failure the others go on. */
export async function runBulk(
  processes: readonly ManagedProcess[],
  act: (process: ManagedProcess) => Promise<unknown>,
  parallel = true,
): Promise<Outcome[]> {
  const one = async (process: ManagedProcess): Promise<Outcome> => {
    try {
      await act(process);
      return { process };
    } catch (thrown) {
      const error = asProcsupError(thrown);
      return error.code === "start_failed" ? await failedStart(process, error) : { process, error };
    }
  };
  if (parallel) return await Promise.all(processes.map(one));
  const outcomes: Outcome[] = [];
  for (const process of processes) outcomes.push(await one(process));
  return outcomes;
}

async function failedStart(process: ManagedProcess, error: ProcsupError): Promise<Outcome> {
  // Ignore unreadable logs: the failure itself is what counts.
  return { process, error, lastWords: await lastWords(process).catch(() => undefined) };
}

/** Returns whether a process was asked to stop after this call, even if it was started again. */
export function stoppedSince(
  processes: readonly ManagedProcess[],
): (process: ManagedProcess) => boolean {
  const stops = new Map(processes.map((process) => [process, process.stops]));
  return (process) => process.stops !== (stops.get(process) ?? 0);
}

/** Starts a process that was in the list. */
export type Start = (process: ManagedProcess, options?: UpOptions) => Promise<void>;

/** How to start processes, now or in a later wave: one that is stopped before its turn stays down. */
export function starter(isStopped: (process: ManagedProcess) => boolean): Start {
  return async (process, options) => {
    if (!isStopped(process)) return await process.start(options);
    const what = `Cannot start "${process.name}": it was stopped meanwhile`;
    throw new ProcsupError("wrong_state", what);
  };
}

/** True if cron starts it. */
export function isJob({ config }: ManagedProcess): boolean {
  return config.cron !== undefined;
}

/** The processes of a target to start. A group does not include jobs: they must be named. */
export function withoutJobs(target: string, found: ManagedProcess[]): ManagedProcess[] {
  return isGroup(target) ? found.filter((process) => !isJob(process)) : found;
}

/**
 * The processes of a target that run, for verbs that need a running app. A process named alone is
 * kept, so that the verb can fail.
 */
export function thoseThatRun(target: string, found: ManagedProcess[]): ManagedProcess[] {
  return isGroup(target) ? found.filter(({ snapshot }) => snapshot.run !== null) : found;
}

/** The parts of a configuration that decide the order of starts. */
export function ordered({ name, dependsOn, priority }: ProcessConfig): Ordered {
  return { name, dependsOn: Object.keys(dependsOn), priority };
}

/** The processes in the order of their starts; see `startWaves()`. */
export function inWaves(processes: readonly ManagedProcess[]): ManagedProcess[][] {
  // Damaged records have a cycle: processes can still be stopped and started without an order.
  return ifPossible(() => startWaves(processes, ({ config }) => ordered(config))) ??
    [[...processes]];
}

/** The opposite order, for stops. */
export function reversed(waves: readonly ManagedProcess[][]): ManagedProcess[][] {
  return waves.map((wave) => wave.toReversed()).reverse();
}

/** Acts on one wave after the other. */
export async function runWaves(
  waves: readonly ManagedProcess[][],
  act: (process: ManagedProcess) => Promise<void>,
  parallel = true,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const wave of waves) outcomes.push(...await runBulk(wave, act, parallel));
  return outcomes;
}

/** Throws the first failure, if any. */
export function throwFirst(outcomes: readonly Outcome[]): void {
  for (const { error } of outcomes) if (error !== undefined) throw error;
}

/** Returns a `ProcsupError` as it is, and wraps any other error as `internal`. */
export function asProcsupError(error: unknown): ProcsupError {
  if (error instanceof ProcsupError) return error;
  return new ProcsupError("internal", messageOf(error), { cause: error });
}

const REACHED: Readonly<Record<WaitPoint, (info: ProcessInfo) => boolean>> = {
  running: ({ state }) => state === "running",
  ready: ({ state, ready }) => state === "running" && ready,
  stopped: ({ state }) => state === "stopped",
  exit: ({ state }) => AT_REST.has(state),
};

/** Whether it has failed and only a user starts it again: not the clock, nor a request under way. */
function hasGivenUp({ snapshot, config }: ManagedProcess): boolean {
  const { state, pending, requests } = snapshot;
  const isFree = pending === null && requests.length === 0;
  const isOnSchedule = config.cron !== undefined || config.cronRestart !== undefined;
  return (state === "crashed" || state === "errored") && isFree && !isOnSchedule;
}

function givenUp({ name, snapshot }: ManagedProcess): ProcsupError {
  const what = `"${name}" is ${snapshot.state}: ${reasonOf(snapshot)}`;
  return new ProcsupError("start_failed", what, { hint: commandHint("why", name) });
}

/**
 * Resolves when each process has reached a point. Throws `bad_request` for an unknown point,
 * `start_failed` if a process that should run has failed for good, the reason if one is deleted or
 * released before, and the signal's reason.
 */
export async function untilReached(
  processes: readonly ManagedProcess[],
  point: WaitPoint,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (!Object.hasOwn(REACHED, point)) {
    const near = nearestWord(String(point), WAIT_POINTS);
    const what = near === undefined ? `one of ${WAIT_POINTS.join(", ")}` : `"${near}"`;
    throw new ProcsupError("bad_request", `Invalid "for" ${quote(point)}: expected ${what}`);
  }
  const has = (process: ManagedProcess) => REACHED[point](process.info());
  const needsRun = point === "running" || point === "ready";
  const failed = new AbortController();
  const ends = signal === undefined ? [failed.signal] : [failed.signal, signal];
  try {
    await Promise.all(processes.map(async (process) => {
      let failure: ProcsupError | undefined;
      const isOver = () => {
        if (has(process)) return true;
        failure = needsRun && hasGivenUp(process) ? givenUp(process) : undefined;
        return failure !== undefined;
      };
      await process.until(isOver, AbortSignal.any([...ends, process.gone]));
      if (failure !== undefined) throw failure;
    }));
  } catch (error) {
    if (!hasCode(error, "timeout")) throw error;
    const late = processes.filter((process) => !has(process)).map((process) => process.info());
    const states = late.map(({ name, state }) => `${name} is ${state}`).join(", ");
    throw new ProcsupError("timeout", `${error.message}: ${states}`);
  } finally {
    failed.abort();
  }
}
