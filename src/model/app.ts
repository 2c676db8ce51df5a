/**
 * An app is what is wanted; its instances carry it out. Every change of the configuration is a
 * release: a new generation, on record until it is over, and remembered afterwards. Pure.
 */

import type { FieldChange } from "./config_diff.ts";
import type { ProcessConfig } from "./process_config.ts";

/** A configuration of an app. */
export interface Spec {
  readonly generation: number;
  readonly config: ProcessConfig;
}

/** How a release ended. */
export const RELEASE_RESULTS = [
  "done",
  "failed",
  "rolled_back",
  "superseded",
] as const satisfies readonly ReleaseInfo["result"][];

/** Why a release failed: the first instance that did not come up. */
export interface ReleaseFailure {
  /** Name of the instance. */
  readonly instance: string;
  /** Why it did not come up, as a phrase for people. */
  readonly reason: string;
  /** The last output of the failed run. */
  readonly lastLines: readonly string[];
}

/** How a release goes. */
export interface ReleaseOptions {
  /** Who asked for it: `user`, a token's name, a file. */
  readonly by: string;
  /** Most instances that are replaced at a time. */
  readonly batch: number;
  /** Wait until a batch is proven before the next one. */
  readonly waitReady: boolean;
  /** Give all instances the old configuration back if one fails. */
  readonly rollback: boolean;
}

/** One change of an app, under way or over. */
export interface Release extends ReleaseOptions {
  /** The generation that it makes. */
  readonly generation: number;
  /** The last generation that came up everywhere: a rollback goes back to it. */
  readonly from: number;
  /** Set for a rollback: the generation that failed. */
  readonly undoes?: number;
  readonly changes: readonly FieldChange[];
  /**
   * How many instances are added once it is done: part of the wanted number until it fails. 0 if a
   * later request has set the number.
   */
  readonly growsBy?: number | undefined;
  /** Ids of the instances that get a new run even if the change needs none; empty once it is over. */
  readonly reload: readonly string[];
  /** Ids of the instances whose turn has come; empty once it is over. */
  readonly begun: readonly string[];
  /** Ids of those that came up, and of those that needed no new run; empty once it is over. */
  readonly done: readonly string[];
  /** Milliseconds since the epoch. */
  readonly begunAt: number;
  readonly endedAt?: number;
  readonly result?: NonNullable<ReleaseInfo["result"]>;
  readonly failure?: ReleaseFailure | undefined;
}

/** What is wanted of an app. It outlives the daemon. */
export interface App {
  readonly name: string;
  /** The current one last. Before it, earlier ones that instances or a rollback may need. */
  readonly specs: readonly Spec[];
  /** The last generation that came up everywhere. */
  readonly stable: number;
  /** The change under way. */
  readonly release?: Release | undefined;
  /** True until the number of instances is the wanted one. */
  readonly isResizing?: true | undefined;
  /** Ids of instances that a release has stopped to make them jobs, until it is done. */
  readonly held?: readonly string[] | undefined;
  /** The last releases that are over, the newest last. */
  readonly history: readonly Release[];
}

/** Most releases that an app remembers. */
const REMEMBERED = 10;

export function newApp(config: ProcessConfig): App {
  return { name: config.name, specs: [{ generation: 1, config }], stable: 1, history: [] };
}

/** The generation that is wanted. */
export function generationOf({ specs }: App): number {
  return specs.at(-1)!.generation;
}

/** The configuration that is wanted. */
export function wantedConfig({ specs }: App): ProcessConfig {
  return specs.at(-1)!.config;
}

/** The configuration of a generation; of one that is not known, the wanted one. */
export function specOf({ specs }: App, generation: number): ProcessConfig {
  return (specs.find((spec) => spec.generation === generation) ?? specs.at(-1)!).config;
}

/** Sets the number of instances. */
export function withCount(app: App, instances: number): App {
  if (wantedConfig(app).instances === instances) return app;
  const counted = new Map<ProcessConfig, ProcessConfig>();
  const specs = app.specs.map(({ generation, config }) => {
    // Generations that share a configuration go on sharing it.
    const known = counted.get(config) ?? { ...config, instances };
    counted.set(config, known);
    return { generation, config: known };
  });
  return { ...app, specs };
}

