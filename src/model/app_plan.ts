/**
 * What to do next so that the instances of an app become what is wanted. Pure: it is asked after
 * every input, and by a new daemon with what is on record.
 */

import {
  type App,
  begunWith,
  ended,
  held,
  proven,
  pruned,
  type Release,
  specOf,
  undone,
  wantedConfig,
} from "./app.ts";
import { configChanges, needsRestart } from "./config_diff.ts";
import type { ProcessConfig } from "./process_config.ts";

/** What the plan must know of an instance. */
export interface Instance {
  readonly id: string;
  readonly index: number;
  /** Whether it has no index in its name, as the only one. */
  readonly isSingle: boolean;
  /** The generation of its run; at rest, of its next one. */
  readonly generation: number;
  /** The generation that a step under way gives it. */
  readonly replacing?: number | undefined;
  /** It should run: no user has stopped it, and it does not wait for its schedule. */
  readonly isUp: boolean;
  /** Its last run ended with success, and nothing starts it again. */
  readonly hasEnded: boolean;
  readonly hasRun: boolean;
  /** It runs, and is ready if readiness is configured. */
  readonly isServing: boolean;
  /** It is on its way up, and will be ready or fail. */
  readonly isComingUp: boolean;
  /** It is being deleted. */
  readonly isLeaving: boolean;
  /** Generations of its runs that are being ended, earlier ones included. */
  readonly draining: readonly number[];
}

/** A step, for an instance that has none under way to the same end. */
export type Step =
  /** Gives it a new run of the wanted generation, and waits until that is proven. */
  | { readonly type: "replace"; readonly id: string }
  /** Waits until its run, which is of the wanted generation, is proven. */
  | { readonly type: "prove"; readonly id: string }
  /** Stops it: from now on only its schedule starts it. */
  | { readonly type: "hold"; readonly id: string }
  /** Its next run, and the keys that need no run, are of this generation. */
  | { readonly type: "assign"; readonly id: string; readonly generation: number }
  /** Gives the only instance an index. */
  | { readonly type: "rename"; readonly id: string }
  | { readonly type: "add"; readonly indexes: readonly number[] }
  | { readonly type: "remove"; readonly id: string };

export interface Plan {
  /** The app with what was decided, to be recorded before the steps are performed. */
  readonly app: App;
  readonly steps: readonly Step[];
}

/** The next steps. Without any, everything is as wanted, or a step is under way. */
export function plan(app: App, instances: readonly Instance[], now: number): Plan {
  const byIndex = instances.filter(({ isLeaving }) => !isLeaving)
    .toSorted((one, other) => one.index - other.index);
  const size = resizing(app, byIndex, instances);
  const surplus = new Set(size.steps.flatMap((step) => step.type === "remove" ? [step.id] : []));
  const members = byIndex.filter(({ id }) => !surplus.has(id));
  const leaving = instances.filter((one) => !members.includes(one));
  const next = afterRelease(size.app, { members, leaving }, now);
  const steps = [...next.steps, ...size.steps];
  const used = instances.flatMap((one) => [one.generation, generationAt(one)]);
  const assigned = steps.flatMap((step) => step.type === "assign" ? [step.generation] : []);
  return { app: pruned(next.app, new Set([...used, ...assigned])), steps };
}

/** The steps that bring the number of instances to the wanted one. */
function resizing(app: App, byIndex: readonly Instance[], all: readonly Instance[]): Plan {
  if (!app.isResizing) return { app, steps: [] };
  const { instances: count } = wantedConfig(app);
  const surplus = byIndex.slice(count);
  if (surplus.length > 0) {
    return { app, steps: surplus.map(({ id }) => ({ type: "remove", id })) };
  }
  if (app.release?.growsBy) return { app, steps: [] };
  const missing = count - byIndex.length;
  // An index is free once the instance that had it is gone.
  if (byIndex.length < all.length && byIndex.length > 0) return { app, steps: [] };
  const over = { app: { ...app, isResizing: undefined }, steps: [] };
  if (missing === 0 || byIndex.length === 0) return over;
  const single = byIndex.find(({ isSingle }) => isSingle);
  if (single !== undefined) return { app, steps: [{ type: "rename", id: single.id }] };
  const taken = new Set(byIndex.map(({ index }) => index));
  const free: number[] = [];
  for (let index = 0; free.length < missing; index++) if (!taken.has(index)) free.push(index);
  return { ...over, steps: [{ type: "add", indexes: free }] };
}

/** The instances of an app. Those that are leaving get no step, but they may still run. */
interface Instances {
  readonly members: readonly Instance[];
  readonly leaving: readonly Instance[];
}

function afterRelease(app: App, instances: Instances, now: number): Plan {
  const { release } = app;
  const { members } = instances;
  if (release === undefined) return { app, steps: [] };
  const open = members.filter((one) => isOpen(app, release, one));
  const isUnderWay = ({ replacing }: Instance) => replacing === release.generation;
  if (release.failure !== undefined) {
    // The others of its batch must not be left half-way.
    return open.some(isUnderWay) ? { app, steps: [] } : afterFailure(app, release, instances, now);
  }
  if (open.length > 0) {
    const idle = open.filter((one) => !isUnderWay(one));
    return { app, steps: idle.map((one) => turnOf(app, release, one)) };
  }
  const waiting = members.filter((one) => !isOver(release, one) && needsTurn(app, release, one));
  // A release that was superseded may have left some on their way.
  const others = members.filter((one) => one.replacing !== undefined && !waiting.includes(one));
  if (waiting.length > 0) {
    const down = members.filter((one) => one.isComingUp && !waiting.includes(one));
    const room = release.batch - new Set([...others, ...down]).size;
    return nextBatch(app, release, waiting, room);
  }
  if (others.length > 0 || hasFailedRuns(release, instances)) return { app, steps: [] };
  const rest = members.filter(({ generation }) => generation !== release.generation);
  const { generation } = release;
  return {
    app: ended(proven(app, rest.map(({ id }) => id)), "done", now),
    steps: rest.map(({ id }) => ({ type: "assign", id, generation })),
  };
}

