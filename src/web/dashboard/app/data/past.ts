/** The past, as the daemon kept it: events and metrics. */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type Figure, HOST, type Sample } from "../process/history.ts";
import { isNameOf } from "../../../../model/target.ts";
import { type Polled, usePolled } from "./polled.ts";
import { type Range, sinceUntil, SPANS } from "./time_range.ts";
import { happened, recent } from "./store.ts";
import type { EventsJson, MetricsPointJson, Payload } from "../../../../protocol/wire.ts";

export type EventJson = EventsJson["events"][number];

type EventQuery = Exclude<Payload<"events">, string | undefined>;

/** The daemon's limit for one answer. */
export const MOST_EVENTS = 10_000;

/** Interval of requests in case a push was missed. */
const EVERY_MS = 30_000;

/** The latest events that match a query, the newest last; without a range of any time. */
export function useEvents(query: EventQuery, range?: Range): Polled<EventsJson> {
  const isFixed = range?.span === undefined && range !== undefined;
  return usePolled(
    "events",
    { ...range && sinceUntil(range), ...query },
    isFixed ? Infinity : EVERY_MS,
    isFixed ? 0 : happened.value,
  );
}

const POINTS = 360;
/** Interval of the daemon's measurements. */
const STEP_MS = 10_000;

/** Readings over a range of time. */
export interface Series {
  /** Of the app or process; empty for the host. */
  readonly name: string;
  readonly samples: readonly Sample[];
  /** Milliseconds between samples. */
  readonly step: number;
}

/** Total usage of an app's processes; of the host without `name`. */
export function useSeries(range: Range, name?: string, ids: readonly string[] = [HOST]): Series {
  const [series] = useSeriesOf(range, name === undefined ? [] : [name]);
  // In short ranges, add the page's own readings after the last measurement.
  if (range.span !== "15m" && range.span !== "1h") return series!;
  const last = series!.samples.at(-1)?.at ?? 0;
  const own = together(ids.map((id) => recent(id, 2 * STEP_MS))).filter(({ at }) => at > last);
  return { ...series!, samples: [...series!.samples, ...own] };
}

/** Usage of several apps or processes, each in total; of the host without any. */
export function useSeriesOf(range: Range, names: readonly string[]): readonly Series[] {
  const ms = range.span === undefined ? Infinity : Math.max(STEP_MS, SPANS[range.span][1] / POINTS);
  const { data } = usePolled("metrics_history", {
    ...{ ...sinceUntil(range), points: POINTS, ...names.length > 0 && { target: names } },
    fields: ["cpu_percent", "memory_bytes", "fds", "threads", "load", "up", "healthy"],
  }, ms);
  const { series = [], step = STEP_MS * 1e6 } = data.value ?? {};
  return (names.length === 0 ? [""] : names).map((wanted) => {
    const own = series.filter(({ name }) => isNameOf(wanted, name ?? ""));
    const samples = together(own.map(({ points }) => points.map(sampleOf)));
    return { name: wanted, samples, step: step / 1e6 };
  });
}

const FIGURES: readonly Figure[] = ["cpu", "memory", "fds", "threads", "load"];

/** The sum of several series of the same steps; shares of time are means. */
function together(all: readonly (readonly Sample[])[]): readonly Sample[] {
  if (all.length === 1) return all[0]!;
  const grouped = Map.groupBy(all.flat(), ({ at }) => at);
  return [...grouped].sort(([one], [other]) => one - other).map(([at, some]) => ({
    at,
    ...Object.fromEntries(FIGURES.map((of) => [of, sum(some.map((one) => one[of]))])),
    up: mean(some.map(({ up = 1 }) => up)),
    healthy: mean(some.map(({ healthy }) => healthy)),
  }));
}

/** The sum of the known values; undefined without any. */
function sum(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((one) => one !== undefined);
  return known.length === 0 ? undefined : known.reduce((total, one) => total + one, 0);
}

/** The mean of the known values; undefined without any. */
export function mean(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((one) => one !== undefined);
  return known.length === 0 ? undefined : sum(known)! / known.length;
}

const HOUR_POINTS = 31;
/** Distance of these points. */
const HOUR_STEP_MS = 120_000;

/** One hour of processes that a list has in view, by name. */
export const lastHour = signal<ReadonlyMap<string, readonly Sample[]>>(new Map());

/** Keeps the last hour of these processes. */
export function useLastHour(names: readonly string[]): void {
  const { data } = usePolled("metrics_history", {
    ...{ since: "1h", points: HOUR_POINTS, ...names.length > 0 && { target: names } },
    fields: ["cpu_percent", "memory_bytes"],
  }, HOUR_STEP_MS);
  useEffect(() => {
    const series = data.value?.series ?? [];
    lastHour.value = new Map(series.map(({ name, points }) => [name ?? "", points.map(sampleOf)]));
  }, [data.value]);
}

function sampleOf(point: MetricsPointJson): Sample {
  const { at, cpu_percent, memory_bytes, fds, threads, load, up, healthy } = point;
  return {
    ...{ at: Date.parse(at), cpu: cpu_percent ?? undefined, memory: memory_bytes ?? undefined },
    ...{ fds: fds ?? undefined, threads: threads ?? undefined, load: load ?? undefined },
    ...{ up, healthy: healthy ?? undefined },
  };
}