/** Asks for another number of instances, whatever a release adds. */
export function resized(app: App, instances: number): App {
  const counted = withCount(app, instances);
  return { ...withRelease(counted, () => ({ growsBy: 0 })), isResizing: true };
}

/** A change that is asked for. */
export interface Change extends ReleaseOptions {
  /** Undefined: the same configuration again. */
  readonly config?: ProcessConfig;
  readonly changes: readonly FieldChange[];
  readonly reload: readonly string[];
  /** How many instances are added once it is done. */
  readonly growsBy?: number;
  readonly at: number;
}

/** Begins a release. One that is under way is superseded, and leaves it the instances to add. */
export function begun(app: App, { config, at, growsBy = 0, ...how }: Change): App {
  const generation = generationOf(app) + 1;
  const wanted = config ?? wantedConfig(app);
  const { history } = ended(app, "superseded", at);
  const more = growsBy + (app.release?.growsBy ?? 0);
  const next: App = {
    ...app,
    history,
    specs: [...app.specs, { generation, config: wanted }],
    release: { ...how, generation, from: app.stable, begun: [], done: [], begunAt: at },
  };
  if (more === 0) return next;
  const counted = withCount(next, wantedConfig(app).instances + growsBy);
  return { ...withRelease(counted, () => ({ growsBy: more })), isResizing: true };
}

/** Another request for the change that is under way: the later one says how it goes. */
export function joined(app: App, { batch, waitReady, rollback }: ReleaseOptions): App {
  return { ...app, release: { ...app.release!, batch, waitReady, rollback } };
}

/** The release is over. */
export function ended(app: App, result: NonNullable<Release["result"]>, at: number): App {
  const { release } = app;
  if (release === undefined) return app;
  const { growsBy = 0 } = release;
  const over: Release = { ...release, reload: [], begun: [], done: [], result, endedAt: at };
  const isGood = result === "done";
  const history = isGood && release.undoes !== undefined
    ? app.history.map((one) =>
      one.generation === release.undoes && one.rollback
        ? { ...one, result: "rolled_back" as const, endedAt: at }
        : one
    )
    : app.history;
  const next: App = {
    ...app,
    release: undefined,
    stable: isGood ? release.generation : app.stable,
    held: isGood ? undefined : app.held,
    history: [...history, over].slice(-REMEMBERED),
  };
  if (result !== "failed" || growsBy === 0) return next;
  return withCount(next, wantedConfig(app).instances - growsBy);
}

/** A change of an app, for other programs. */
export interface ReleaseInfo {
  /** Name of the app. */
  readonly app: string;
  /** Number of the configuration that it makes. */
  readonly generation: number;
  /** The generation that failed, if this is its rollback. */
  readonly undoes?: number;
  /** Who asked. */
  readonly by: string;
  /** Keys that changed; empty for the same configuration. */
  readonly changed: readonly string[];
  /** When it began. */
  readonly begunAt: Date;
  /** Null while it is under way, like `result`. */
  readonly endedAt: Date | null;
  /** How it ended. */
  readonly result: "done" | "failed" | "rolled_back" | "superseded" | null;
  /** Why it failed, if it did. */
  readonly failure?: ReleaseFailure;
}

export function releaseInfo({ name: app }: App, release: Release): ReleaseInfo {
  const { generation, undoes, by, changes, begunAt, endedAt, result, failure } = release;
  return {
    ...{ app, generation, ...undoes !== undefined && { undoes }, by },
    changed: changes.map(({ field }) => field),
    begunAt: new Date(begunAt),
    endedAt: endedAt === undefined ? null : new Date(endedAt),
    result: result ?? null,
    ...failure !== undefined && { failure },
  };
}

/** What is told of a release that is over. */
export interface ReleaseReport {
  readonly type: "released" | "release_failed";
  readonly result: NonNullable<Release["result"]>;
  readonly by: string;
  /** Name of the instance that failed. */
  readonly instance?: string | undefined;
  /** What changed, or why it failed. Lines after the first are the failed run's last output. */
  readonly reason: string;
}

