/** Converts a program's input to wire form. */

import { inputKeys } from "../model/key_spelling.ts";
import { isMap } from "../model/merge_patch.ts";
import { formatDuration, parseDuration } from "../model/duration.ts";
import { ProcsupError } from "../model/errors.ts";
import { quote } from "../model/quote.ts";
import type { LineFilter } from "../model/log_line.ts";
import { inScriptFolder } from "../library/program_configs.ts";
import { type KeyTable, snakeCase } from "../model/key_table.ts";
import { PROCESS_KEYS } from "../model/process_keys.ts";

/** The configuration of a new process, with its `cwd`. */
export function newConfig(config: object): Record<string, unknown> {
  return inScriptFolder(inputKeys(config));
}

/** Escapes `$` in a configuration to be applied: the daemon would substitute variables. */
export function literal(wire: object, table: KeyTable = PROCESS_KEYS): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(wire).map(([key, value]) => {
      const row = table[key];
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

/**
 * Options of a call in wire form, with the timeout as text, which both transports accept. Throws
 * `bad_request`.
 */
export function wireOptions(options: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(options).map(([key, value]) => [
      snakeCase(key),
      key === "timeout" && value !== undefined ? formatDuration(parseDuration(value)) : value,
    ]),
  );
}

/** The query of a stream, without undefined values. */
export function searchOf(values: Readonly<Record<string, unknown>>): URLSearchParams {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return new URLSearchParams(given.map(([key, value]) => [key, String(value)]));
}

function momentText(field: string, moment: string | Date | undefined): string | undefined {
  if (!(moment instanceof Date)) return moment;
  if (Number.isFinite(moment.getTime())) return moment.toISOString();
  throw new ProcsupError("bad_request", `Invalid "${field}" ${quote(moment)}`);
}
