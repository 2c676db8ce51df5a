/**
 * `logs`, `search_logs` and `log_counts`: the text of one log, lines of several, and their number; and
 * the streams of logs and of terminals.
 */

import { Batches, type LogBatch } from "../../daemon/log_batch.ts";
import { lastEntries, lastLines } from "../../logs/read/last_lines.ts";
import { LogEntries, type LogEntry } from "../../logs/read/log_entries.ts";
import { type FeedOptions, logFeed } from "../../logs/read/log_feed.ts";
import { type LogFilter, parseLogFilter } from "../../logs/read/log_filter.ts";
import { LogFollower } from "../../logs/read/log_follower.ts";
import { startOfTail } from "../../logs/read/log_tail.ts";
import { Search, SEARCH_LIMITS } from "../../logs/read/search.ts";
import { type LogSources, logSources } from "../../manager/log_sources.ts";
import type { Supervisor } from "../../manager/supervisor.ts";
import { hasCode, ProcsupError } from "../../model/errors.ts";
import {
  type LogLevel,
  type LogLine,
  type LogPositions,
  type LogStart,
  MAX_LINES,
} from "../../model/log_line.ts";
import { plainText } from "../../model/plain_text.ts";
import { parseRange } from "../../model/time_spec.ts";
import type * as z from "zod/mini";
import type { TerminalPiece } from "../../protocol/process_json.ts";
import { errorOf } from "../../protocol/envelope.ts";
import { logStream } from "./rows.ts";
import { readPayload, readQuery } from "../read_input.ts";
import type { Output } from "../../protocol/wire.ts";
import type { Handlers, VerbContext } from "../../daemon/verb_context.ts";
import { LevelReader } from "../../model/log_level.ts";

/** Maximum characters of an answer. */
const MAX_ANSWER = 1024 * 1024;

const BOTH = ["stdout", "stderr"] as const;

const STREAM_FIELDS = Object.keys(logStream.shape);

type StreamFields = Omit<z.output<typeof logStream>, "target" | "positions">;

/** `logs` answers with the last lines, up to 1 MiB; with a filter, the last lines that pass it. */
export const LOGS_HANDLERS: Handlers<"logs" | "search_logs" | "log_counts"> = {
  async logs(
    { supervisor },
    { target, lines, stderr, timestamps, ignore_case: ignoreCase, ...rest },
  ) {
    const path = supervisor.process(target).logs[stderr ? "stderr" : "stdout"];
    const filter = parseLogFilter({ ...rest, ignoreCase }, Date.now());
    const text = filter === undefined && !timestamps
      ? new TextDecoder().decode(await lastLines(path, lines))
      : await entriesText(path, { lines: lines || MAX_LINES, filter, timestamps });
    return { logs: text, path, lines: String(lines) };
  },
  async search_logs(context, { targets = "all", limit, group_similar, ignore_case, ...rest }) {
    const filter = parseLogFilter({ ...rest, ignoreCase: ignore_case }, Date.now());
    await filter?.ready();
    // Ask for one more than wanted, to find out whether there are more.
    const lines = group_similar ? MAX_LINES : limit + 1;
    const found = new FoundLines(group_similar ? "patterns" : "lines", limit);
    const options = { lines, filter, follow: false, streams: BOTH };
    const { now } = sourcesOf(context, [targets].flat());
    for await (const batch of logFeed(now, options, new Batches(false))) {
      found.add(batch as LogBatch);
    }
    return found.answer(MAX_LINES);
  },
  async log_counts(context, { targets, since, until, steps, ignore_case, ...rest }) {
    const now = Date.now();
    const { since: from = now, until: to = now } = parseRange({ since, until }, now);
    const step = Math.max(1, Math.ceil((to - from) / steps));
    const range = { since: Math.floor(from / step) * step, until: Math.ceil(to / step) * step };
    const filter = parseLogFilter({ ...rest, ignoreCase: ignore_case }, now);
    await filter?.ready();
    const { now: sources } = sourcesOf(context, targets);
    const paths = sources.flatMap(({ files }) => [files.stdout, files.stderr]);
    const counted = await countLines({ paths, ...range, step, filter });
    const iso = (at: number) => new Date(at).toISOString();
    return {
      ...{ since: iso(range.since), until: iso(range.until), step: step * 1e6 },
      counted_since: iso(counted.since),
      counts: counted.counts.map(({ at, ...counts }) => ({ at: iso(at), ...counts })),
    };
  },
};

