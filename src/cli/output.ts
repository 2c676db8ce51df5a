/** All output of commands: data to stdout, messages and questions to stderr. */

import { ifPossible, ProcsupError } from "../model/errors.ts";
import type { Flags, FORMATS } from "./flags.ts";
import { escapedJson } from "../model/plain_text.ts";
import { terminalText } from "./terminal_text.ts";

type Format = (typeof FORMATS)[number];

type Stream = "stdout" | "stderr";

/** A line, or a piece of one, of a log. */
interface Piece {
  /** The log, see `positionKey()`. */
  readonly from?: string;
  /** The next piece of the log continues the line. */
  readonly partial?: boolean | undefined;
}

/** The output streams of a command, set up by flags, environment and terminal. */
export class Output {
  readonly format: Format;
  /** True if colours are on. */
  readonly color: boolean;
  /** True if stdout is a terminal. */
  readonly terminal: boolean = Deno.stdout.isTerminal();
  /** Columns of the terminal; undefined in a pipe, where lines are never cut. */
  readonly width: number | undefined;
  readonly quiet: boolean;
  readonly #isErrorTerminal: boolean = Deno.stderr.isTerminal();
  #drawn = 0;
  #isUsed = false;
  /** The log that a line without its end comes from, last on a stream. */
  readonly #unfinished: Partial<Record<Stream, string | undefined>> = {};

  constructor(flags: Flags) {
    this.format = flags.on("json") ? "json" : (flags.text("output") ?? "table") as Format;
    this.color = wantsColor(flags.text("color"), this.terminal);
    this.width = this.terminal ? terminalSize().columns : undefined;
    this.quiet = flags.on("quiet");
  }

  /** True if anything was written to stdout. */
  get isUsed(): boolean {
    return this.#isUsed;
  }

  /** Writes lines to stdout, always without unsafe control sequences. */
  data(text: string): void {
    this.raw(`${terminalText(text, this.color)}\n`);
  }

  /** Writes a value as JSON to stdout, on one line or indented. */
  json(value: unknown, indent?: number): void {
    this.jsonText(JSON.stringify(value, null, indent));
  }

  /** Writes JSON text to stdout. */
  jsonText(json: string, end = "\n"): void {
    this.raw(escapedJson(json) + end);
  }

  /** Writes text from other programs unchanged, but without control sequences on a terminal. */
  content(text: string, stream: Stream = "stdout", piece: Piece = {}): void {
    const shown = this.#isTerminal(stream) ? terminalText(text, this.color) : text;
    this.#piece(shown, undefined, stream, piece);
  }

  /** Writes a text, then bytes of another program, of which `bytes` has a character for each. */
  exact(text: string, bytes: string, stream: Stream, piece: Piece): void {
    this.#piece(text, bytes, stream, piece);
  }

  /** Whether the next piece of a log continues the line that was written last. */
  continues(from: string, stream: Stream = "stdout"): boolean {
    return this.#unfinished[stream] === from;
  }

  /** Ends lines that are unfinished. */
  endLines(): void {
    for (const stream of ["stdout", "stderr"] as const) {
      if (this.#unfinished[stream] !== undefined) writeAll(Deno[stream], "\n");
      this.#unfinished[stream] = undefined;
    }
  }

  #piece(
    text: string,
    bytes: string | undefined,
    stream: Stream,
    { from, partial = false }: Piece,
  ): void {
    if (stream === "stdout") this.#isUsed = true;
    this.#erase();
    const open = this.#unfinished;
    const other = stream === "stdout" ? "stderr" : "stdout";
    const meets = this.terminal && this.#isErrorTerminal && open[other] !== undefined;
    const breaks = meets || (open[stream] !== undefined && open[stream] !== from);
    if (meets) open[other] = undefined;
    open[stream] = partial ? from : undefined;
    const [before, after] = [breaks ? "\n" : "", partial ? "" : "\n"];
    if (bytes === undefined) return writeAll(Deno[stream], before + text + after);
    const head = encoder.encode(before + text);
    const all = new Uint8Array(head.length + bytes.length + after.length);
    all.set(head);
    for (let at = 0; at < bytes.length; at++) all[head.length + at] = bytes.charCodeAt(at);
    if (!partial) all[all.length - 1] = NEWLINE;
    writeBytes(Deno[stream], all);
  }

  #isTerminal(stream: Stream): boolean {
    return stream === "stdout" ? this.terminal : this.#isErrorTerminal;
  }

  /** Writes text to stdout unchanged. */
  raw(text: string): void {
    this.#isUsed = true;
    this.#erase();
    writeAll(Deno.stdout, text);
  }

  /** True if lines on stderr can be redrawn. */
  get redraws(): boolean {
    return this.#isErrorTerminal && !this.quiet && Deno.env.get("TERM") !== "dumb";
  }

  /** Draws lines on stderr in place of those of the last call. Other output erases them. */
  redraw(lines: readonly string[]): void {
    const back = this.#drawn === 0 ? "" : `\x1b[${this.#drawn}A\x1b[J`;
    this.#drawn = lines.length;
    writeAll(Deno.stderr, back + lines.map((line) => `${terminalText(line, false)}\n`).join(""));
  }

  #erase(): void {
    if (this.#drawn > 0) this.redraw([]);
  }

  /** Whether the format is for people. */
  get isForPeople(): boolean {
    return this.format === "table" || this.format === "wide";
  }

  /** Whether the format is JSON, or JSON lines. */
  get isJson(): boolean {
    return this.format === "json" || this.format === "jsonl";
  }

  /** Prints a success line to stdout if the format is for people; nothing with `--quiet`. */
  done(text: string): void {
    if (this.quiet) return;
    if (this.isForPeople) this.data(text);
    else this.note(text);
  }

  /** Prints a message to stderr, unless `--quiet`. */
  note(text: string): void {
    if (this.quiet) return;
    this.#erase();
    writeMessage(`${text}\n`);
  }
}

