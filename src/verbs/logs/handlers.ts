/**
 * `logs`, `search_logs` and `log_counts`: the text, the lines, the patterns and the number of the newest
 * lines of logs; and the streams of logs and of terminals.
 */

import { BATCHES, type LogBatch } from "../../daemon/log_batch.ts";
import { foundLines, levelCounts, patternsOf } from "../../daemon/log_folds.ts";
import { lastLines } from "../../logs/read/last_lines.ts";
import { logFeed, type LogQuery } from "../../logs/read/log_feed.ts";
import { type LogFilter, parseLogFilter } from "../../logs/read/log_filter.ts";
import { LogFollower } from "../../logs/read/log_follower.ts";
import { startOfTail } from "../../logs/read/log_tail.ts";
import { wholeCharacters } from "../../logs/read/line_splitter.ts";
import { newestLines } from "../../logs/read/merged_logs.ts";
import { Search, SEARCH_LIMITS } from "../../logs/read/search.ts";
import { type LogSources, logSources } from "../../manager/log_sources.ts";
import { ProcsupError } from "../../model/errors.ts";
import { type LogName, type LogStart, MAX_LINES } from "../../model/log_line.ts";
import { parseRange } from "../../model/time_spec.ts";
import type { TerminalPiece } from "../../protocol/process_json.ts";
import type { Handlers, VerbContext } from "../../daemon/verb_context.ts";
import { narrowed } from "../../daemon/reach.ts";
import type { LogQueryFields, TerminalQuery } from "./rows.ts";

/** Maximum characters of an answer. */
const MAX_ANSWER = 1024 * 1024;

const BOTH = ["stdout", "stderr"] as const;

/** `logs` answers with the last lines, up to 1 MiB; with a filter, the last lines that pass it. */
export const LOGS_HANDLERS: Handlers<"logs" | "search_logs" | "log_counts"> = {
  async logs(
    { supervisor },
    { target, lines, stderr, timestamps, ignore_case: ignoreCase, ...rest },
  ) {
    const { name, logs: files } = supervisor.process(target);
    const stream = stderr ? "stderr" : "stdout";
    const path = files[stream];
    const filter = parseLogFilter({ ...rest, ignoreCase }, Date.now());
    const text = filter === undefined && !timestamps
      ? new TextDecoder().decode(await lastLines(path, lines))
      : await lastText({ name, stream, path }, { lines: lines || MAX_LINES, filter, timestamps });
    return { logs: text, path, lines: String(lines) };
  },
  async search_logs(context, { targets = "all", limit, group_similar, ignore_case, ...rest }) {
    const filter = parseLogFilter({ ...rest, ignoreCase: ignore_case }, Date.now());
    await filter?.ready();
    const found = newestLines(pathsOf(context, [targets].flat()), {
      ...{ complete: true, filter, meaning: group_similar || undefined },
      search: new Search(SEARCH_LIMITS),
    });
    return group_similar
      ? await patternsOf(found, limit, rest.grep !== undefined)
      : await foundLines(found, limit);
  },
  async log_counts(context, { targets, since, until, steps, by_name, ignore_case, ...rest }) {
    const now = Date.now();
    const { since: from = now, until: to = now } = parseRange({ since, until }, now);
    const step = Math.max(1, Math.ceil((to - from) / steps));
    const range = { since: Math.floor(from / step) * step, until: Math.ceil(to / step) * step };
    const filter = parseLogFilter(
      {
        ...rest,
        since: new Date(range.since),
        until: new Date(range.until - 1),
        ignoreCase: ignore_case,
      },
      now,
    )!;
    await filter.ready();
    const search = new Search(COUNT_LIMITS);
    const lines = newestLines(pathsOf(context, targets), {
      ...{ complete: true, filter, meaning: true, search },
    });
    const { counts, names, since: counted } = await levelCounts(lines, step, range);
    const iso = (at: number) => new Date(at).toISOString();
    return {
      ...{ since: iso(range.since), until: iso(range.until), step: step * 1e6 },
      counted_since: iso(counted),
      counts: counts.map(({ at, ...counts }) => ({ at: iso(at), ...counts })),
      ...by_name && { names: [...names] },
    };
  },
};

/** Limit for one count, because a histogram is requested repeatedly. */
const COUNT_LIMITS = { ms: 1000, bytes: 256 * 1024 ** 2 };

