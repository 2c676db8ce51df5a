/** Reads level, message and fields from log lines. Pure. Takes linear time. */

import { ifPossible } from "./errors.ts";
import { LOG_LEVELS, type LogLevel, type LogStream } from "./log_line.ts";
import { plainText } from "./plain_text.ts";

/** Whether a level is at least as severe as `least`. A line without a level counts as `info`. */
export function reaches(level: LogLevel | undefined, least: LogLevel): boolean {
  return LOG_LEVELS.indexOf(level ?? "info") >= LOG_LEVELS.indexOf(least);
}

/** A line of a structured logger. */
interface StructuredLine {
  readonly level: LogLevel | undefined;
  readonly message: string;
  /** All other fields. */
  readonly fields: readonly (readonly [key: string, value: string])[];
  readonly stack: string | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** The words that loggers use for each level. */
const WORDS: readonly (readonly [LogLevel, string])[] = [
  ["debug", "trace|trce|debug|dbug|dbg|verbose|silly|fine|finer|finest"],
  ["info", "info|information|notice|log|http|success"],
  ["warn", "warn|warning|wrn"],
  ["error", "error|err|fail|severe|fatal|crit|critical|alert|emerg|emergency|panic|dpanic"],
];
const LEVEL_OF = new Map(
  WORDS.flatMap(([level, words]) => words.split("|").map((word) => [word, level] as const)),
);

const LEVEL_KEYS = ["level", "lvl", "severity", "log.level", "levelname", "loglevel", "@l"];
const MESSAGE_KEYS = ["msg", "message", "@m", "@mt", "event"];
const STACK_KEYS = ["stack", "stacktrace", "stack_trace", "exc_info", "exception"];
const TIME_KEYS = ["time", "timestamp", "ts", "@timestamp", "@t", "datetime", "asctime"];

/** How much of a line is searched for a level: later words belong to the message. */
const HEAD = 160;

/** `0 ERROR` and `ERROR: 0` are counts, unless the 0 ends a time. */
const LOUD =
  /(?<![\w/.=-]|(?:^|[^\d:.,])0 )(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|SEVERE|FATAL|CRIT|CRITICAL|ALERT|EMERG|PANIC)(?![\w/=-]|: 0\s*(?:[,;)|]|$))/;
const BRACKETED =
  /[[(<](trace|debug|info|notice|warn|warning|error|err|fatal|crit|critical|alert|emerg) *[\])>]/i;
const COLON =
  /(?:^|[\s:])(debug|info|notice|warn|warning|error|fatal)(?:\[\w+\])?:(?! 0\s*(?:[,;)|]|$))(?:\s|$)/i;
const SYSLOG = /^<(\d{1,3})>/;
/** glog, klog: `E0102 15:04:05.678901`. */
const GLOG = /^([DIWEF])\d{4} \d\d:\d\d:\d\d/;
const GLOG_LEVELS: Readonly<Record<string, LogLevel>> = {
  D: "debug",
  I: "info",
  W: "warn",
  E: "error",
  F: "error",
};

/** How PostgreSQL begins a line by default: `2026-01-02 15:04:05.123 UTC [42] `. */
const POSTGRES = "\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)? \\S+ \\[\\d+\\] (?:\\S+ )?";

/**
 * Monolog: `[2026-01-02 15:04:05] app.ERROR: `; the console logger of .NET: `fail: My.Server[13]`;
 * Celery: `[2026-01-02 15:04:05,678: WARNING/ForkPoolWorker-2] `; PostgreSQL: `… [42] FATAL:  `.
 */
const NAMED = new RegExp(
  "^\\[[^\\]]+\\] [\\w-]+\\.([A-Z]+): |^(trce|dbug|fail|crit): \\S+\\[\\d+\\]$|" +
    `^\\[[^\\]]+: ([A-Z]+)/[\\w-]+\\] |^${POSTGRES}(LOG|WARNING|ERROR|FATAL|PANIC):  `,
);

