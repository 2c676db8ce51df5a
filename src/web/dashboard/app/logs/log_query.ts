/** What a log view shows, as the query of its address. Pure. */

import { LOG_LEVELS, type LogLevel, type LogStream } from "../../../../model/log_line.ts";

/** What is looked at, and how. */
export interface LogQuery {
  /** Names; none for all. */
  readonly targets: readonly string[];
  readonly stream: LogStream | "";
  readonly level: LogLevel | "";
  readonly search: string;
  readonly isRegex: boolean;
  readonly matchCase: boolean;
  /** Lines that do not match, instead. */
  readonly invert: boolean;
  /** Show only what matches. */
  readonly onlyMatches: boolean;
  /** Search all that the daemon has, not only what this page has loaded. */
  readonly deep: boolean;
  /** Each app in a column of its own. */
  readonly columns: boolean;
  /** Fingerprint of the line that a permalink points at; empty for none. */
  readonly mark: string;
}

/** Nothing asked for. */
export const NO_QUERY: LogQuery = {
  targets: [],
  stream: "",
  level: "",
  search: "",
  isRegex: false,
  matchCase: false,
  invert: false,
  onlyMatches: false,
  deep: false,
  columns: false,
  mark: "",
};

const FLAGS = {
  re: "isRegex",
  case: "matchCase",
  not: "invert",
  only: "onlyMatches",
  deep: "deep",
  cols: "columns",
} as const;

/** Reads a query from an address. What makes no sense is left out. */
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

/** The address's query. */
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

/** The pattern that is searched for; undefined for none, null when it is no regular expression. */
export function patternOf(
  { search, isRegex, matchCase }: Pick<LogQuery, "search" | "isRegex" | "matchCase">,
): RegExp | undefined | null {
  if (search === "") return undefined;
  try {
    return new RegExp(isRegex ? search : literally(search), matchCase ? "g" : "gi");
  } catch {
    return null;
  }
}

/** The expression that the daemon looks for; undefined when it is to give every line. */
export function grepOf(query: LogQuery): string | undefined {
  if (!query.deep || !patternOf(query)) return undefined;
  const source = query.isRegex ? query.search : literally(query.search);
  return query.matchCase ? source : `(?i:${source})`;
}

/** The daemon's query for the lines of a level; with a deep search, for those that match. */
export function filterOf(query: LogQuery): Readonly<Record<string, string>> {
  const grep = grepOf(query);
  return {
    ...(query.level !== "" && { level: query.level }),
    ...(grep !== undefined && { grep, ...(query.invert && { invert: "true" }) }),
  };
}

/** An expression that matches a text and nothing else. */
export function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** A short fingerprint of a line (FNV-1a). */
export function fingerprint(name: string, stream: LogStream, text: string): string {
  let hash = 0x811c9dc5;
  for (const char of `${name}\n${stream}\n${text}`) {
    hash = Math.imul(hash ^ char.codePointAt(0)!, 0x01000193);
  }
  return (hash >>> 0).toString(36);
}