async function entriesText(
  path: string,
  { lines, filter, timestamps }: {
    readonly lines: number;
    readonly filter: LogFilter | undefined;
    readonly timestamps: boolean;
  },
): Promise<string> {
  const search = new Search(SEARCH_LIMITS);
  const entries = new LogEntries(path, { tail: lines, ...(filter && { filter, search }) });
  try {
    const wanted = { count: lines, complete: true, maxChars: MAX_ANSWER };
    const last = await lastEntries(entries, wanted);
    const texts = last.map(({ line, at }) =>
      timestamps ? `${new Date(at).toISOString()} ${line}\n` : `${line}\n`
    );
    let length = 0;
    const first = texts.findLastIndex((text) => (length += text.length) > MAX_ANSWER);
    return texts.slice(first + 1).join("");
  } finally {
    entries.close();
  }
}

/**
 * The stream behind `GET /logs`. The logs in `from` resume at those positions, and every line then
 * carries its end position. A followed stream includes processes of the targets that come later. It
 * ends when all of its processes are deleted, unless the target is `all`; with `byName` it never
 * ends, and continues with later processes of the same names.
 */
export async function streamLogs(
  context: VerbContext,
  query: URLSearchParams,
  { from, byName = false }: { readonly from?: LogPositions; readonly byName?: boolean } = {},
): Promise<ReadableStream<LogBatch | LogStart>> {
  const fields = readQuery({ input: logStream }, { query: STREAM_FIELDS }, query);
  const { target, positions, ...rest } = readPayload(logStream, fields);
  const options = feedOptions(rest);
  // Report an invalid filter as an error of the request, before the stream begins.
  await options.filter?.ready();
  // Not before: a process that is added meanwhile would belong to neither.
  const { now, later } = sourcesOf(context, target, byName);
  const start = from ?? (positions ? {} : undefined);
  const form = new Batches(from !== undefined);
  return logFeed(now, start === undefined ? options : { ...options, from: start }, form, later);
}

function sourcesOf(
  { supervisor, by }: VerbContext,
  targets: readonly string[],
  byName = false,
): LogSources {
  return logSources(supervisor.registry, targets, { end: "deleted", byName, only: by?.only });
}

function feedOptions(
  { lines, follow, new: newOnly, stdout, stderr, exact, unfinished, ...rest }: StreamFields,
): FeedOptions {
  const { ignore_case: ignoreCase, ...filtering } = rest;
  const filter = parseLogFilter({ ...filtering, ignoreCase }, Date.now());
  if (follow && filter?.until !== undefined) {
    throw new ProcsupError("bad_request", 'Invalid "until": it cannot be used with "follow"');
  }
  return {
    // With a filter, the default is all lines that pass it.
    ...{ lines: lines ?? (filter ? 0 : 50), follow, newOnly, filter, exact, unfinished },
    streams: stdout === stderr ? BOTH : stdout ? ["stdout"] : ["stderr"],
  };
}

type Found = Output<"search_logs">;
type Pattern = NonNullable<Found["patterns"]>[number];

/** Maximum characters of a line in an answer. */
const MAX_LINE = 2000;

/** Maximum number of distinct patterns; lines with further ones are left out. */
const MAX_PATTERNS = 5_000;

/** Lines that differ only in numbers have the same pattern. Pure. */
export function patternOf(line: string): string {
  return plainText(line).replaceAll(/\d+(?:[.,:]\d+)*/g, "#");
}

/** Collects what a search finds, in order of time: the last lines, or the patterns of all lines. */
export class FoundLines {
  readonly #limit: number;
  readonly #isGrouped: boolean;
  readonly #patterns = new Map<string, Pattern>();
  readonly #counts = new Map<string, number>();
  #lines: LogLine[] = [];
  #truncated = false;

