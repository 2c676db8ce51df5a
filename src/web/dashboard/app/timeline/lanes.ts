/** What happened to the apps over a range of time: states, ends, releases and runs of jobs. Pure. */

import { baseName, HOST } from "../../../../model/name.ts";
import {
  type Condition,
  conditionOf,
  CONDITIONS_BY_URGENCY,
  type EndCause,
} from "../../../../model/process_info.ts";
import type { CronJson, EventsJson, ProcessJson } from "../../../../protocol/wire.ts";

type EventJson = EventsJson["events"][number];

/** `absent`: it did not exist. */
type LaneState = Condition | "absent";

/** The states, those that need attention first. */
const BY_URGENCY: readonly LaneState[] = [...CONDITIONS_BY_URGENCY, "absent"];

/** Milliseconds since the epoch. */
interface Stretch {
  readonly from: number;
  readonly to: number;
}

interface StateStretch extends Stretch {
  readonly state: LaneState;
}

/** Something at one moment. */
export interface Tick {
  readonly at: number;
  readonly name: string;
  /** Why a run ended, or how a release did. */
  readonly kind: EndCause | "released" | "release_failed" | "alert";
  readonly text: string;
}

interface JobRun extends Stretch {
  readonly ok: boolean;
}

/** An app, with all its instances. */
export interface Lane {
  readonly name: string;
  readonly states: readonly StateStretch[];
  readonly ticks: readonly Tick[];
  readonly runs: readonly JobRun[];
}

/** A process as it is now. */
type KnownProcess = Pick<ProcessJson, "name" | "state" | "health" | "created_at">;

export interface Happened extends Stretch {
  /** The oldest first. */
  readonly events: readonly EventJson[];
  readonly processes: readonly KnownProcess[];
  readonly jobs: readonly CronJson[];
}

/** A lane for each app: first those with the most failures, then those with the most changes. */
export function lanesOf({ events, processes, jobs, from, to }: Happened): readonly Lane[] {
  const known = new Map(processes.map((process) => [process.name, process]));
  const past = Map.groupBy(events.filter(({ name }) => name !== HOST), ({ name }) => name);
  const names = new Set([...known.keys(), ...past.keys()]);
  const apps = Map.groupBy(names, baseName);
  const lanes = [...apps].map(([name, members]): Lane => ({
    name,
    states: together(
      members.map((member) => statesOf(past.get(member) ?? [], known.get(member), { from, to })),
    ),
    ticks: members.flatMap((member) => ticksOf(past.get(member) ?? []))
      .sort((a, b) => a.at - b.at),
    runs: jobs.filter((job) => members.includes(job.name) && job.type === "job")
      .flatMap(runsOf).filter((run) => run.to >= from && run.from <= to),
  }));
  const failures = ({ ticks }: Lane) => ticks.filter(({ kind }) => isFailure(kind)).length;
  const changes = ({ states, ticks, runs }: Lane) => states.length + ticks.length + runs.length;
  return lanes.sort((a, b) =>
    failures(b) - failures(a) || changes(b) - changes(a) || a.name.localeCompare(b.name)
  );
}

const FAILURES: ReadonlySet<string> = new Set(
  ["crash", "oom", "memory", "health", "watchdog", "unready", "release_failed", "alert"],
);

export function isFailure(kind: Tick["kind"]): boolean {
  return FAILURES.has(kind);
}

/** The states of one process. Intermediate ones, which are not recorded, count as those before them. */
function statesOf(
  events: readonly EventJson[],
  now: KnownProcess | undefined,
  { from, to }: Stretch,
): StateStretch[] {
  const [first] = events;
  const stretches: StateStretch[] = [];
  let state = first === undefined ? stateNow(now, to) : stateBefore(first);
  let since = from;
  const end = (at: number, next: LaneState) => {
    if (next === state) return;
    if (at > since) stretches.push({ from: since, to: at, state });
    [since, state] = [Math.max(at, since), next];
  };
  for (const event of events) end(Date.parse(event.at), stateAfter(event, state));
  if (to > since) stretches.push({ from: since, to, state });
  return stretches;
}

function stateNow(now: KnownProcess | undefined, to: number): LaneState {
  return now === undefined || Date.parse(now.created_at) > to ? "absent" : conditionOf(now);
}

