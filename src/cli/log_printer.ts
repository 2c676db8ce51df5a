/** Lines of several apps as people read them: names in one column, and what happens between the lines. */

import type { LogLine } from "../model/log_line.ts";
import { plainText } from "../model/plain_text.ts";
import type { ChangeType, ProcessChange } from "../model/process_change.ts";
import { alarming, dimmed, paintName } from "./paint.ts";
import type { Output } from "./output.ts";

/** An event of an app, here or in a daemon. */
type Happening = Pick<ProcessChange, "type" | "name" | "pid" | "restarts" | "reason">;

/** Events that are printed between the lines, and whether they are bad news. */
const PRINTED: Readonly<Partial<Record<ChangeType, boolean>>> = {
  running: false,
  stopped: false,
  crashed: true,
  errored: true,
  note: true,
};

/** The lines that an app wrote before it ended come a little later than the news of its end. */
const LINES_FIRST_MS = 400;

/** Puts names before lines. */
export class LogPrinter {
  readonly #output: Output;
  readonly #held: string[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #width = 0;

  constructor(output: Output) {
    this.#output = output;
  }

  /** Widens the column of names. */
  expect(name: string): void {
    this.#width = Math.max(this.#width, name.length);
  }

  /** A text, its name before each of its lines; standard error has another mark. */
  prefixed({ name, stream }: Pick<LogLine, "name" | "stream">, text: string): string {
    const { color } = this.#output;
    const mark = stream === "stderr" ? alarming("!", color) : "|";
    return this.#before(name, mark, text);
  }

  /** Prints an event on standard error, after the lines that were written before it. */
  tell({ type, name, pid, restarts, reason }: Happening): void {
    const isBad = PRINTED[type];
    if (isBad === undefined) return;
    const { color } = this.#output;
    const word = type !== "running" ? type : restarts > 0 ? "restarted" : "started";
    const what = type === "running" ? `${word}, pid ${pid}` : `${word}: ${plainText(reason)}`;
    const text = isBad ? alarming(what, color) : dimmed(what, color);
    this.#held.push(this.#before(name, dimmed("*", color), text));
    this.#timer ??= setTimeout(() => this.flush(), LINES_FIRST_MS);
  }

  /** Prints what is held back. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const text of this.#held.splice(0)) {
      if (!this.#output.quiet) this.#output.content(text, "stderr");
    }
  }

  #before(name: string, mark: string, text: string): string {
    this.expect(name);
    const prefix = `${paintName(name.padEnd(this.#width), name, this.#output.color)} ${mark} `;
    return prefix + text.replaceAll("\n", `\n${prefix}`);
  }
}

/** How a line looks on this output: a pipe gets it as it was written. */
export async function lineFormat(
  { terminal, color }: Output,
  { isRaw = false, isTimed = false }: { readonly isRaw?: boolean; readonly isTimed?: boolean } = {},
): Promise<(line: string) => string> {
  if (isRaw || !terminal) return (line) => line;
  const { terminalLine } = await import("./log_text.ts");
  return (line) => terminalLine(line, isTimed, color);
}
