/** Counts lines by level and time, for a histogram. */

import { LogEntries, type LogEntry } from "../logs/log_entries.ts";
import type { LogFilter } from "../logs/log_filter.ts";
import { Search } from "../logs/search.ts";
import { hasCode } from "../model/errors.ts";
import { LevelReader } from "../model/log_level.ts";
import type { LogLevel } from "../model/log_line.ts";
import { plainText } from "../model/plain_text.ts";

/** Limit for one answer, because a histogram is requested repeatedly. */
const LIMITS = { ms: 1000, bytes: 256 * 1024 ** 2 };

/** Parts of the range, counted from the newest, so that the limit leaves out the oldest. */
const PARTS = 4;
const LINES_A_TURN = 50;

/** Number of lines of each level in one step of time. */
type LevelCounts = { readonly at: number } & Record<LogLevel, number>;

interface CountOptions {
  readonly paths: readonly string[];
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly until: number;
  /** Milliseconds. */
  readonly step: number;
  /** Selects the lines to count; undefined for all. */
  readonly filter: LogFilter | undefined;
}

/** Counts lines. Lines before the returned `since` are not counted, because there were too many. */
export async function countLines(
  { paths, since, until, step, filter }: CountOptions,
): Promise<{ readonly counts: readonly LevelCounts[]; readonly since: number }> {
  const search = new Search(LIMITS);
  const counts = new Map<number, LevelCounts>();
  const stepsAPart = Math.ceil((until - since) / step / PARTS);
  let [from, to] = [Infinity, until];
  for (let part = PARTS - 1; part >= 0 && from > since; part--) {
    from = since + part * stepsAPart * step;
    const { matcher, byEntry = false } = filter ?? {};
    const range = { matcher, byEntry, since: from, until: to - 1 };
    const inPart = { ...range, ready: () => filter?.ready() ?? Promise.resolve() };
    const partly = new Map<number, LevelCounts>();
    try {
      for (const path of paths) await countIn(path, inPart, { search, step, into: partly });
    } catch (error) {
      if (!hasCode(error, "timeout")) throw error;
      return { counts: sorted(counts), since: to };
    }
    for (const [at, one] of partly) counts.set(at, one);
    to = from;
  }
  return { counts: sorted(counts), since };
}

interface Counting {
  readonly search: Search;
  readonly step: number;
  readonly into: Map<number, LevelCounts>;
}

async function countIn(
  path: string,
  filter: LogFilter & { readonly since: number },
  { search, step, into }: Counting,
): Promise<void> {
  const info = await Deno.stat(path).catch(() => undefined);
  // Skip a file without writes in the range.
  if (info === undefined || (info.mtime?.getTime() ?? Infinity) < filter.since) return;
  const entries = new LogEntries(path, { filter, search });
  const levels = new LevelReader();
  function* count(some: readonly LogEntry[]): Generator<void, void> {
    for (const [index, { line, at }] of some.entries()) {
      const start = Math.floor(at / step) * step;
      const counts = into.get(start) ?? { at: start, debug: 0, info: 0, warn: 0, error: 0 };
      into.set(start, counts);
      counts[levels.of(plainText(line)) ?? "info"]++;
      if (index % LINES_A_TURN === 0) yield;
    }
  }
  try {
    for await (const some of entries.stored(true)) await search.run(count(some));
  } finally {
    entries.close();
  }
}

function sorted(counts: ReadonlyMap<number, LevelCounts>): LevelCounts[] {
  return [...counts.values()].sort((one, other) => one.at - other.at);
}
