/** Durations as people write them (`1m30s`, `200ms`) and as Go puts them into JSON (nanoseconds). */

import { ProcsupError, quote } from "./errors.ts";

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  "µs": 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

const NS_PER_MS = 1e6;

/** The longest duration of Go, in whole hours: 292 years. */
const MAX_MS = 2_562_047 * UNIT_MS.h!;

const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)/gy;

/** How a duration may be given: a Go duration string, or an integer of nanoseconds. */
export type DurationInput = string | number;

/**
 * Converts a Go duration string (`"1h2m3.5s"`, `"0"`) or an integer of nanoseconds to milliseconds.
 * Throws `bad_request` for anything else, for negative values, and for a number below a
 * millisecond: `5000` was most likely meant as milliseconds.
 */
export function parseDuration(value: DurationInput): number {
  const problem = durationProblem(value);
  if (problem === undefined) return msOf(value)!;
  throw new ProcsupError("bad_request", `Invalid duration ${quote(value)}: ${problem}`);
}

/** Describes why a duration is invalid and what is expected; undefined if it is valid. */
export function durationProblem(value: DurationInput): string | undefined {
  if (typeof value === "number" && Number.isInteger(value) && value > 0 && value < NS_PER_MS) {
    return "as a number it is nanoseconds, less than a millisecond; " +
      `expected one with a unit, such as "${value}ms" or "5s"`;
  }
  const ms = msOf(value);
  if (ms === undefined) return 'expected a number with a unit, such as "5s", "1m30s" or "200ms"';
  return ms > MAX_MS ? `expected at most ${formatDuration(MAX_MS)}` : undefined;
}

function msOf(value: DurationInput): number | undefined {
  if (typeof value !== "number") return fromText(String(value));
  return Number.isInteger(value) && value >= 0 ? value / NS_PER_MS : undefined;
}

function fromText(text: string): number | undefined {
  if (text === "0") return 0;
  let total = 0;
  PART.lastIndex = 0;
  do {
    const part = PART.exec(text);
    if (part === null) return undefined;
    total += round(Number(part[1]) * UNIT_MS[part[2]!]!);
  } while (PART.lastIndex < text.length);
  return round(total);
}

/** A Go duration string for a number of milliseconds: `90000` → `"1m30s"`. */
export function formatDuration(ms: number): string {
  if (ms === 0) return "0s";
  if (ms < 1) return `${round(ms * 1e6)}ns`;
  if (ms < 1000) return `${round(ms)}ms`;
  const hours = Math.floor(ms / UNIT_MS.h!);
  const minutes = Math.floor((ms % UNIT_MS.h!) / UNIT_MS.m!);
  const seconds = round((ms % UNIT_MS.m!) / 1000);
  return `${hours ? `${hours}h` : ""}${minutes ? `${minutes}m` : ""}${
    seconds ? `${seconds}s` : ""
  }`;
}

function round(value: number): number {
  return Number.isInteger(value) ? value : Math.round(value * 1e6) / 1e6;
}
