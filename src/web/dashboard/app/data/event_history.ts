/** What happened, as the daemon has it on record. */

import { signal } from "@preact/signals";
import { type Polled, usePolled } from "./polled.ts";
import { type Range, rangeQuery } from "./time_range.ts";
import type { EventsJson } from "./types.ts";

/** Grows with every event of a process: what was asked for before is old. */
export const happened = signal(0);

interface EventQuery {
  /** Names; without it those of all. */
  readonly target?: string | undefined;
  /** Without it the last ones. */
  readonly range?: Range;
  readonly type?: string;
  readonly search?: string;
  readonly limit: number;
}

/** Events of a process without events yet are asked for again at times: a push may have been missed. */
const EVERY_MS = 30_000;

/** The last events that a query is about, the newest last. */
export function useEvents(query: EventQuery): Polled<EventsJson> {
  const isFixed = query.range?.span === undefined && query.range !== undefined;
  return usePolled<EventsJson>(
    eventsPath(query),
    isFixed ? Infinity : EVERY_MS,
    isFixed ? 0 : happened.value,
  );
}

function eventsPath({ target, range, type, search, limit }: EventQuery): string {
  const given = { target, type, search, limit: String(limit) };
  const query = { ...range && rangeQuery(range), ...given };
  const some = Object.entries(query).flatMap(([key, value]) => value ? [[key, value]] : []);
  return `/events/history?${new URLSearchParams(some)}`;
}

/** How a run ended, in words. */
export function exitText({ code, signal }: { code: number | null; signal: string | null }): string {
  if (signal !== null) return `ended by ${signal}`;
  return code === null ? "exit code not known" : `exit code ${code}`;
}
