/** The settings of a log view, as the query of its address. Pure. */

import {
  LOG_LEVELS,
  type LogLevel,
  type LogName,
  type LogStream,
} from "../../../../model/log_line.ts";
import type { LogRequest, Payload } from "../../../../protocol/wire.ts";
import { type Range, sinceUntil } from "../data/time_range.ts";
import { structuredLine } from "../../../../model/log_level.ts";
import { literally } from "../../../../model/plain_text.ts";
import { plainLine } from "./ansi.ts";

export interface LogQuery {
  /** Names; empty for all. */
  readonly targets: readonly string[];
  readonly stream: LogStream | "";
  readonly level: LogLevel | "";
  readonly search: string;
  readonly isRegex: boolean;
  readonly matchCase: boolean;
  /** Match lines that do not contain the pattern. */
  readonly invert: boolean;
  /** Mark matches among the loaded lines, instead of a search of the range by the daemon. */
  readonly inContext: boolean;
  readonly columns: boolean;
  /** Group lines that differ only in numbers. */
  readonly isGrouped: boolean;
  /** The line of a permalink, see `markOf()`; empty for none. */
  readonly mark: string;
}

/** The default settings. */
export const NO_QUERY: LogQuery = {
  targets: [],
  stream: "",
  level: "",
  search: "",
  isRegex: false,
  matchCase: false,
  invert: false,
  inContext: false,
  columns: false,
  isGrouped: false,
  mark: "",
};

const FLAGS = {
  re: "isRegex",
  case: "matchCase",
  not: "invert",
  ctx: "inContext",
  cols: "columns",
  group: "isGrouped",
} as const;

/** Reads settings from the query of an address. Ignores invalid values. */
export function readLogQuery(params: URLSearchParams): LogQuery {
  const stream = params.get("stream");
  const level = params.get("level");
  return {
    ...NO_QUERY,
    targets: params.getAll("t"),
    stream: stream === "stdout" || stream === "stderr" ? stream : "",
    level: LOG_LEVELS.find((one) => one === level) ?? "",
    search: params.get("s") ?? "",
    mark: params.get("mark") ?? "",
    ...Object.fromEntries(
      Object.entries(FLAGS).map(([word, key]) => [key, params.get(word) === "1"]),
    ),
  };
}

/** The settings as query of an address. */
export function writeLogQuery(query: LogQuery): URLSearchParams {
  const params = new URLSearchParams();
  for (const target of query.targets) params.append("t", target);
  if (query.stream) params.set("stream", query.stream);
  if (query.level) params.set("level", query.level);
  if (query.search) params.set("s", query.search);
  for (const [word, key] of Object.entries(FLAGS)) if (query[key]) params.set(word, "1");
  if (query.mark) params.set("mark", query.mark);
  return params;
}

/** The search pattern; undefined for none, a reason for an invalid regular expression. */
export function patternOf(
  { search, isRegex, matchCase }: Pick<LogQuery, "search" | "isRegex" | "matchCase">,
): RegExp | string | undefined {
  if (search === "") return undefined;
  try {
    return new RegExp(isRegex ? search : literally(search), matchCase ? "g" : "gi");
  } catch (error) {
    // `Invalid regular expression: /(/gi: Unterminated group`
    return String(error).split(": ").at(-1)!;
  }
}

/** The daemon's search expression; undefined if it reads all lines. */
export function grepOf(query: LogQuery): string | undefined {
  if (query.inContext || !(patternOf(query) instanceof RegExp)) return undefined;
  const source = query.isRegex ? query.search : literally(query.search);
  return query.matchCase ? source : `(?i:${source})`;
}

/** The part of the query that chooses lines, which the daemon applies to the range shown. */
export function filterOf(
  query: LogQuery,
): Pick<LogRequest, "level" | "grep" | "invert"> {
  const grep = grepOf(query);
  return {
    ...(query.level !== "" && { level: query.level }),
    ...(grep !== undefined && { grep, ...(query.invert && { invert: true }) }),
  };
}

/** True if the daemon sends only some lines of the range. */
export function isFiltered(query: LogQuery): boolean {
  return Object.keys(filterOf(query)).length > 0;
}

/** The fields of the verbs that read the lines of a range. */
export function linesIn(query: LogQuery, range: Range): Payload<"log_counts"> & object {
  const { targets } = query;
  return { ...targets.length > 0 && { targets }, ...sinceUntil(range), ...filterOf(query) };
}

/** The mark of a line in a link: its log and its position there. */
export function markOf({ name, stream, end }: LogName & { readonly end: number }): string {
  return `${name}/${stream}/${end}`;
}

/** Maximum characters of a line in a search for similar ones. */
const MAX_SEARCHED = 300;

/** A search of the range for lines that match. */
export const SEARCH = { inContext: false, invert: false, isGrouped: false };

/** A search for similar lines: words with a digit may differ. */
export function similarTo(line: string): Partial<LogQuery> {
  const plain = plainLine(line);
  const message = structuredLine(plain)?.message;
  const text = message === undefined ? plain : JSON.stringify(message).slice(1, -1);
  const search = text.slice(0, MAX_SEARCHED).split(/\S*\d\S*/).map(literally).join("\\S+");
  return { search, isRegex: true, matchCase: true, ...SEARCH };
}