/** Whether its turn has come, and is not over. */
function isOpen(app: App, release: Release, one: Instance): boolean {
  if (!release.begun.includes(one.id) || isOver(release, one)) return false;
  if (one.replacing === release.generation) return true;
  return one.generation === release.generation ? one.isUp : needsTurn(app, release, one);
}

function isOver({ done }: Release, { id }: Instance): boolean {
  return done.includes(id);
}

/** Those that serve nothing come first. */
function nextBatch(
  app: App,
  release: Release,
  waiting: readonly Instance[],
  room: number,
): Plan {
  const inOrder = waiting.toSorted((one, other) =>
    Number(one.isServing) - Number(other.isServing) || one.index - other.index
  );
  const jobs = inOrder.filter((one) => becomesJob(app, release, one));
  const batch = jobs.length > 0 ? jobs : inOrder.slice(0, Math.max(0, room));
  if (batch.length === 0) return { app, steps: [] };
  const ids = batch.map(({ id }) => id);
  return {
    app: begunWith(jobs.length > 0 ? held(app, ids) : app, ids),
    steps: batch.map((one) => turnOf(app, release, one)),
  };
}

function turnOf(app: App, release: Release, one: Instance): Step {
  const { id } = one;
  const { generation } = release;
  if (becomesJob(app, release, one)) return { type: "hold", id };
  if (one.generation === generation) return { type: "prove", id };
  const isKept = (one.isServing || one.isComingUp) && !release.reload.includes(id) &&
    !isOutdated(app, one);
  return isKept ? { type: "assign", id, generation } : { type: "replace", id };
}

/** Rolls back if that was asked for, or if no instance has the failed configuration. */
function afterFailure(
  app: App,
  release: Release,
  instances: Instances,
  now: number,
): Plan {
  const isUsed = instances.members.some((one) => generationAt(one) === release.generation);
  const goesBack = release.undoes === undefined && (release.rollback || !isUsed);
  if (goesBack) return afterRelease(undone(app, now), instances, now);
  return { app: hasFailedRuns(release, instances) ? app : ended(app, "failed", now), steps: [] };
}

/** Whether a failed run has not ended yet, and may answer its clients. */
function hasFailedRuns(
  { generation, undoes, failure }: Release,
  { members, leaving }: Instances,
): boolean {
  const failed = [...failure === undefined ? [] : [generation], ...undoes ? [undoes] : []];
  // After a failure the restart policy may go on with some that have a failed configuration.
  const goesOn = (one: Instance) =>
    failure !== undefined && one.isUp && failed.includes(one.generation);
  const over = members.filter((one) => !goesOn(one));
  const runs = [...over, ...leaving].flatMap(({ draining }) => draining)
    .concat(leaving.flatMap((one) => one.hasRun ? one.generation : []));
  return failed.some((one) => runs.includes(one));
}

/** The generation that it will have once the step under way is over. */
function generationAt({ generation, replacing = generation }: Instance): number {
  return replacing;
}

/** An app that becomes a job is stopped, unless it is to be reloaded in any case. */
function becomesJob(app: App, { reload }: Release, one: Instance): boolean {
  return wantedConfig(app).cron !== undefined && !reload.includes(one.id);
}

/** Whether an instance needs a new run to be what is wanted, or its run is not proven yet. */
function needsTurn(app: App, release: Release, one: Instance): boolean {
  // One that was added meanwhile has the wanted generation, and must come up, too.
  if (generationAt(one) === release.generation) return release.waitReady && one.isUp;
  if (release.reload.includes(one.id)) return true;
  if (wantedConfig(app).cron === undefined && app.held?.includes(one.id)) return true;
  if (!getsRun(app, one, wantedConfig(app))) return false;
  // The launch that a superseded release began comes first.
  const isLaunched = one.replacing === undefined || one.replacing === one.generation;
  return isOutdated(app, one) || isUnproven(app, one) && isLaunched;
}

/** Whether an instance gets a new run if a configuration needs one. It is at rest otherwise. */
export function getsRun(app: App, one: Instance, { cron }: Pick<ProcessConfig, "cron">): boolean {
  const isLeftByRelease = one.isUp && isUnproven(app, one);
  const isJob = specOf(app, generationAt(one)).cron !== undefined;
  if (isJob) return cron === undefined && (one.hasRun || isLeftByRelease);
  return one.isUp && !one.hasEnded || isLeftByRelease;
}

/** Whether its generation is of a release that did not come up everywhere. */
function isUnproven(app: App, one: Instance): boolean {
  return generationAt(one) > app.stable;
}

/** Whether its configuration must be replaced by a new run. */
function isOutdated(app: App, one: Instance): boolean {
  const [before, after] = [specOf(app, generationAt(one)), wantedConfig(app)];
  return before !== after && needsRestart(configChanges(before, after));
}
