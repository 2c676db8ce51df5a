/** What a program gave, as it goes over the wire. */

import { inputKeys } from "../model/key_spelling.ts";
import { type DurationInput, formatDuration, parseDuration } from "../model/duration.ts";
import { ProcsupError } from "../model/errors.ts";
import { quote } from "../model/quote.ts";
import type { LineFilter, RollingOptions } from "./options.ts";

/** A configuration in wire form. Throws `invalid_config` for what JSON would drop or change. */
export function wireConfig(config: object): Record<string, unknown> {
  const wire = inputKeys(config);
  JSON.stringify(wire, refuseUnsendable);
  return wire;
}

/** Throws `bad_request` for a target that is empty, or cannot be written down. */
export function checkTarget(target: unknown): void {
  if (typeof target === "string" && target !== "" && target.isWellFormed()) return;
  throw new ProcsupError(
    "bad_request",
    `Invalid target ${quote(target)}: expected a name or an id`,
  );
}

/** A duration as text, which is the one form that every way takes. Throws `bad_request`. */
export function durationText(duration: DurationInput | undefined): string | undefined {
  return duration === undefined ? undefined : formatDuration(parseDuration(duration));
}

/** The keys of a filter that differ in wire form. Throws `bad_request` for a date that is none. */
export function filterKeys(
  { since, until, ignoreCase }: LineFilter,
): {
  since: string | undefined;
  until: string | undefined;
  ignore_case: boolean | undefined;
  ignoreCase: undefined;
} {
  return {
    since: momentText("since", since),
    until: momentText("until", until),
    ignore_case: ignoreCase,
    ignoreCase: undefined,
  };
}

/** How a rolling reload is meant, in wire form. */
export function rollingKeys(
  { batchSize, waitReady, rollbackOnFailure }: RollingOptions,
): Record<string, unknown> {
  return {
    batch_size: batchSize,
    wait_ready: waitReady,
    rollback_on_failure: rollbackOnFailure,
  };
}

/** The query of a stream: what is not undefined. */
export function searchOf(values: Readonly<Record<string, unknown>>): URLSearchParams {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return new URLSearchParams(given.map(([key, value]) => [key, String(value)]));
}

function momentText(field: string, moment: string | Date | undefined): string | undefined {
  if (!(moment instanceof Date)) return moment;
  if (Number.isFinite(moment.getTime())) return moment.toISOString();
  throw new ProcsupError("bad_request", `Invalid "${field}" ${quote(moment)}`);
}

function refuseUnsendable(this: Record<string, unknown>, key: string): unknown {
  // As it was before its `toJSON` was asked.
  const value = this[key];
  const isObject = typeof value === "object" && value !== null;
  const isPlain = !isObject || Array.isArray(value) ||
    Object.prototype.toString.call(value) === "[object Object]";
  const isText = !["bigint", "symbol", "function"].includes(typeof value);
  const isFinite = typeof value !== "number" || Number.isFinite(value);
  if (isPlain && isText && isFinite) return value;
  throw new ProcsupError("invalid_config", `Invalid "${key}" ${quote(value)}: JSON cannot hold it`);
}
