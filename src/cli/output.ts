/** Where everything that is printed goes: data to stdout, messages to stderr. */

import type { Flags } from "./flags.ts";
import { terminalJson, terminalText } from "./terminal_text.ts";

/** How data is printed. `table` and `wide` are for people, the rest for programs. */
export type Format = (typeof FORMATS)[number];

export const FORMATS = ["table", "wide", "json", "jsonl", "yaml", "name"] as const;

/** The two streams of a command, and how to write to them: as flags, environment and terminal ask for. */
export class Output {
  readonly format: Format;
  /** Whether colours are on. */
  readonly color: boolean;
  /** Whether stdout is a terminal. */
  readonly terminal: boolean = Deno.stdout.isTerminal();
  /** Columns of the terminal; undefined in a pipe, where nothing is ever cut. */
  readonly width: number | undefined;
  readonly quiet: boolean;
  readonly #isErrorTerminal: boolean = Deno.stderr.isTerminal();
  #drawn = 0;
  #isUsed = false;

  constructor(flags: Flags) {
    this.format = flags.on("json") ? "json" : (flags.text("output") ?? "table") as Format;
    this.color = wantsColor(flags.text("color"), this.terminal);
    this.width = this.terminal ? Deno.consoleSize().columns : undefined;
    this.quiet = flags.on("quiet");
  }

  /** Whether anything went to stdout. */
  get isUsed(): boolean {
    return this.#isUsed;
  }

  /** Data: lines to stdout, made safe for a terminal wherever they go. */
  data(text: string): void {
    this.raw(`${terminalText(text, this.color)}\n`);
  }

  /** Data as JSON, on one line or indented: to stdout, nothing of it lost. */
  json(value: unknown, indent?: number): void {
    this.jsonText(JSON.stringify(value, null, indent));
  }

  /** The same of what is JSON already. */
  jsonText(json: string, end = "\n"): void {
    this.raw(terminalJson(json) + end);
  }

  /** Text from other programs: unchanged, but without control sequences on a terminal. */
  content(text: string, stream: "stdout" | "stderr" = "stdout"): void {
    const isTerminal = stream === "stdout" ? this.terminal : this.#isErrorTerminal;
    if (stream === "stdout") this.#isUsed = true;
    writeAll(Deno[stream], `${isTerminal ? terminalText(text, this.color) : text}\n`);
  }

  /** Exactly this, to stdout. */
  raw(text: string): void {
    this.#isUsed = true;
    writeAll(Deno.stdout, text);
  }

  /** Whether lines can be drawn on stderr again and again. */
  get redraws(): boolean {
    return this.#isErrorTerminal && !this.quiet && Deno.env.get("TERM") !== "dumb";
  }

  /** Lines on the terminal, to stderr, in the place of those of the last call. */
  redraw(lines: readonly string[]): void {
    const back = this.#drawn === 0 ? "" : `\x1b[${this.#drawn}A\x1b[J`;
    this.#drawn = lines.length;
    writeAll(Deno.stderr, back + lines.map((line) => `${terminalText(line, false)}\n`).join(""));
  }

  /** A line about something done: to stdout unless that is for programs; nothing with `--quiet`. */
  done(text: string): void {
    if (this.quiet) return;
    if (this.format === "table" || this.format === "wide") this.data(text);
    else this.note(text);
  }

  /** A message: to stderr, unless `--quiet`. */
  note(text: string): void {
    if (!this.quiet) writeMessage(`${text}\n`);
  }
}

/** Writes to stderr, `--quiet` or not: failures and questions. Made safe for a terminal. */
export function writeMessage(text: string): void {
  writeAll(Deno.stderr, terminalText(text, false));
}

function wantsColor(choice: string | undefined, terminal: boolean): boolean {
  if (choice === "always" || choice === "never") return choice === "always";
  return terminal && !Deno.env.get("NO_COLOR") && Deno.env.get("TERM") !== "dumb";
}

/** How long a full pipe is left alone before it is tried again. */
const FULL_PIPE_MS = 5;

const encoder = new TextEncoder();

function writeAll(stream: { writeSync(bytes: Uint8Array): number }, text: string): void {
  const bytes = encoder.encode(text);
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
