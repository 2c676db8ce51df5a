/** The state of the dashboard: signals that the screens read. */

import { computed, effect, signal } from "@preact/signals";
import { baseName } from "../../../../model/name.ts";
import { type Condition, conditionOf } from "../../../../model/process_info.ts";
import type { LogCountsJson, ProcessJson } from "../../../../protocol/wire.ts";
import type { Sample } from "../process/history.ts";
import { INITIAL_STATE, isLost } from "./feed_state.ts";
import { now } from "./time_range.ts";

export type { SystemMetrics } from "./feed_state.ts";

/** Only `data/feed.ts` changes it. */
export const feed = signal(INITIAL_STATE);

export const connection = computed(() => feed.value.connection);
/** Time of the last message, in milliseconds since the epoch. */
export const lastMessageAt = computed(() => feed.value.heardAt);
export const session = computed(() => feed.value.session);
/** Processes by id. Null before the first answer. */
export const processes = computed(() => feed.value.processes);
export const metrics = computed(() => feed.value.metrics);
/** Increases with every event of a process. Earlier answers are then out of date. */
export const happened = computed(() => feed.value.happened);
/** True while what is shown may be out of date. */
export const isStale = computed(() => isLost(feed.value));

/** Resolves when a condition holds, or on abort. */
export function until(holds: () => boolean, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const stop = effect(() => {
      if (holds() || signal.aborted) queueMicrotask(() => (stop(), resolve()));
    });
    signal.addEventListener("abort", () => (stop(), resolve()), { once: true });
  });
}

/** The daemon's time, updated every second. Read it to render ages. It stands still without a daemon. */
export const clock = signal(now());

setInterval(() => document.hidden || (clock.value = time()), 1000);

function time(): number {
  return isStale.value ? lastMessageAt.value : now();
}

/** Apart from the other messages, which must not draw every small chart again. */
const samples = computed(() => feed.value.samples);

/** Readings of a process, or of the host, up to now. */
export function recent(key: string, ms: number): readonly Sample[] {
  const from = time() - ms;
  return (samples.value.get(key) ?? []).filter(({ at }) => at >= from);
}

/** All processes, by numeric id. */
export const processList = computed<readonly ProcessJson[]>(() =>
  [...processes.value?.values() ?? []].sort((a, b) => a.numeric_id - b.numeric_id)
);

/** The process of a name or id, or all instances of an app. */
export function processesOf(name: string): readonly ProcessJson[] {
  const one = processList.value.find((process) => process.name === name || process.id === name);
  return one ? [one] : processList.value.filter((process) => baseName(process.name) === name);
}

/** Whether targets name a single process. An app with several instances is not one. */
export function isOneProcess(targets: readonly string[]): boolean {
  return targets.length === 1 && processesOf(targets[0]!).length < 2;
}

export const stateCounts = computed(() => {
  const groups = Map.groupBy(processList.value, conditionOf);
  return new Map<Condition, number>([...groups].map(([state, all]) => [state, all.length]));
});

export const mayOperate = computed(() =>
  session.value !== undefined && session.value.role !== "read"
);
/** True if the user may add and remove processes. */
export const mayAdminister = computed(() => session.value?.role === "admin");

/** Listening ports by process id, as they were when they were last shown. */
export const ports = signal<ReadonlyMap<string, readonly number[]>>(new Map());

type LogErrors = NonNullable<LogCountsJson["names"]>[number];

/** The errors that processes logged in the last 15 minutes, by name, as they were last shown. */
export const logErrors = signal<ReadonlyMap<string, LogErrors>>(new Map());