/** The report of a release that is over. One that is rolled back has one, at the rollback's end. */
export function reportOf(app: App, release: Release): ReleaseReport | undefined {
  const { result, undoes, generation, changes, by, failure } = release;
  if (result === undefined || result === "rolled_back") return undefined;
  if (undoes !== undefined) {
    const undone = app.history.findLast((one) => one.generation === undoes && one.failure);
    return undone && failureReport(undone, release);
  }
  if (failure !== undefined) {
    return app.release?.undoes === generation ? undefined : failureReport(release);
  }
  const reason = changes.map(({ field }) => field).join(", ") || "the same configuration";
  return result === "done" ? { type: "released", result, by, reason } : undefined;
}

/** How a release ended, once: one that is rolled back, at the end of its rollback. */
export function finalResult(app: App, release: Release): Release["result"] {
  const report = reportOf(app, release);
  if (report !== undefined) return report.result;
  const isGivenUp = release.result === "superseded" && release.undoes === undefined &&
    release.failure === undefined;
  return isGivenUp ? "superseded" : undefined;
}

function failureReport({ result, by, failure }: Release, rollback?: Release): ReleaseReport {
  const { instance, reason, lastLines } = failure!;
  const what = result === "rolled_back" ? "rolled back" : result;
  const end = rollback?.result === "failed"
    ? `; its rollback failed: ${rollback.failure?.reason}`
    : rollback?.result === "superseded"
    ? "; its rollback was superseded"
    : "";
  const lines = [`${what}: ${reason}${end}`, ...lastLines];
  return { type: "release_failed", result: result!, by, instance, reason: lines.join("\n") };
}

/** A change that needs no release, and is made at once: of the number of instances. */
export function noted(
  app: App,
  { by, changes, at }: Pick<Change, "by" | "changes" | "at">,
): App {
  const generation = generationOf(app);
  const one: Release = {
    ...{ by, changes, generation, from: generation, begunAt: at, endedAt: at, result: "done" },
    ...{ batch: 1, waitReady: false, rollback: false, reload: [], begun: [], done: [] },
  };
  return { ...app, history: [...app.history, one].slice(-REMEMBERED) };
}

/** The failed release is over. A new generation has the configuration from before it. */
export function undone(app: App, at: number): App {
  const release = app.release!;
  const before = ended(app, "failed", at);
  const config = specOf(before, release.from);
  const generation = release.generation + 1;
  return {
    ...before,
    specs: [...before.specs, { generation, config }],
    release: {
      ...release,
      ...{ generation, undoes: release.generation, rollback: false, failure: undefined },
      ...{ growsBy: undefined, reload: [], begun: [], done: [], begunAt: at },
    },
  };
}

/** Instances came up, or needed no new run. */
export function proven(app: App, ids: readonly string[]): App {
  return withRelease(app, ({ done }) => ({ done: [...new Set([...done, ...ids])] }));
}

/** The turn of instances has come. */
export function begunWith(app: App, ids: readonly string[]): App {
  return withRelease(app, ({ begun }) => ({ begun: [...new Set([...begun, ...ids])] }));
}

/** Instances are stopped to become jobs. If they do not become jobs in the end, they run again. */
export function held(app: App, ids: readonly string[]): App {
  return { ...app, held: [...new Set([...app.held ?? [], ...ids])] };
}

/** An instance did not come up. The first failure is the reason of the release. */
export function failed(app: App, id: string, failure: ReleaseFailure): App {
  const next = proven(app, [id]);
  return withRelease(next, (release) => ({ failure: release.failure ?? failure }));
}

/** A user stopped an instance before its turn, or one that is held: it stays down. */
export function spared(before: App, id: string): App {
  const others = (ids: readonly string[]) => ids.filter((other) => other !== id);
  const app = before.held?.includes(id) ? { ...before, held: others(before.held) } : before;
  if (!app.release?.reload.includes(id) || app.release.begun.includes(id)) return app;
  return withRelease(app, ({ reload }) => ({ reload: others(reload) }));
}

function withRelease(app: App, change: (release: Release) => Partial<Release>): App {
  const { release } = app;
  return release === undefined ? app : { ...app, release: { ...release, ...change(release) } };
}

/** Forgets configurations that no instance uses and that no rollback needs. */
export function pruned(app: App, used: ReadonlySet<number>): App {
  const isNeeded = ({ generation }: Spec) =>
    used.has(generation) || generation === app.stable || generation === generationOf(app);
  return app.specs.every(isNeeded) ? app : { ...app, specs: app.specs.filter(isNeeded) };
}
