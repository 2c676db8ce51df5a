/** What a run of a process wrote last, and the line of it that says what went wrong. */

import { lastTextLines } from "../logs/last_lines.ts";
import { errorLine, likelyErrorLine } from "../model/error_line.ts";
import { isSuccess } from "../model/transition_steps.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import type { LastWords } from "../model/start_failed.ts";
import { isListenedOn } from "../platform/listening_ports.ts";
import type { ManagedProcess } from "../process/managed_process.ts";

/** Lines that go with a failure, and their characters. */
const LINES = 10;
const CHARACTERS = 8 * 1024;
/** So much of a log is searched. */
const BYTES = 128 * 1024;

/** Which runs wrote it; by default the last one. */
export interface WhichRuns {
  /** `all`: those before it as well. `before`: not the last one. */
  readonly runs?: "last" | "all" | "before";
  /** How many lines; default 10. */
  readonly lines?: number;
}

/** The last words of a process, without lines of other runs where it is known where those end. */
export async function lastWords(
  process: ManagedProcess,
  { runs = "last", lines = LINES }: WhichRuns = {},
): Promise<LastWords> {
  const files = process.logs;
  const begin = process.journal.outputFrom;
  const read = (path: string, at: number | undefined) => {
    const from = runs === "last" ? at : undefined;
    const until = runs === "before" ? at : undefined;
    return lastTextLines(path, 0, { maxBytes: BYTES, from, until });
  };
  const stderr = await read(files.stderr, begin?.[1]);
  const stated = errorLine(stderr);
  if (stated !== undefined) return { errorLine: stated, lastOutput: endOf(stderr, lines) };
  const stdout = await read(files.stdout, begin?.[0]);
  const found = errorLine(stdout);
  const lastOutput = endOf(found !== undefined || stderr.length === 0 ? stdout : stderr, lines);
  const likely = found ?? (failedByItself(process) ? likelyErrorLine(stderr) : undefined);
  return { errorLine: likely, lastOutput };
}

/** Whether its last run ended with an exit code that is a failure: it knew of it, and may have said why. */
function failedByItself({ snapshot: { lastExit }, config }: ManagedProcess): boolean {
  return lastExit !== null && lastExit.signal === null && !isSuccess(lastExit, config);
}

/** The last lines, as many as there is room for. */
function endOf(lines: readonly string[], count: number): string[] {
  let room = CHARACTERS;
  const kept: string[] = [];
  for (const line of lines.slice(-count).reverse()) {
    if (room <= 0) break;
    kept.unshift(line.slice(-room));
    room -= line.length;
  }
  return kept;
}

/** Express 5 ends with 0, and without a word, when its port is taken. */
export function silentPortHint({ config, snapshot }: ManagedProcess): string | undefined {
  const { lastExit } = snapshot;
  const port = Number(config.env.PORT ?? config.shellEnv?.PORT);
  if (lastExit?.code !== 0 || !isListenedOn(port)) return undefined;
  return `Port ${port}, its PORT, is in use: some servers end without an error then`;
}

/** What helps an app that found its port taken; undefined where its last words tell of something else. */
export function portHint(
  { instances, sockets }: Pick<ProcessConfig, "instances" | "sockets">,
  stderr: readonly string[],
): string | undefined {
  const line = stderr.find((line) => /EADDRINUSE|address (is )?already in use/i.test(line));
  if (line === undefined) return undefined;
  // Node says it in the same line, or in one of its own.
  const [, port = "HOST:PORT"] = /:(\d{2,5})\b/.exec(line) ??
    /^ *port: (\d+)/m.exec(stderr.join("\n")) ?? [];
  return instances > 1 && sockets.length === 0
    ? `Instances share a port by --socket ${port}, in a file by sockets: ["${port}"]`
    : `Another program has the port. Instances of one app share it by --socket ${port}`;
}
