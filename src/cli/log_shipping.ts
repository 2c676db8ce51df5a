/**
 * `logs --follow --cursor-file`: each line once, for a program that collects logs. A batch of lines is
 * written out before its positions, so that a shipper that is killed between the two writes that batch
 * again, and never leaves out one.
 */

import { messageOf, ProcsupError, quote } from "../model/errors.ts";
import { commandHint } from "../model/hint.ts";
import {
  type LogGap,
  type LogLine,
  type LogName,
  type LogStart,
  positionKey,
} from "../model/log_line.ts";
import { isMap } from "../model/merge_patch.ts";
import { replaceFile } from "../platform/files/atomic_file.ts";
import { readForeignFile } from "../platform/files/foreign_file.ts";
import { type Lock, takeLockSoon } from "../platform/files/lock.ts";
import { ifAny } from "../platform/files/stat.ts";
import { following, ndjson } from "../protocol/streams.ts";
import type { CommandContext } from "./command.ts";
import { connect } from "./connect.ts";

/** Flags that choose among the lines: the positions would not say which of them were shipped. */
const CHOOSING = ["since", "until", "grep", "invert", "ignore-case", "level", "group"] as const;

/** How long an earlier shipper with the same file may take to end. */
const PATIENCE_MS = 2000;

/** Far more than the positions of all logs take. */
const MAX_BYTES = 16 * 1024 * 1024;

type Item = LogLine | LogGap | LogStart;

/** Prints the lines after the positions in the file as JSON, and keeps the positions there. */
export async function shipLogs(context: CommandContext, query: URLSearchParams): Promise<void> {
  const { flags, output } = context;
  refuseOtherFlags(context);
  const path = flags.text("cursor-file")!;
  using _lock = await lockOf(path);
  const cursor = new Cursor(path, subjectOf(context));
  query.set("gaps", "true");
  query.set("lines", "0");
  const client = connect(context);
  let held: string[] = [];
  const writeOut = () => {
    if (held.length > 0) output.jsonText(held.join("\n"));
    held = [];
    cursor.write();
  };
  const items = following<{ value: Item; line: string; isLast: boolean }>({
    async open() {
      const from = cursor.positions;
      const stream = await client.stream(`/logs?${query}`, undefined, { from });
      return streamItems(stream);
    },
    lost: writeOut,
    note: (message) => output.note(message),
  });
  for await (const { value, line, isLast } of items) {
    if ("positions" in value) cursor.begin(value);
    else {
      held.push(line);
      cursor.passed(value);
    }
    if (isLast) writeOut();
  }
}

/** The items of the stream, and the daemon's notices as they are. */
// deno-lint-ignore no-explicit-any
async function* streamItems(stream: ReadableStream<Uint8Array>): AsyncGenerator<any> {
  for await (const item of ndjson<object>(stream, true)) {
    yield "type" in item.value ? item.value : item;
  }
}

function refuseOtherFlags({ flags, output }: CommandContext): void {
  const usage = {
    hint: commandHint("logs", undefined, {
      follow: true,
      "cursor-file": "<file>",
      output: "jsonl",
    }),
  };
  if (!flags.on("follow") || !output.isJson) {
    throw new ProcsupError("bad_request", "--cursor-file needs --follow and -o jsonl", usage);
  }
  const given = CHOOSING.find((name) => flags.names().includes(name));
  if (given !== undefined) {
    const why = "the file says how far the logs were read, not which lines were chosen";
    throw new ProcsupError(
      "bad_request",
      `Cannot use --${given} with --cursor-file: ${why}`,
      usage,
    );
  }
  const lines = flags.int("lines") ?? 0;
  if (lines === 0) return;
  const what =
    `Cannot use -n ${lines} with --cursor-file: it ships all lines, or new ones with -n 0`;
  throw new ProcsupError("bad_request", what, usage);
}

async function lockOf(path: string): Promise<Lock> {
  const lock = await takeLockSoon(`${path}.lock`, PATIENCE_MS).catch(withPath(path));
  if (lock !== undefined) return lock;
  throw new ProcsupError("wrong_state", `Another shipper uses the cursor file ${quote(path)}`, {
    hint: "Give each shipper a file of its own",
  });
}

/** What a cursor file belongs to. */
function subjectOf({ home, host, flags, positionals }: CommandContext): string {
  const targets = positionals.length === 0 ? ["all"] : positionals.toSorted();
  const [out, err] = [flags.on("out"), flags.on("err")];
  const streams = out === err ? "stdout and stderr" : out ? "stdout" : "stderr";
  return `${streams} of ${targets.join(", ")}, daemon ${host?.machine ?? home}`;
}

/** Positions of logs in a file. */
class Cursor {
  readonly #path: string;
  readonly #subject: string;
  readonly #positions: Record<string, number>;
  #isWritten = true;

  /** Throws `bad_request` if the file belongs to other logs, or is damaged. */
  constructor(path: string, subject: string) {
    this.#path = path;
    this.#subject = subject;
    const text = attempt(path, () => ifAny(() => readForeignFile(path, { maxBytes: MAX_BYTES })));
    const content = parsed(path, text ?? "", { subject, positions: {} });
    if (content.subject !== subject) {
      const whose = `its positions are of ${content.subject}, not of ${subject}`;
      throw new ProcsupError("bad_request", `Cannot use the cursor file ${quote(path)}: ${whose}`, {
        hint: "Give each query a file of its own",
      });
    }
    this.#positions = { ...content.positions };
  }

  get positions(): Readonly<Record<string, number>> {
    return this.#positions;
  }

  /** Takes the positions of logs of which no line was printed. */
  begin({ positions }: LogStart): void {
    for (const [log, position] of Object.entries(positions)) {
      if (Object.hasOwn(this.#positions, log)) continue;
      this.#positions[log] = position;
      this.#isWritten = false;
    }
  }

  passed(item: LogName & { readonly end: number }): void {
    this.#positions[positionKey(item)] = item.end;
    // Scaling renamed it: a later process of the earlier name has a log of its own.
    const before = item.name.replace(/:0$/, "");
    if (before !== item.name) delete this.#positions[positionKey({ ...item, name: before })];
    this.#isWritten = false;
  }

  write(): void {
    if (this.#isWritten) return;
    const content = { subject: this.#subject, positions: this.#positions };
    attempt(this.#path, () => replaceFile(this.#path, `${JSON.stringify(content)}\n`));
    this.#isWritten = true;
  }
}

interface CursorContent {
  readonly subject: string;
  readonly positions: Readonly<Record<string, number>>;
}

/** An empty file is a new one, as of `mktemp`. */
function parsed(path: string, text: string, newOne: CursorContent): CursorContent {
  if (text.trim() === "") return newOne;
  try {
    const { subject, positions } = JSON.parse(text) as CursorContent;
    const isPosition = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;
    const isWhole = typeof subject === "string" && isMap(positions) &&
      Object.values(positions).every(isPosition);
    if (isWhole) return { subject, positions };
  } catch {
    // Reported below.
  }
  throw new ProcsupError("bad_request", `${quote(path)} is not a cursor file`, {
    hint: "Remove it to ship everything from the start, or name another file",
  });
}

function attempt<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    return withPath(path)(error);
  }
}

/** Throws an error of the file system again, with the path. */
function withPath(path: string): (cause: unknown) => never {
  return (cause) => {
    const what = `Cannot use the cursor file ${quote(path)}: ${messageOf(cause)}`;
    throw new ProcsupError("bad_request", what, { cause });
  };
}
