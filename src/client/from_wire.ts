/** Converts answers of the daemon for programs: camelCase keys, times as dates. */

import { configOf } from "../model/key_spelling.ts";
import { camelCase } from "../model/key_table.ts";
import type { ProcessChange } from "../model/process_change.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { exitOf, type ProcessInfo } from "../model/process_info.ts";
import type { ChangeJson } from "../protocol/change_json.ts";
import type { ProcessJson } from "../protocol/wire.ts";
import { inCamelCase } from "../library/words.ts";

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
