/** Events from the daemon's journal. */

import { signal } from "@preact/signals";
import { type Polled, usePolled } from "./polled.ts";
import { type Range, rangeQuery } from "./time_range.ts";
import type { EventsJson } from "./types.ts";

/** Increases with every event of a process. Earlier answers are then out of date. */
export const happened = signal(0);

interface EventQuery {
  /** Names; default: all processes. */
  readonly target?: string | undefined;
  /** Default: the latest events. */
  readonly range?: Range;
  readonly type?: string;
  readonly search?: string;
  readonly limit: number;
}

/** Interval of requests in case a push was missed. */
const EVERY_MS = 30_000;

/** The latest events that match a query, the newest last. */
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
  return code === null ? "unknown exit code" : `exit code ${code}`;
}