/** Events that leave the health as it is. */
const NEUTRAL: ReadonlySet<string> = new Set(
  ["note", "asked", "released", "release_failed", "alert", "alert_resolved", "overdue"],
);

function stateAfter({ type, state }: EventJson, before: LaneState): LaneState {
  if (type === "deleted") return "absent";
  if (type === "unhealthy") return "unhealthy";
  return NEUTRAL.has(type) && before === "unhealthy" && state === "running" ? before : state;
}

const BEFORE: { readonly [T in EventJson["type"]]?: LaneState } = {
  ...{ added: "absent", running: "stopped", restarted: "waiting" },
  ...{ crashed: "running", stopped: "running", unhealthy: "running" },
};

function stateBefore({ type, state, cause }: EventJson): LaneState {
  // A run that ended on purpose went on until the next one.
  const ran = cause !== undefined && (type === "running" || type === "restarted");
  return ran ? "running" : BEFORE[type] ?? state;
}

/** At each moment the most urgent state of several processes. */
function together(all: readonly (readonly StateStretch[])[]): readonly StateStretch[] {
  if (all.length === 1) return all[0]!;
  const moments = [...new Set(all.flat().flatMap(({ from, to }) => [from, to]))]
    .sort((a, b) => a - b);
  const joined: StateStretch[] = [];
  const places = all.map(() => 0);
  const stateAt = (moment: number, index: number) => {
    while ((all[index]![places[index]!]?.to ?? Infinity) <= moment) places[index]!++;
    return all[index]![places[index]!]?.state;
  };
  for (const [index, to] of moments.slice(1).entries()) {
    const from = moments[index]!;
    const states = new Set(all.map((_, one) => stateAt(from, one)));
    const state = BY_URGENCY.find((one) => states.has(one)) ?? "absent";
    const last = joined.at(-1);
    if (last?.state === state) joined[joined.length - 1] = { ...last, to };
    else joined.push({ from, to, state });
  }
  return joined;
}

/** How ticks are drawn and called. */
export const KINDS: Readonly<Record<Tick["kind"], readonly [glyph: string, text: string]>> = {
  crash: ["✕", "crash"],
  oom: ["▲", "out of memory"],
  memory: ["△", "more than max_memory"],
  health: ["♥", "unhealthy"],
  unready: ["!", "not ready in time"],
  watchdog: ["⌛", "hung"],
  idle: ["☾", "idle"],
  exit: ["○", "exit"],
  user: ["■", "by a user"],
  schedule: ["◆", "by schedule"],
  age: ["▽", "too old"],
  watch: ["◇", "file changed"],
  release: ["●", "replaced by a release"],
  released: ["✓", "release"],
  release_failed: ["✗", "release failed"],
  alert: ["⚑", "alert"],
};

export function ticksOf(events: readonly EventJson[]): Tick[] {
  return events.flatMap(({ type, at, name, cause, reason }) => {
    const isKind = type === "released" || type === "release_failed" || type === "alert";
    const kind = isKind ? type : cause;
    if (kind === undefined) return [];
    const [why = ""] = reason.split("\n");
    return [{ at: Date.parse(at), name, kind, text: why }];
  });
}

function runsOf({ history }: CronJson): JobRun[] {
  return history.filter(({ status }) => status !== "skipped").map((run) => ({
    from: Date.parse(run.started_at),
    to: Date.parse(run.finished_at),
    ok: run.status === "ok",
  }));
}

/** A figure of an app that changed within a range. */
export interface Move {
  readonly name: string;
  readonly before: number;
  readonly after: number;
}

/** One app's figure over time. */
export interface Course {
  readonly name: string;
  readonly values: readonly number[];
}

const SHOWN = 5;

/** The apps whose figure differs most between the first and the last third of a range. */
export function moves(courses: readonly Course[], least: number): readonly Move[] {
  const mean = (values: readonly number[]) =>
    values.reduce((sum, one) => sum + one, 0) / Math.max(1, values.length);
  return courses.filter(({ values }) => values.length >= 2).map(({ name, values }) => {
    const third = Math.max(1, Math.floor(values.length / 3));
    return { name, before: mean(values.slice(0, third)), after: mean(values.slice(-third)) };
  }).filter(({ before, after }) => Math.abs(after - before) >= least)
    .sort((a, b) => Math.abs(b.after - b.before) - Math.abs(a.after - a.before))
    .slice(0, SHOWN);
}
