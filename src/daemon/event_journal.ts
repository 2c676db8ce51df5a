/** What happened to the apps, kept for who asks the next morning. */

import type { ChangeType, ProcessChange } from "../model/process_change.ts";
import { LineSplitter } from "../logs/line_splitter.ts";
import { type ChangeJson, changeJson } from "../protocol/change_json.ts";
import { CappedFile } from "./capped_file.ts";

/** Of each of two files: some 20,000 pieces of news. */
const MAX_BYTES = 4 * 1024 * 1024;

/** On the way to something else, which is told as well. */
const PASSING: ReadonlySet<ChangeType> = new Set(["starting", "stopping", "waiting"]);

/** Which of the news are wanted. */
export interface JournalQuery {
  /** Milliseconds since the epoch, both inclusive. */
  readonly since: number;
  readonly until: number;
  readonly wanted: (name: string) => boolean;
}

/** Writes the news down as they happen, and reads them again. Made before the home is locked. */
export class EventJournal implements Disposable {
  readonly #path: string;
  readonly #file: CappedFile;

  constructor(path: string) {
    this.#path = path;
    this.#file = new CappedFile(path, MAX_BYTES);
  }

  /** Writes one piece of news down. The first one opens the file. Never throws. */
  readonly record = (change: ProcessChange): void => {
    if (!PASSING.has(change.type)) this.#file.append(changeJson(change));
  };

  /** What was written down, the oldest first. */
  read(query: JournalQuery): ReadableStream<ChangeJson> {
    return ReadableStream.from(this.#matching(query));
  }

  async *#matching({ since, until, wanted }: JournalQuery): AsyncGenerator<ChangeJson> {
    for (const path of [`${this.#path}.1`, this.#path]) {
      for await (const line of linesOf(path)) {
        const change = parsed(line);
        if (change === undefined || !wanted(change.name)) continue;
        const at = Date.parse(change.at);
        if (at >= since && at <= until) yield change;
      }
    }
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }
}

async function* linesOf(path: string): AsyncGenerator<string> {
  let file: Deno.FsFile;
  try {
    file = await Deno.open(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    throw error;
  }
  const splitter = new LineSplitter();
  const lines: string[] = [];
  const keep = (line: string) => void lines.push(line);
  for await (const chunk of file.readable) {
    splitter.add(chunk, 0, keep);
    yield* lines.splice(0);
  }
  splitter.end(0, keep);
  yield* lines;
}

/** A line that a full disk cut off, or that was damaged, is passed over. */
function parsed(line: string): ChangeJson | undefined {
  try {
    const change = JSON.parse(line);
    return typeof change.name === "string" && typeof change.at === "string" ? change : undefined;
  } catch {
    return undefined;
  }
}
