/** Logs of several processes as one stream of lines, for `logs -f`. */

import { lineStream } from "../logs/line_stream.ts";
import { logStream } from "../logs/follow_log.ts";
import type { LogFiles } from "../logs/log_files.ts";

/** One line of a log. */
export interface LogLine {
  readonly name: string;
  readonly stream: keyof LogFiles;
  readonly line: string;
}

/** A log to read. */
export interface LogSource {
  readonly name: string;
  readonly files: LogFiles;
}

/** What to read of each log. */
export interface FeedOptions {
  readonly lines: number;
  readonly follow: boolean;
  readonly streams: readonly (keyof LogFiles)[];
}

/** The lines of every source: one source after the other, or, when following, as they come. */
export function logFeed(
  sources: readonly LogSource[],
  options: FeedOptions,
): ReadableStream<LogLine> {
  const { readable, writable } = new TransformStream<LogLine, LogLine>();
  const stop = new AbortController();
  const pour = ({ name, files }: LogSource, stream: keyof LogFiles) =>
    logStream(files[stream], { tail: options.lines, follow: options.follow, signal: stop.signal })
      .pipeThrough(lineStream())
      .pipeThrough(
        new TransformStream<string, LogLine>({
          transform: (line, out) => out.enqueue({ name, stream, line }),
        }),
      )
      .pipeTo(writable, { preventClose: true });
  const run = async () => {
    const pours = sources.flatMap((source) =>
      options.streams.map((stream) => () => pour(source, stream))
    );
    if (options.follow) await Promise.all(pours.map((start) => start()));
    else for (const start of pours) await start();
    await writable.close();
  };
  // The reader is gone, and with it the interest in all other sources.
  run().catch(() => stop.abort());
  return readable;
}
