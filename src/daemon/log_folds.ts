/** Folds over lines of logs, the newest first: the lines found, their patterns, and their number. */

import type { LogSlice } from "../logs/read/merged_logs.ts";
import { hasCode } from "../model/errors.ts";
import { structuredLine } from "../model/log_level.ts";
import { LOG_LEVELS, type LogLevel } from "../model/log_line.ts";
import { plainText } from "../model/plain_text.ts";
import type { Output } from "../protocol/wire.ts";

type Found = Output<"search_logs">;
type FoundLine = NonNullable<Found["lines"]>[number];

/** A pattern while its lines are being counted. */
interface Pattern extends FoundLine {
  readonly level?: LogLevel;
  count: number;
  first_at: string;
  readonly apps: string[];
}

/** Maximum characters of a line in an answer, and of all of them. */
const MAX_LINE = 2000;
const MAX_ANSWER = 1024 * 1024;

/** Maximum number of distinct patterns; lines with further ones are left out. */
const MAX_PATTERNS = 5_000;

/** Calls `take` with each line, the newest first, until it returns false. */
async function eachLine(
  slices: AsyncIterable<LogSlice>,
  take: (of: LogSlice["of"], entry: LogSlice["entries"][number]) => boolean | void,
): Promise<void> {
  for await (const { of, entries } of slices) {
    for (const entry of entries) if (take(of, entry) === false) return;
  }
}

function shown(
  { name, stream }: LogSlice["of"],
  { line, at, start, end, partial }: LogSlice["entries"][number],
): FoundLine {
  return {
    ...{ name, stream, line: line.slice(0, MAX_LINE).toWellFormed() },
    ...{ at: new Date(at).toISOString(), ...(partial && { partial }), end },
    ...(line.length > MAX_LINE && { cut: end - start }),
  };
}

/** The newest lines that were found, in order of time. */
export async function foundLines(
  slices: AsyncIterable<LogSlice>,
  limit: number,
): Promise<Found> {
  const lines: FoundLine[] = [];
  let room = MAX_ANSWER;
  let truncated = false;
  await eachLine(slices, (of, entry) => {
    const found = shown(of, entry);
    truncated = lines.length === limit || (room -= found.line.length) < 0;
    if (truncated) return false;
    lines.push(found);
  });
  return { lines: lines.reverse(), truncated };
}

/** Lines that differ only in numbers, ids and hexadecimal words have the same pattern. */
export function patternOf(line: string): string {
  const plain = plainText(line);
  return (structuredLine(plain)?.message ?? plain)
    .replaceAll(/\b0x[0-9a-f]+|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, "#")
    .replaceAll(/\b(?=[a-z_]*\d)(?=\d*[a-z_])(?:[0-9a-f]{6,}|\w{10,})\b/gi, "#")
    .replaceAll(/\d+(?:[.,:]\d+)*/g, "#");
}

/** True for a line of a stack trace, except the line with the error. */
function isInsideTrace({ meaning, line }: LogSlice["entries"][number]): boolean {
  return meaning?.part === "more" || /^Traceback \(/.test(line);
}

/**
 * The patterns of all lines, the most frequent first. A stack trace is one line, its error, unless a
 * pattern was searched for that may be inside.
 */
export async function patternsOf(
  slices: AsyncIterable<LogSlice>,
  limit: number,
  hasGrep: boolean,
): Promise<Found> {
  const found = new Map<string, Pattern>();
  let isPart = false;
  let since = "";
  const ended = await untilTimeout(() =>
    eachLine(slices, (of, entry) => {
      since = new Date(entry.at).toISOString();
      if (isInsideTrace(entry) && !hasGrep) return;
      const level = entry.meaning?.level;
      const pattern = patternOf(entry.line);
      const known = found.get(pattern);
      if (known !== undefined) {
        known.count++;
        known.first_at = since;
        if (!known.apps.includes(of.name)) known.apps.push(of.name);
      } else if (found.size < MAX_PATTERNS) {
        const last = { ...shown(of, entry), ...(level && { level }) };
        found.set(pattern, { ...last, count: 1, first_at: last.at, apps: [of.name] });
      } else isPart = true;
    })
  );
  const all = [...found.values()].sort((one, other) => other.count - one.count);
  let length = 0;
  const patterns = all.slice(0, limit).filter(({ line }) => (length += line.length) <= MAX_ANSWER);
  return {
    ...{ patterns, truncated: isPart || !ended || patterns.length < all.length },
    ...(!ended && { searched_since: since }),
  };
}

type LevelNumbers = Record<LogLevel, number>;

/** Number of lines of each level in one step of time. */
type LevelCounts = { readonly at: number } & LevelNumbers;

interface NameCounts extends LevelNumbers {
  readonly name: string;
  last_error?: { readonly at: string; readonly line: string };
}

interface Counted {
  readonly counts: readonly LevelCounts[];
  /** The counts of each process, with its last error. A stack trace is one line. */
  readonly names: readonly NameCounts[];
  /** Lines before it were too many to be counted. */
  readonly since: number;
}

/** Counts lines by level: in each step of time, and of each process. */
export async function levelCounts(
  slices: AsyncIterable<LogSlice>,
  step: number,
  range: { readonly since: number; readonly until: number },
): Promise<Counted> {
  const counts = new Map<number, LevelCounts>();
  const names = new Map<string, NameCounts>();
  const none = () => Object.fromEntries(LOG_LEVELS.map((level) => [level, 0])) as LevelNumbers;
  let since = range.until;
  const ended = await untilTimeout(() =>
    eachLine(slices, ({ name }, entry) => {
      const { at, line, meaning } = entry;
      const level = meaning?.level ?? "info";
      since = Math.floor(at / step) * step;
      counts.getOrInsertComputed(since, () => ({ at: since, ...none() }))[level]++;
      if (isInsideTrace(entry)) return;
      const own = names.getOrInsertComputed(name, () => ({ name, ...none() }));
      if (level === "error" && own.error === 0) {
        const text = plainText(line).slice(0, MAX_LINE).toWellFormed();
        own.last_error = { at: new Date(at).toISOString(), line: text };
      }
      own[level]++;
    })
  );
  // The last step is not counted in full.
  if (!ended) counts.delete(since);
  return {
    counts: [...counts.values()].sort((one, other) => one.at - other.at),
    names: [...names.values()],
    since: ended ? range.since : Math.min(since + step, range.until),
  };
}

/** Runs a search until its limit. Returns false if that was reached. */
async function untilTimeout(search: () => Promise<void>): Promise<boolean> {
  try {
    await search();
    return true;
  } catch (error) {
    if (hasCode(error, "timeout")) return false;
    throw error;
  }
}