/** How runtimes start, or end, the report of an exception. */
const EXCEPTIONS: readonly RegExp[] = [
  /^(?:Caused by: |Uncaught (?:\(in promise\) )?)?(?:[\w$]+(?:\.|::?))*(?:[A-Z]\w*)?(?:Error|Exception)(?: \[\w+\])?(?::|$)/,
  /^Traceback \(most recent call last\)/,
  /^(?:panic|fatal error|PHP Fatal error|Fatal error): /,
  /^terminate called (?:after|without) /,
  /^thread '.*' (?:\(\d+\) )?panicked at /,
  /^(?:Exception in thread |Unhandled exception|Uncaught exception|\*\* \()/i,
  /\bSegmentation fault\b/,
  // Sinatra: `2026-01-02 15:04:05 - RuntimeError - text:`.
  /^[\d :-]+ - [A-Z][\w:]*(?:Error|Exception) - /,
  /\((?:(?:\w+::)*\w*(?:Error|Exception)|Errno::\w+)\)$/,
];

/** Lines that belong to the line before them. */
const CONTINUED = new RegExp(
  "^(?:\\s|$|Caused by:|During handling of the above|The above exception was|goroutine \\d+ \\[|" +
    `${POSTGRES}(?:DETAIL|HINT|QUERY|CONTEXT|LOCATION|STATEMENT):  )`,
);

/** The lines of a goroutine that are not indented. */
const GO_CALL = /^(?:created by )?[\w./*()%-]+\(.*\)$|^created by /;

/** Whether a line continues the one before it, as lines of a stack trace do. */
export function continuesEntry(line: string): boolean {
  return CONTINUED.test(line);
}

/** The level of a line; undefined if it states none. Remove control sequences from `line` first. */
export function levelOf(line: string): LogLevel | undefined {
  const fields = jsonFields(line);
  if (fields !== undefined) return levelIn(fields);
  const head = line.slice(0, HEAD);
  const pairs = /(?:^|\s)(?:level|lvl|severity)=/.test(head) ? logfmtFields(line) : undefined;
  return (pairs && levelIn(pairs)) ?? prefixLevel(head) ?? textLevel(line, head);
}

function prefixLevel(head: string): LogLevel | undefined {
  const priority = SYSLOG.exec(head)?.[1];
  if (priority !== undefined) return syslogLevel(Number(priority) % 8);
  const letter = GLOG.exec(head)?.[1];
  if (letter !== undefined) return GLOG_LEVELS[letter];
  const named = NAMED.exec(head)?.slice(1).find((word) => word !== undefined) ?? "";
  return LEVEL_OF.get(named.toLowerCase());
}

function textLevel(line: string, head: string): LogLevel | undefined {
  const words = [LOUD, BRACKETED, COLON].map((pattern) => pattern.exec(head))
    .filter((match) => match !== null);
  const isException = EXCEPTIONS.some((pattern) => pattern.test(head)) ||
    EXCEPTIONS.at(-1)!.test(line.slice(-HEAD));
  // The first level word counts: later ones belong to the message.
  const first = words.toSorted((one, other) => one.index - other.index)[0];
  if (isException && first?.index !== 0) return "error";
  return first === undefined ? undefined : LEVEL_OF.get(first[1]!.toLowerCase());
}

function levelIn(fields: Fields): LogLevel | undefined {
  const value = LEVEL_KEYS.map((key) => fields[key]).find((value) => value !== undefined);
  if (typeof value === "number") return numberedLevel(value);
  if (typeof value !== "string") return undefined;
  return /^\d+$/.test(value) ? numberedLevel(Number(value)) : LEVEL_OF.get(value.toLowerCase());
}

/** pino and bunyan number levels from 10; smaller numbers are those of syslog. */
function numberedLevel(level: number): LogLevel | undefined {
  if (!Number.isFinite(level)) return undefined;
  if (level < 10) return syslogLevel(level);
  return level >= 50 ? "error" : level >= 40 ? "warn" : level >= 30 ? "info" : "debug";
}

function syslogLevel(severity: number): LogLevel {
  return severity <= 3 ? "error" : severity === 4 ? "warn" : severity <= 6 ? "info" : "debug";
}

/** Reads the levels of consecutive lines: a stack trace has the level of its first line. */
export class LevelReader {
  #level: LogLevel | undefined;
  readonly #entries = new EntryReader();
  /** What the last line was, see `EntryReader`. */
  part: EntryPart = "first";

  of(line: string): LogLevel | undefined {
    this.part = this.#entries.partOf(line);
    this.#level = levelOf(line) ??
      (this.part === "last" ? "error" : this.part === "more" ? this.#level : undefined);
    return this.#level;
  }
}

/** A line begins a message, continues it, or ends a traceback, in which it is the headline. */
export type EntryPart = "first" | "more" | "last";

/** Finds out which of consecutive lines belong together. */
export class EntryReader {
  #inTraceback = false;
  #inGoroutine = false;

  /** Classifies the next line. `last` ends a Python traceback and names the exception. */
  partOf(line: string): EntryPart {
    const isMore = continuesEntry(line) || (this.#inGoroutine && GO_CALL.test(line));
    this.#inGoroutine = isMore && (this.#inGoroutine || line.startsWith("goroutine "));
    const isLast = this.#inTraceback && !isMore;
    this.#inTraceback = !isLast && (this.#inTraceback || line.startsWith("Traceback ("));
    return isMore ? "more" : isLast ? "last" : "first";
  }
}

/** A line as people read it. */
interface ReadableText {
  readonly level: LogLevel | undefined;
  /** The level to show before the message, which does not name it itself. */
  readonly word?: LogLevel | undefined;
  /** May contain control sequences. */
  readonly message: string;
  /** All other fields, as `key=value`. */
  readonly fields: string;
  /** The stack trace inside it. */
  readonly stack: readonly string[];
}

/** Objects and lists are JSON already and need no quotes. */
const NEEDS_QUOTES = /^(?![{[]).*[\s"=]/s;

/**
 * A line of JSON or logfmt by its message and fields; any other line as a terminal would finally show
 * it. `shownAt`: the time of writing, if that is shown beside the line, which then omits it.
 */
export function readableText(line: string, shownAt: number | undefined): ReadableText {
  const last = lastState(line);
  const plain = plainText(last);
  const structured = structuredLine(plain);
  if (structured === undefined) {
    const message = shownAt === undefined ? last : withoutTime(last, shownAt);
    return { level: levelOf(plain), message, fields: "", stack: [] };
  }
  const { level, message, fields, stack } = structured;
  const shown = fields.filter(([key]) => shownAt === undefined || !TIME_KEYS.includes(key))
    .map(([key, value]) => `${key}=${NEEDS_QUOTES.test(value) ? JSON.stringify(value) : value}`);
  return { level, word: level, message, fields: shown.join(" "), stack: stack?.split("\n") ?? [] };
}

/** The character before a line: a warning or an error, or a line of stderr, which alone is no alarm. */
export function markOf(level: LogLevel | undefined, stream: LogStream): "!" | "·" | " " {
  return level === "error" || level === "warn" ? "!" : stream === "stderr" ? "·" : " ";
}

/** Level, message and fields of a line of JSON or logfmt; undefined for any other line. */
export function structuredLine(line: string): StructuredLine | undefined {
  const fields = jsonFields(line) ?? (/(?:^|\s)msg=/.test(line) ? logfmtFields(line) : undefined);
  const messageKey = MESSAGE_KEYS.find((key) => typeof fields?.[key] === "string");
  if (fields === undefined || messageKey === undefined) return undefined;
  const stack = stackIn(fields) ?? stackIn(fields.err) ?? stackIn(fields.error);
  const shown = Object.entries(fields)
    .filter(([key, value]) => key !== messageKey && !LEVEL_KEYS.includes(key) && value !== stack);
  return {
    level: levelIn(fields),
    message: fields[messageKey] as string,
    stack,
    fields: shown.map(([key, value]) => [
      key,
      typeof value === "string"
        ? value
        : JSON.stringify(value, (_, part) => part === stack ? undefined : part),
    ]),
  };
}

function stackIn(fields: unknown): string | undefined {
  const given = STACK_KEYS.map((key) => (fields as Fields | undefined | null)?.[key]);
  return given.find((value) => typeof value === "string" && value.includes("\n")) as string;
}

/** The final text of a line on a terminal: a progress bar overwrites itself. */
export function lastState(line: string): string {
  return line.includes("\r") ? line.split("\r").findLast((state) => state !== "") ?? "" : line;
}

/** A date and time, or a time with a fraction, at the start of a line, perhaps coloured or in brackets. */
const WRITTEN_TIME =
  // deno-lint-ignore no-control-regex
  /^((?:\x1b\[[\d;]*m)*)(\[)?(?:(\d{4}[-/]\d\d[-/]\d\d)[T ])?(\d\d:\d\d:\d\d)([.,]\d{1,9})?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?(\])?((?:\x1b\[[\d;]*m)*)(?:\s+[|-])?\s+/;
/** Time zones differ by multiples of this. */
const ZONE_MS = 15 * 60_000;
/** Longest time between the time in a line and its writing. */
const WRITTEN_WITHIN_MS = 2000;

/** A line without the time that it begins with, in any zone, if it was written at that time. */
export function withoutTime(line: string, at: number): string {
  const found = WRITTEN_TIME.exec(line);
  if (found === null) return line;
  const [all, color, open, date, time, fraction, close, reset] = found;
  if (Boolean(open) !== Boolean(close) || (date === undefined && fraction === undefined)) {
    return line;
  }
  const day = date?.replaceAll("/", "-") ?? "1970-01-01";
  const later = (at - Date.parse(`${day}T${time}Z`)) % ZONE_MS;
  const apart = Math.min(Math.abs(later), ZONE_MS - Math.abs(later));
  return apart <= WRITTEN_WITHIN_MS ? `${color}${reset}${line.slice(all.length)}` : line;
}

/** The fields of an object in JSON; undefined for any other text. */
export function jsonFields(line: string): Fields | undefined {
  if (!/^\s*\{/.test(line)) return undefined;
  const value: unknown = ifPossible(() => JSON.parse(line));
  return typeof value === "object" && value !== null ? value as Fields : undefined;
}

function logfmtFields(line: string): Fields {
  const pairs = line.matchAll(/(?:^|\s)([\w.@/-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s"]*))/g);
  return Object.fromEntries(
    Array.from(pairs, ([, key, quoted, bare]) => [key!, quoted?.replace(/\\(.)/g, "$1") ?? bare!]),
  );
}