  constructor(kind: "lines" | "patterns", limit: number) {
    this.#isGrouped = kind === "patterns";
    this.#limit = limit;
  }

  /** Throws the error that ended the search. */
  add({ failure, lines }: LogBatch): void {
    if (failure !== undefined) throw errorOf({ ...failure });
    for (const { line, ...rest } of lines) {
      const found = { ...rest, line: line.slice(0, MAX_LINE).toWellFormed() };
      if (this.#isGrouped) this.#group(found);
      else this.#lines.push(found);
    }
    if (this.#lines.length <= this.#limit) return;
    this.#truncated = true;
    this.#lines = this.#lines.slice(-this.#limit);
  }

  #group(found: LogLine): void {
    const { name, stream, line, at } = found;
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    const key = `${name}/${stream} ${patternOf(line)}`;
    const known = this.#patterns.get(key);
    if (known === undefined && this.#patterns.size === MAX_PATTERNS) {
      this.#truncated = true;
      return;
    }
    const { count = 0, first_at = at } = known ?? {};
    this.#patterns.set(key, { ...found, count: count + 1, first_at });
  }

  /** `most` is the number of lines per app at which the search stops. */
  answer(most: number): Found {
    if (!this.#isGrouped) {
      const lines = fitting(this.#lines.toReversed()).reverse();
      return { lines, truncated: this.#truncated || lines.length < this.#lines.length };
    }
    const all = [...this.#patterns.values()].sort((one, other) => other.count - one.count);
    const patterns = fitting(all.slice(0, this.#limit));
    const isCut = [...this.#counts.values()].some((count) => count >= most);
    return { patterns, truncated: this.#truncated || isCut || patterns.length < all.length };
  }
}

/** The first items that fit into an answer. */
function fitting<T extends { readonly line: string }>(items: readonly T[]): T[] {
  let length = 0;
  const end = items.findIndex(({ line }) => (length += line.length) > MAX_ANSWER);
  return end < 0 ? [...items] : items.slice(0, end);
}

/** Poll interval of the log: short, since it echoes what is typed. */
const POLL_MS = 15;

/**
 * Streams the output of an app until it ends for good: from a position, or from `lines` before the
 * end. Throws `process_not_found`.
 */
export function terminalFeed(
  supervisor: Supervisor,
  target: string,
  { from, lines }: { readonly from?: number | undefined; readonly lines: number },
): ReadableStream<TerminalPiece> {
  const process = supervisor.process(target);
  const path = process.logs.stdout;
  const follower = new LogFollower(path, {
    ...{ follow: true, pollMs: POLL_MS },
    begin: (span, cursor) => {
      // Older output is of a deleted app.
      const floor = Math.max(span.base, span.from);
      return from === undefined
        ? startOfTail(path, cursor, span, lines, floor)
        : Math.min(Math.max(from, floor), span.end);
    },
  });
  const left = new AbortController();
  const finish = () => follower.finish();
  supervisor.waitFor(process.name, "exit", left).then(finish, finish);
  const decoder = new TextDecoder();
  return new ReadableStream<TerminalPiece>({
    async pull(out) {
      const bytes = await follower.next();
      if (bytes !== undefined) {
        const text = decoder.decode(bytes, { stream: true });
        return out.enqueue({ text, position: follower.position, pid: process.snapshot.pid });
      }
      follower.close();
      if (left.signal.aborted) return;
      const { lastReason, lastExit } = process.info();
      out.enqueue({ ended: lastReason, code: lastExit?.code ?? null });
      out.close();
    },
    cancel() {
      left.abort();
      follower.stop();
    },
  });
}

/** Limit for one count, because a histogram is requested repeatedly. */
const COUNT_LIMITS = { ms: 1000, bytes: 256 * 1024 ** 2 };

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
  const search = new Search(COUNT_LIMITS);
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

async function countIn(
  path: string,
  filter: LogFilter & { readonly since: number },
  { search, step, into }: Pick<CountOptions, "step"> & {
    readonly search: Search;
    readonly into: Map<number, LevelCounts>;
  },
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
