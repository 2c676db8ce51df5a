/** The state of the dashboard: signals that the screens read. */

import { computed, signal } from "@preact/signals";
import { baseName } from "../../../../model/name.ts";
import { announce } from "../shell/notices.ts";
import { HOST, keepOnly, record, round } from "../process/history.ts";
import { now } from "./time_range.ts";
import type { ProcessState } from "../../../../model/process_info.ts";
import type { Role } from "../../../../verbs/verb.ts";
import type { ProcessJson, SystemMetricsJson } from "../../../../protocol/wire.ts";

/** `GET /system/metrics`. Unavailable figures are missing. */
export type SystemMetrics =
  & Partial<Omit<SystemMetricsJson, "daemon">>
  & { readonly daemon?: Partial<SystemMetricsJson["daemon"]> };

export interface Session {
  readonly name: string;
  readonly role: Role;
}

/** `foreign`: another program answers at the daemon's address. */
type Connection = "connecting" | "live" | "lost" | "foreign" | "signed_out";

export const connection = signal<Connection>("connecting");
/** Time of the last message, in milliseconds since the epoch. */
export const lastMessageAt = signal(0);
export const session = signal<Session | undefined>(undefined);
/** Processes by id. Null before the first answer. */
export const processes = signal<ReadonlyMap<string, ProcessJson> | null>(null);
export const metrics = signal<SystemMetrics | undefined>(undefined);
/** The daemon's time, updated every second. Read it to render ages. */
export const clock = signal(now());

setInterval(() => document.hidden || (clock.value = now()), 1000);

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
  const counts = new Map<ProcessState, number>();
  for (const { state } of processList.value) counts.set(state, (counts.get(state) ?? 0) + 1);
  return counts;
});

export const mayOperate = computed(() =>
  session.value !== undefined && session.value.role !== "read"
);
/** True if the user may add and remove processes. */
export const mayAdminister = computed(() => session.value?.role === "admin");

/** Listening ports by process id, as they were when they were last shown. */
export const ports = signal<ReadonlyMap<string, readonly number[]>>(new Map());

/** Fields that only tell how much time has passed. */
const MOVING = new Set<string>(["uptime"]);

/** Stores the full list from REST. */
export function takeList(list: readonly ProcessJson[]): void {
  const before = processes.value;
  const next = new Map<string, ProcessJson>();
  for (const process of list) {
    const old = before?.get(process.id);
    next.set(process.id, merged(old, process));
  }
  if (before !== null) announceChanges(before, next);
  processes.value = next;
  keepOnly(new Set(next.keys()));
}

/**
 * Merges the items of the feed, which lack some fields. Returns true if the full list is needed.
 */
export function takeItems(items: readonly Partial<ProcessJson>[]): boolean {
  const before = processes.value;
  if (before === null) return true;
  const at = now();
  const next = new Map<string, ProcessJson>();
  let stale = items.length !== before.size;
  for (const item of items) {
    const old = before.get(item.id!);
    if (old === undefined) {
      stale = true;
      continue;
    }
    stale ||= old.state !== item.state || old.pid !== item.pid || old.restarts !== item.restarts;
    const process = merged(old, item);
    next.set(process.id, process);
    const { cpu_percent: cpu, memory_bytes: memory, fds, threads } = process;
    record(process.id, { at, cpu, memory, fds, threads });
  }
  announceChanges(before, next);
  processes.value = next;
  round.value++;
  return stale;
}

export function takeMetrics(news: SystemMetrics): void {
  metrics.value = news;
  const { cpu_percent: cpu, used_memory: memory, cpu_load_1: load } = news;
  record(HOST, { at: now(), cpu, memory, load });
  round.value++;
}

/** Returns the old object if no shown field changed, which avoids rendering it again. */
function merged(old: ProcessJson | undefined, news: Partial<ProcessJson>): ProcessJson {
  if (old === undefined) return news as ProcessJson;
  const known = old as unknown as Record<string, unknown>;
  const changed = Object.entries(news).some(([key, value]) =>
    !MOVING.has(key) && known[key] !== value &&
    (typeof value !== "object" || JSON.stringify(known[key]) !== JSON.stringify(value))
  );
  return changed ? { ...old, ...news } : old;
}

function announceChanges(
  before: ReadonlyMap<string, ProcessJson>,
  next: ReadonlyMap<string, ProcessJson>,
): void {
  for (const [id, { name, state }] of next) {
    const old = before.get(id);
    if (old !== undefined && old.state !== state) announce(`${name} is ${state}`);
  }
}
