/** Prints log lines of several apps with names in one column, and events between the lines. */

import type { LogLine } from "../model/log_line.ts";
import { plainText } from "../model/plain_text.ts";
import type { ChangeType, ProcessChange } from "../model/process_info.ts";
import type { Output } from "./output.ts";
import { paintName, styleOf } from "./paint.ts";

/** An event of an app, of `run` or of a daemon. */
type Happening = Pick<ProcessChange, "type" | "name" | "pid" | "reason">;

/** Events that are printed between the lines; true for failures. */
const PRINTED: Readonly<Partial<Record<ChangeType, boolean>>> = {
  running: false,
  restarted: false,
  stopped: false,
  crashed: true,
  errored: true,
  note: true,
};

/** Delay of events: the last lines of an app arrive a little after the event of its end. */
const LINES_FIRST_MS = 400;

/** Puts names before lines. */
export class LogPrinter {
  readonly #output: Output;
  readonly #onFailure: ((error: unknown) => void) | undefined;
  readonly #held: string[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #width = 0;

  /** `onFailure` is called when delayed events cannot be printed. */
  constructor(output: Output, onFailure?: (error: unknown) => void) {
    this.#output = output;
    this.#onFailure = onFailure;
  }

  /** Widens the column of names. */
  expect(name: string): void {
    this.#width = Math.max(this.#width, name.length);
  }

  /** Prefixes each line of a text with the app's name and its mark. */
  prefixed(name: string, mark: string, text: string): string {
    return this.#before(name, mark === " " ? "|" : mark, text);
  }

  /** Prints an event to stderr after a delay, so that earlier lines come first. */
  notify({ type, name, pid, reason }: Happening): void {
    const isBad = PRINTED[type];
    if (isBad === undefined) return;
    const { bad, dim } = styleOf(this.#output.color);
    const said = `${type}: ${plainText(reason)}`;
    const what = type === "running"
      ? `started, pid ${pid}`
      : type === "restarted"
      ? `${said}, pid ${pid}`
      : said;
    this.#held.push(this.#before(name, dim("*"), isBad ? bad(what) : dim(what)));
    this.#timer ??= setTimeout(() => this.#flushLate(), LINES_FIRST_MS);
  }

  #flushLate(): void {
    try {
      this.flush();
    } catch (error) {
      if (this.#onFailure === undefined) throw error;
      this.#onFailure(error);
    }
  }

  /** Prints the delayed events now. */
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

interface MarkedText {
  readonly text: string;
  /** See `markOf()`. */
  readonly mark: string;
}

/**
 * Formats lines for a terminal, as `readableText()` does, with the stack trace below. With `isRaw`,
 * and for a pipe, their text is unchanged, and their level is read only if the mark is. `isTimed`:
 * the time is printed before them.
 */
export async function lineFormat(
  { terminal, color }: Pick<Output, "terminal" | "color">,
  { isRaw = false, isTimed = false }: { readonly isRaw?: boolean; readonly isTimed?: boolean } = {},
): Promise<(line: LogLine) => MarkedText> {
  const { logText } = await import("./log_text.ts");
  const drawn = (line: LogLine) => logText(line, { color, isTimed });
  if (isRaw || !terminal) {
    return (line) => ({
      text: line.line,
      get mark() {
        return drawn(line).mark;
      },
    });
  }
  return (line) => {
    const { text, stack, mark } = drawn(line);
    return { text: [text, ...stack].join("\n"), mark };
  };
}
