/** Converts between the wire and programs, which have camelCase keys, and times as dates. */

import { inScriptFolder } from "../library/program_input.ts";
import { inCamelCase } from "../library/words.ts";
import { formatDuration, parseDuration } from "../model/duration.ts";
import { ProcsupError, quote } from "../model/errors.ts";
import { configOf, inputKeys } from "../model/key_spelling.ts";
import { camelCase, type KeyTable, rowOf, snakeCase } from "../model/key_table.ts";
import type { LineFilter } from "../model/log_line.ts";
import { isMap } from "../model/merge_patch.ts";
import { exitOf, type ProcessChange, type ProcessInfo } from "../model/process_info.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { PROCESS_KEYS } from "../model/process_keys.ts";
import type { ChangeJson } from "../protocol/process_json.ts";
import type { ProcessJson } from "../protocol/wire.ts";

/** A process; its `id` has 8 characters, and values of `env` are `***`. */
export function processInfo(json: ProcessJson): ProcessInfo {
  const { memory_bytes, uptime, created_at, last_exit, config, ...rest } = json;
  const { startedAt, finishedAt, nextRestartAt, ...same } = camelKeys<
    & Omit<ProcessInfo, "memBytes" | "uptimeMs" | "createdAt" | "lastExit" | "config" | Times>
    & {
      readonly [K in Times]: string | null;
    }
  >(rest);
  return {
    ...same,
    memBytes: memory_bytes,
    uptimeMs: uptime / 1e6,
    createdAt: new Date(created_at),
    startedAt: dateOf(startedAt),
    finishedAt: dateOf(finishedAt),
    nextRestartAt: dateOf(nextRestartAt),
    lastExit: exitOf(last_exit),
    config: configOf(config) as unknown as ProcessConfig,
  };
}

type Times = "startedAt" | "finishedAt" | "nextRestartAt";

/** An event. */
export function processChange({ at, exit, ...rest }: ChangeJson): ProcessChange {
  return { ...rest, at: new Date(at), exit: exitOf(exit) };
}

function dateOf(time: string | null): Date | null {
  return time === null ? null : new Date(time);
}

/** Converts keys to camelCase, except within the `from` and `to` values of changed keys. */
export function camelKeys<T>(value: unknown): T {
  if (Array.isArray(value)) return value.map((item) => camelKeys(item)) as T;
  if (typeof value !== "object" || value === null) return value as T;
  const entries = Object.entries(value).map(([key, inner]) => {
    if (key === "from" || key === "to") return [key, inner];
    return [camelCase(key), key === "field" ? inCamelCase(String(inner)) : camelKeys(inner)];
  });
  return Object.fromEntries(entries) as T;
}

/** The configuration of a new process, with its `cwd`. */
export function newConfig(config: object): Record<string, unknown> {
  return inScriptFolder(inputKeys(config));
}

/** Escapes `$` in a configuration to be applied: the daemon would substitute variables. */
export function literal(wire: object, table: KeyTable = PROCESS_KEYS): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(wire).map(([key, value]) => {
      const row = rowOf(table, key);
      if (row?.type === "object" && isMap(value)) return [key, literal(value, row.keys)];
      return [key, row?.variables ? escaped(value) : value];
    }),
  );
}

function escaped(value: unknown): unknown {
  if (typeof value === "string") return value.replaceAll("$", "$$$$");
  if (Array.isArray(value)) return value.map(escaped);
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, escaped(inner)]));
}

/** A filter in wire form. Throws `bad_request` for an invalid date. */
export function filterKeys(
  { since, until, ignoreCase, grep, invert, level }: LineFilter,
): Record<string, unknown> {
  return {
    ...{ grep, invert, level, ignore_case: ignoreCase },
    since: momentText("since", since),
    until: momentText("until", until),
  };
}

/** Options of a call in wire form. Throws `bad_request`. */
export function wireOptions(options: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(options).map(([key, value]) => [
      snakeCase(key),
      key === "timeout" && value !== undefined ? formatDuration(parseDuration(value)) : value,
    ]),
  );
}

/** The query of a request, without undefined values. A list is a parameter for each item. */
export function searchOf(values: Readonly<Record<string, unknown>>): URLSearchParams {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return new URLSearchParams(
    given.flatMap(([key, value]) => [value].flat().map((one) => [key, String(one)])),
  );
}

function momentText(field: string, moment: string | Date | undefined): string | undefined {
  if (!(moment instanceof Date)) return moment;
  if (Number.isFinite(moment.getTime())) return moment.toISOString();
  throw new ProcsupError("bad_request", `Invalid "${field}" ${quote(moment)}`);
}
