/** Collects what a log search finds: the last lines, or the patterns of all lines. */

import type { LogLine } from "../../model/log_line.ts";
import { plainText } from "../../model/plain_text.ts";
import { errorOf } from "../../protocol/error_json.ts";
import type { Output } from "../../protocol/verbs/types.ts";
import type { LogBatch } from "../log_batch.ts";

type Answer = Output<"search_logs">;
type Pattern = NonNullable<Answer["patterns"]>[number];

/** Maximum characters of an answer, and of one line in it. */
const MAX_ANSWER = 1024 * 1024;
const MAX_LINE = 2000;

/** Maximum number of distinct patterns; lines with further ones are left out. */
const MAX_PATTERNS = 5_000;

/** Lines that differ only in numbers have the same pattern. Pure. */
export function patternOf(line: string): string {
  return plainText(line).replaceAll(/\d+(?:[.,:]\d+)*/g, "#");
}

/** Takes lines in order of time. */
export class FoundLines {
  readonly #limit: number;
  readonly #isGrouped: boolean;
  readonly #patterns = new Map<string, Pattern>();
  readonly #counts = new Map<string, number>();
  #lines: LogLine[] = [];
  #truncated = false;

  constructor(kind: "lines" | "patterns", limit: number) {
    this.#isGrouped = kind === "patterns";
    this.#limit = limit;
  }

  /** Throws the error that ended the search. */
  add({ failure, lines }: LogBatch): void {
    if (failure !== undefined) throw errorOf({ ...failure });
    for (const { line, ...rest } of lines) {
      const found = { ...rest, line: line.slice(0, MAX_LINE) };
      if (this.#isGrouped) this.#group(found);
      else this.#lines.push(found);
    }
    if (this.#lines.length <= this.#limit) return;
    this.#truncated = true;
    this.#lines = this.#lines.slice(-this.#limit);
  }

  #group(found: LogLine): void {
    const { name, stream, line, at } = found;
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    const key = `${name}/${stream} ${patternOf(line)}`;
    const known = this.#patterns.get(key);
    if (known === undefined && this.#patterns.size === MAX_PATTERNS) {
      this.#truncated = true;
      return;
    }
    const { count = 0, first_at = at } = known ?? {};
    this.#patterns.set(key, { ...found, count: count + 1, first_at });
  }

  /** `most` is the number of lines per app at which the search stops. */
  answer(most: number): Answer {
    if (!this.#isGrouped) {
      const lines = fitting(this.#lines.toReversed()).reverse();
      return { lines, truncated: this.#truncated || lines.length < this.#lines.length };
    }
    const all = [...this.#patterns.values()].sort((one, other) => other.count - one.count);
    const patterns = fitting(all.slice(0, this.#limit));
    const isCut = [...this.#counts.values()].some((count) => count >= most);
    return { patterns, truncated: this.#truncated || isCut || patterns.length < all.length };
  }
}

/** The first items that fit into an answer. */
function fitting<T extends { readonly line: string }>(items: readonly T[]): T[] {
  let length = 0;
  const end = items.findIndex(({ line }) => (length += line.length) > MAX_ANSWER);
  return end < 0 ? [...items] : items.slice(0, end);
}
