/** What happened, as far as this page knows: told by the daemon since it was opened, and put together from before. */

import { signal } from "@preact/signals";
import { addMark } from "./history.ts";
import type { EventRow, ProcessJson } from "./types.ts";

/** News, the newest first. */
export const events = signal<readonly EventRow[]>([]);

/** When processes were restarted by themselves; of those before this page was opened only the last of each. */
export const restartTimes = signal<readonly number[]>([]);

const MAX_EVENTS = 500;
const HOUR_MS = 3_600_000;

/** Adds a piece of news. */
export function takeEvent(event: Omit<EventRow, "key">): void {
  const key = `${event.at} ${event.name} ${event.type} ${event.reason}`;
  if (events.value.some((one) => one.key === key)) return;
  events.value = [{ ...event, key }, ...events.value].slice(0, MAX_EVENTS);
}

/** The daemon tells only what happens from now on: what is known of before is put together. */
export function seedNews(list: readonly ProcessJson[]): void {
  const known: EventRow[] = [];
  const add = (event: Omit<EventRow, "key">) =>
    known.push({ ...event, key: `${event.at} ${event.name} ${event.type}` });
  for (const { name, state, started_at, last_exit, last_reason } of list) {
    const isUp = state === "running" || state === "starting";
    if (started_at !== null) {
      const reason = isUp ? last_reason : "";
      add({ type: isUp ? state : "starting", at: Date.parse(started_at), name, reason });
    }
    if (last_exit === null) continue;
    const type = isUp ? "exited" : state;
    const reason = isUp ? exitText(last_exit) : last_reason || exitText(last_exit);
    add({ type, at: Date.parse(last_exit.at), name, reason });
  }
  events.value = known.sort((a, b) => b.at - a.at).slice(0, MAX_EVENTS);
  restartTimes.value = list.filter(({ restarts, started_at }) =>
    restarts > 0 && started_at !== null
  )
    .map(({ started_at }) => Date.parse(started_at!));
}

/** Takes notice of automatic restarts, of which the count tells. */
export function noteRestarts(before: number, after: number, now = Date.now()): void {
  if (after <= before) return;
  const known = restartTimes.value.filter((at) => at > now - HOUR_MS);
  const more = Array<number>(Math.min(after - before, 1000)).fill(now);
  restartTimes.value = [...known, ...more];
}

/** Marks on the charts of a process where its last run began and ended. */

export function markRuns({ id, started_at, last_exit }: ProcessJson): void {
  if (started_at !== null) {
    addMark(id, { at: Date.parse(started_at), kind: "start", text: "started" });
  }
  if (last_exit === null) return;
  const kind = last_exit.code === 0 ? "end" : "failure";
  addMark(id, { at: Date.parse(last_exit.at), kind, text: exitText(last_exit) });
}

/** How a run ended, in words. */
export function exitText({ code, signal }: { code: number | null; signal: string | null }): string {
  if (signal !== null) return `ended by ${signal}`;
  return code === null ? "exit code not known" : `exit code ${code}`;
}
