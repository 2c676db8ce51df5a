/** What happened, as far as this page knows: told by the daemon since it was opened, and put together from before. */

import { signal } from "@preact/signals";
import { addMark } from "../process/history.ts";
import type { EventRow, ProcessJson } from "./types.ts";

/** News, the newest first. */
export const events = signal<readonly EventRow[]>([]);

const MAX_EVENTS = 500;

/** Adds a piece of news. */
export function takeEvent(event: Omit<EventRow, "key">): void {
  const key = `${event.at} ${event.name} ${event.type} ${event.reason}`;
  if (events.value.some((one) => one.key === key)) return;
  events.value = [{ ...event, key }, ...events.value].slice(0, MAX_EVENTS);
}

/** The daemon tells only what happens from now on: what is known of before is put together. */
export function seedNews(list: readonly ProcessJson[]): void {
  events.value = knownOf(list).slice(0, MAX_EVENTS);
}

/** The same for what happened while nobody told this page. */
export function addMissed(list: readonly ProcessJson[]): void {
  const since = events.value[0]?.at ?? 0;
  const missed = knownOf(list).filter(({ at }) => at > since);
  events.value = [...missed, ...events.value].slice(0, MAX_EVENTS);
}

/** The last start and end of each, the newest first. */
function knownOf(list: readonly ProcessJson[]): EventRow[] {
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
  return known.sort((a, b) => b.at - a.at);
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
