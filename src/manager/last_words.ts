/** The last output of a run, and the line in it with the error. */

import { lastTextLines } from "../logs/read/last_lines.ts";
import { errorLine, likelyErrorLine } from "../model/error_line.ts";
import { plainText } from "../model/plain_text.ts";
import { isSuccess } from "../model/transition_steps.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import type { LastWords } from "../model/start_failed.ts";
import { isListenedOn } from "../platform/scan/listening_ports.ts";
import type { ManagedProcess } from "../process/managed_process.ts";
import type { Hint } from "../model/hint.ts";
import { baseName } from "../model/name.ts";
import { type EventBody, OUTPUT_LINES, withOutput } from "../model/event_body.ts";
import { isTrouble } from "../model/webhook_rules.ts";

/** Maximum lines of output for a failure, and maximum characters. */
const LINES = 10;
const CHARACTERS = 8 * 1024;
/** Maximum bytes of a log to search. */
const BYTES = 128 * 1024;

/** Which runs to read; by default the last one. */
interface WhichRuns {
  /** `all`: also earlier runs. `before`: only earlier runs. */
  readonly runs?: "last" | "all" | "before";
  /** Maximum number of lines; default 10. */
  readonly lines?: number;
}

/**
 * The last output of a process; of its `pre_start`, if the last attempt launched nothing. Excludes
 * lines of other runs if their position is known.
 */
export async function lastWords(
  process: ManagedProcess,
  { runs = "last", lines = LINES }: WhichRuns = {},
): Promise<LastWords> {
  const { unlaunched } = process.journal;
  if (runs === "last" && unlaunched !== undefined) {
    const said = plainText(unlaunched).split("\n").filter((line) => line !== "");
    return { errorLine: errorLine(said), lastOutput: endOf(said, lines) };
  }
  const files = process.logs;
  const begin = process.journal.outputFrom;
  // Now: the next run may end while logs are read.
  const hasFailed = failedByItself(process);
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
  const likely = found ?? (hasFailed ? likelyErrorLine(stderr) : undefined);
  return { errorLine: likely, lastOutput };
}

/** The body of an event, with the last output of its process if that is in trouble. */
export async function explained(body: EventBody, process: ManagedProcess): Promise<EventBody> {
  if (!isTrouble(body.type)) return body;
  // The next run may have begun already: the output of all runs is read.
  const words = await lastWords(process, { runs: "all", lines: OUTPUT_LINES });
  return words.lastOutput.length > 0 ? withOutput(body, words) : body;
}

/** Whether the last run failed with an exit code, not by a signal: it may have printed why. */
function failedByItself({ snapshot: { lastExit }, config }: ManagedProcess): boolean {
  return lastExit !== null && lastExit.signal === null && !isSuccess(lastExit, config);
}

/** The last lines, up to the limits. */
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

/** Hint for an app that ended because its port is in use; undefined if nothing shows that. */
export function takenPortHint(process: ManagedProcess, said: LastWords): Hint | undefined {
  const { errorLine = "", lastOutput } = said;
  return portHint(process.config, [errorLine, ...lastOutput]) ?? silentPortHint(process);
}

/** Hint for Express 5, which exits silently with code 0 if its port is in use. */
function silentPortHint({ config, snapshot }: ManagedProcess): Hint | undefined {
  const { lastExit, desired, state } = snapshot;
  if (lastExit?.code !== 0 || desired === "down" || state === "running") return undefined;
  const port = Number(config.env.PORT ?? config.shellEnv?.PORT);
  // Its own sockets are always open.
  if (hasSocket(config, port) || !isListenedOn(port)) return undefined;
  return { text: `Port ${port}, its PORT, is in use: some servers then exit without an error` };
}

function hasSocket({ sockets }: Pick<ProcessConfig, "sockets">, port: number | string): boolean {
  return sockets.some((socket) => `:${socket}`.endsWith(`:${port}`));
}

/** Hint for an app whose port is in use; undefined if its output shows another problem. */
export function portHint(
  { name, instances, sockets }: Pick<ProcessConfig, "name" | "instances" | "sockets">,
  said: readonly string[],
): Hint | undefined {
  const line = said.find((line) => /EADDRINUSE|address (is )?already in use/i.test(line));
  if (line === undefined) return undefined;
  // Node prints the port in the same line, or in a separate one.
  const [, port = "<port>"] = /:(\d{2,5})\b/.exec(line) ??
    /^ *port: (\d+)/m.exec(said.join("\n")) ?? [];
  if (hasSocket({ sockets }, port)) {
    return {
      text: `Port ${port} is among its sockets: it inherits the socket from descriptor 3 on, ` +
        "and opens none",
    };
  }
  return {
    text: instances > 1
      ? "Its instances can share the port as a socket"
      : "Another program has the port. Instances of one app can share it as a socket",
    command: { verb: "restart", target: baseName(name), flags: { socket: port } },
  };
}