/** The newest lines of one log, up to the maximum of an answer. */
async function lastText(
  log: LogName & { readonly path: string },
  { lines, filter, timestamps }: {
    readonly lines: number;
    readonly filter: LogFilter | undefined;
    readonly timestamps: boolean;
  },
): Promise<string> {
  const search = new Search(filter && SEARCH_LIMITS);
  const texts: string[] = [];
  let room = MAX_ANSWER;
  for await (const { entries } of newestLines([log], { complete: true, filter, search })) {
    for (const { line, at } of entries) {
      const text = timestamps ? `${new Date(at).toISOString()} ${line}\n` : `${line}\n`;
      room -= text.length;
      if (texts.length === lines || room < 0) return texts.reverse().join("");
      texts.push(text);
    }
  }
  return texts.reverse().join("");
}

function pathsOf(
  context: VerbContext,
  targets: readonly string[],
): (LogName & { readonly path: string })[] {
  return sourcesOf(context, targets).now.flatMap(({ name, files }) =>
    BOTH.map((stream) => ({ name, stream, path: files[stream] }))
  );
}

/**
 * The stream behind `GET /logs`. A followed stream includes processes of the targets that come later.
 * It ends when all of its processes are deleted, unless the target is `all`; with `byName` it never
 * ends, and continues with later processes of the same names.
 */
export async function streamLogs(
  context: VerbContext,
  { target, cut, ...fields }: LogQueryFields,
  byName = false,
): Promise<ReadableStream<LogBatch | LogStart>> {
  const query = logQuery(fields);
  // Report an invalid filter as an error of the request, before the stream begins.
  await query.filter?.ready();
  // Not before: a process that is added meanwhile would belong to neither.
  const { now, later } = sourcesOf(context, target, byName);
  const limits = context.limits.feed(context.by);
  return logFeed(now, { ...query, limits }, BATCHES[cut ? "cut" : "whole"], later);
}

function sourcesOf(
  { supervisor, by }: VerbContext,
  targets: readonly string[],
  byName = false,
): LogSources {
  return logSources(supervisor.directory, targets, { end: "deleted", byName, only: by?.only });
}

function logQuery(
  { lines, limit, follow, new: newOnly, stdout, stderr, from, before, ...rest }: Omit<
    LogQueryFields,
    "target" | "cut"
  >,
): LogQuery {
  const { ignore_case: ignoreCase, exact, gaps, unfinished, positions, ...filtering } = rest;
  const filter = parseLogFilter({ ...filtering, ignoreCase }, Date.now());
  const resumes = from !== undefined && Object.keys(from).length > 0;
  const conflicts = [
    ["until", filter?.until !== undefined, "follow", follow],
    ["before", before !== undefined, "follow", follow],
    ["before", before !== undefined, "from", resumes],
    ["limit", limit !== undefined, "lines", lines !== undefined],
    ["limit", limit !== undefined, "follow and from", follow && resumes],
  ] as const;
  const wrong = conflicts.find(([, one, , other]) => one && other);
  if (wrong !== undefined) {
    const what = `Invalid "${wrong[0]}": it cannot be used with "${wrong[2]}"`;
    throw new ProcsupError("bad_request", what);
  }
  return {
    // With a filter, the default is all lines that pass it.
    ...{ lines: lines ?? (filter ? 0 : 50), limit, from, before, follow, newOnly, filter },
    ...{
      exact,
      gaps,
      unfinished,
      positions: positions || from !== undefined || before !== undefined,
    },
    streams: stdout === stderr ? BOTH : stdout ? ["stdout"] : ["stderr"],
  };
}

/** Poll interval of the log: short, since it echoes what is typed. */
const POLL_MS = 15;

/**
 * Streams the output of an app until it ends for good: from a position, or from `lines` before the
 * end. Throws `process_not_found`.
 */
export function streamTerminal(
  context: VerbContext,
  { from, lines, ...query }: TerminalQuery,
): ReadableStream<TerminalPiece> {
  const { supervisor } = context;
  const process = supervisor.process(narrowed(context, "attach", query).target);
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
        // The next stream begins with the whole character.
        const position = follower.position - (bytes.length - wholeCharacters(bytes));
        return out.enqueue({ text, position, pid: process.snapshot.pid });
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
