/** Draws lines on the terminal, and only those that changed. */

import { textWidth } from "../text_width.ts";

/** Terminals that know it show all of a drawing at once; the others ignore it. */
const [BEGIN, END] = ["\x1b[?2026h", "\x1b[?2026l"];

/** What to write so that a screen that shows `before` shows `after`; `""` when it does. Pure. */
export function difference(
  before: readonly string[],
  after: readonly string[],
  columns: number,
): string {
  let text = "";
  for (let row = 0; row < Math.max(before.length, after.length); row++) {
    const line = after[row] ?? "";
    if (line === before[row]) continue;
    // A line that fills its row leaves the cursor on its last character: erasing would take that.
    const erase = textWidth(line) < columns ? "\x1b[0m\x1b[K" : "";
    text += `\x1b[${row + 1};1H\x1b[0m${line}${erase}`;
  }
  return text === "" ? "" : BEGIN + text + END;
}

/** A screen that remembers what it shows. */
export class Screen {
  readonly #write: (text: string) => Promise<void>;
  #shown: readonly string[] = [];
  #next: { lines: readonly string[]; columns: number } | undefined;
  #writing: Promise<void> | undefined;

  /** `write` resolves when the terminal has taken the text, however long that takes it. */
  constructor(write: (text: string) => Promise<void>) {
    this.#write = write;
  }

  /** Resolves when nothing is being written. */
  get idle(): Promise<void> {
    return this.#writing ?? Promise.resolve();
  }

  /** Shows the lines; those of a drawing that a slow terminal did not get to are left out. */
  draw(lines: readonly string[], columns: number): void {
    this.#next = { lines, columns };
    this.#writing ??= this.#pour().finally(() => this.#writing = undefined);
  }

  /** Nothing is known of what the terminal shows. */
  forget(): void {
    this.#shown = [];
  }

  async #pour(): Promise<void> {
    while (this.#next !== undefined) {
      const { lines, columns } = this.#next;
      this.#next = undefined;
      const clear = this.#shown.length === 0 ? "\x1b[0m\x1b[2J" : "";
      const text = clear + difference(this.#shown, lines, columns);
      this.#shown = lines;
      if (text !== "") await this.#write(text);
    }
  }
}