/** Prints what was done: data for programs, or a line for people. */
export async function printDone(
  output: Output,
  value: unknown,
  line: string,
  names: readonly string[] = [],
): Promise<void> {
  if (!await printData(output, value, names)) output.done(`✔ ${line}`);
}

/**
 * Prints `value` if the format is for programs, or `names` for `-o name`. Returns false for other
 * formats: the command then prints its own text.
 */
export async function printData(
  output: Output,
  value: unknown,
  names: readonly string[] = [],
): Promise<boolean> {
  switch (output.format) {
    case "json":
      output.json(value, 2);
      return true;
    case "jsonl":
      for (const item of Array.isArray(value) ? value : [value]) output.json(item);
      return true;
    case "yaml":
      output.data((await import("../model/yaml.ts")).yaml(value));
      return true;
    case "name":
      for (const name of names) output.data(name);
      return true;
    case "pid":
      // Commands with process ids print them themselves; a failure has none.
      return true;
    case "table":
    case "wide":
      return false;
  }
}

/** Prints the process ids of what runs. Returns the exit code: 3 if nothing does. */
export function printPids(output: Output, processes: readonly { readonly pid: number }[]): number {
  const pids = processes.map(({ pid }) => pid).filter((pid) => pid > 0);
  for (const pid of pids) output.data(String(pid));
  return pids.length > 0 ? 0 : NOT_RUNNING;
}

/** Throws `bad_request` for process ids that mean nothing on this machine. */
export function refusePids({ format }: Output, where: string): void {
  if (format !== "pid") return;
  throw new ProcsupError("bad_request", `Cannot use -o pid for apps ${where}`);
}

/** Exit code for a process that does not run, as of `systemctl status`. */
export const NOT_RUNNING = 3;

/** Throws `bad_request` for formats that cannot be printed line by line. */
export function refuseWholeFormats({ format }: Output, command: string): void {
  if (format !== "yaml" && format !== "name" && format !== "pid") return;
  throw new ProcsupError("bad_request", `Cannot print ${command} with -o ${format}`, {
    hint: `procsup ${command} -o jsonl`,
  });
}

/**
 * Prints JSON values, one a line. With `-o json` they form a list, which `end` closes, unless the
 * output is endless.
 */
export function jsonLines(
  output: Output,
  isEndless: boolean,
): { print(json: string): void; end(): void } {
  if (isEndless || output.format !== "json") {
    return { print: (json) => output.jsonText(json), end: () => {} };
  }
  let before = "[\n";
  return {
    print(json) {
      output.raw(before);
      before = ",\n";
      output.jsonText(json, "");
    },
    end: () => output.raw(before === ",\n" ? "\n]\n" : "[]\n"),
  };
}

/** Writes failures and questions to stderr, even with `--quiet`, without control sequences. */
export function writeMessage(text: string): void {
  writeAll(Deno.stderr, terminalText(text, false));
}

/**
 * Asks for confirmation of what cannot be undone. True without asking with `--yes`, or
 * without a terminal.
 */
export function confirmed({ flags }: { readonly flags: Flags }, question: string): boolean {
  if (flags.on("yes") || !Deno.stdin.isTerminal()) return true;
  writeMessage(`${question} [y/N] `);
  const buffer = new Uint8Array(1024);
  const length = Deno.stdin.readSync(buffer) ?? 0;
  return /^y(es)?$/i.test(new TextDecoder().decode(buffer.subarray(0, length)).trim());
}

/** The size of the terminal: 80 x 24 if it reports 0, as some terminals do, or if it is gone. */
export function terminalSize(): { readonly columns: number; readonly rows: number } {
  const { columns, rows } = ifPossible(() => Deno.consoleSize()) ?? {};
  return { columns: columns || 80, rows: rows || 24 };
}

function wantsColor(choice: string | undefined, terminal: boolean): boolean {
  if (choice === "always" || choice === "never") return choice === "always";
  return terminal && !Deno.env.get("NO_COLOR") && Deno.env.get("TERM") !== "dumb";
}

/** Delay before a write to a full pipe is retried. */
const FULL_PIPE_MS = 5;

const encoder = new TextEncoder();

function writeAll(stream: Writer, text: string): void {
  writeBytes(stream, encoder.encode(text));
}

interface Writer {
  writeSync(bytes: Uint8Array): number;
}

const NEWLINE = 10;

function writeBytes(stream: Writer, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;) {
    try {
      written += stream.writeSync(bytes.subarray(written));
    } catch (error) {
      if (!(error instanceof Deno.errors.WouldBlock)) throw error;
      // A parent may have made the pipe non-blocking: wait for its reader.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PIPE_MS);
    }
  }
}
