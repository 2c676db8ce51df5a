/** Runs the clients of engines: `docker`, `kubectl` and `systemctl`, found on PATH. */

import { ProcsupError } from "../model/errors.ts";

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
  async told(args: readonly string[], input?: string): Promise<string> {
    const { code, stdout, stderr } = await this.ask(args, input);
    if (code === 0) return stdout;
    const why = essence(stderr) || stdout.trim() || `exit code ${code}`;
    throw new ProcsupError("start_failed", `"${this.#program} ${args[0]}" failed: ${why}`, {
      hint: "procsup help beyond",
    });
  }

  /** Runs the program; parses each line of stdout as JSON. */
  async jsonLines<T>(args: readonly string[]): Promise<T[]> {
    const lines = (await this.told(args)).split("\n").filter((line) => line !== "");
    return lines.map((line) => JSON.parse(line) as T);
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

/** A log line that kubectl writes between its messages. */
const LOG_LINE = /^[IWEF]\d{4} [\d:.]+ +\d+ /;

/** Removes log lines and repeated lines. */
function essence(text: string): string {
  const lines = text.trim().split("\n").filter((line) => !LOG_LINE.test(line));
  return [...new Set(lines)].join("\n");
}
