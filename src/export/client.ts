/** Runs the clients of engines: `docker`, `kubectl` and `systemctl`, found on PATH. */

import { ifPossible, ProcsupError } from "../model/errors.ts";
import { commandHint } from "../model/hint.ts";

/** A program with flags that precede the arguments of each call. An abort of the signal ends it. */
export class Client {
  readonly #program: string;
  readonly #flags: readonly string[];
  readonly #signal: AbortSignal | undefined;

  constructor(
    program: string,
    flags: Readonly<Record<string, string | undefined>> = {},
    signal?: AbortSignal,
  ) {
    this.#program = program;
    this.#flags = Object.entries(flags).filter(([, value]) => value !== undefined)
      .map(([name, value]) => `--${name}=${value}`);
    this.#signal = signal;
  }

  /** Runs the program with a text as its input. Throws `not_found` if it is not installed. */
  async ask(args: readonly string[], input = "") {
    const child = this.#spawn(args, "piped");
    // A program that fails may not read it.
    const written = ReadableStream.from([new TextEncoder().encode(input)]).pipeTo(child.stdin)
      .catch(() => {});
    const [{ code, stdout, stderr }] = await Promise.all([child.output(), written]);
    const text = new TextDecoder();
    return { code, stdout: text.decode(stdout), stderr: text.decode(stderr) };
  }

  /** Like `ask()`, but returns stdout. On failure, throws `start_failed` with its stderr. */
  async output(args: readonly string[], input?: string): Promise<string> {
    const { code, stdout, stderr } = await this.ask(args, input);
    if (code === 0) return stdout;
    const why = essence(stderr) || stdout.trim() || `exit code ${code}`;
    throw new ProcsupError("start_failed", `"${this.#program} ${args[0]}" failed: ${why}`, {
      hint: commandHint("help", "beyond"),
    });
  }

  /** Runs the program; parses each line of stdout as JSON. */
  async jsonLines<T>(args: readonly string[]): Promise<T[]> {
    const lines = (await this.output(args)).split("\n").filter((line) => line !== "");
    return lines.map((line) => JSON.parse(line) as T);
  }

  /** Runs the program, and prints the lines of its output; returns its exit code. */
  async relayed(args: readonly string[], print: PrintLine): Promise<number> {
    const child = this.#spawn(args, "piped");
    try {
      await Promise.all([
        child.stdin.close(),
        relay(child.stdout, (line) => print(line, "stdout")),
        relay(child.stderr, (line) => print(line, "stderr")),
      ]);
    } catch (error) {
      ifPossible(() => child.kill());
      throw error;
    }
    return (await child.status).code;
  }

  /** Runs the program with this terminal's output; returns its exit code. */
  async shown(args: readonly string[]): Promise<number> {
    return (await this.#spawn(args, "inherit").status).code;
  }

  #spawn(args: readonly string[], output: "piped" | "inherit"): Deno.ChildProcess {
    const stdin = output === "piped" ? "piped" : "null";
    try {
      return new Deno.Command(this.#program, {
        args: [...this.#flags, ...args],
        ...{ stdin, stdout: output, stderr: output, signal: this.#signal },
      }).spawn();
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      throw new ProcsupError("not_found", `"${this.#program}" is not installed, or not on PATH`);
    }
  }
}

/** Prints a line of an app, which is made safe for a terminal. */
export type PrintLine = (line: string, stream: "stdout" | "stderr") => void;

/** A longer line is printed in pieces. */
const MAX_LINE = 64 * 1024;

async function relay(
  from: ReadableStream<Uint8Array<ArrayBuffer>>,
  print: (line: string) => void,
): Promise<void> {
  let rest = "";
  for await (const text of from.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.at(-1)!.length > MAX_LINE ? "" : lines.pop()!;
    for (const line of lines) print(line);
  }
  if (rest !== "") print(rest);
}

/** A log line that kubectl writes between its messages. */
const LOG_LINE = /^[IWEF]\d{4} [\d:.]+ +\d+ /;

/** Removes log lines and repeated lines. */
function essence(text: string): string {
  const lines = text.trim().split("\n").filter((line) => !LOG_LINE.test(line));
  return [...new Set(lines)].join("\n");
}
