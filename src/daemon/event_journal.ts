/** What happened to the apps, kept for who asks the next morning. */

import type { ChangeType, ProcessChange } from "../model/process_change.ts";
import { BLOCK_BYTES, fillAt, openIfAny } from "../logs/read_at.ts";
import { type ChangeJson, changeJson } from "../protocol/change_json.ts";
import { CappedFile } from "./capped_file.ts";

/** Of each of two files: some 20,000 pieces of news. */
const MAX_BYTES = 4 * 1024 * 1024;

/** On the way to something else, which is told as well. */
const PASSING: ReadonlySet<ChangeType> = new Set(["starting", "stopping", "waiting"]);

/** So far the clock may have been set back: an older event may stand behind a newer one. */
const DAY_MS = 24 * 3_600_000;

/** Which events are wanted. */
export interface JournalQuery {
  /** Milliseconds since the epoch, both inclusive. */
  readonly since: number;
  readonly until: number;
  readonly wanted: (event: ChangeJson) => boolean;
  /** The place of an event: only what was written before it. */
  readonly before?: string | undefined;
}

/** An event, and its place in the journal. */
interface JournalEntry {
  readonly event: ChangeJson;
  readonly place: string;
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

  /** The events on record, the newest first. Reads no more of the files than it is asked for. */
  async *newest({ since, until, wanted, before }: JournalQuery): AsyncGenerator<JournalEntry> {
    using newer = await openIfAny(this.#path);
    using older = await openIfAny(`${this.#path}.1`);
    const [soughtId, soughtStart] = before?.split(".") ?? [];
    let isSought = before !== undefined;
    const seen = new Set<string>();
    for (const file of [newer, older]) {
      if (file === undefined) continue;
      const { ino, birthtime, size } = await file.stat();
      const id = `${ino}-${birthtime?.getTime() ?? 0}`;
      // Begun anew between the two openings, it is the same file twice.
      if (seen.has(id) || (isSought && id !== soughtId)) continue;
      seen.add(id);
      const end = isSought ? Math.min(Number(soughtStart), size) : size;
      isSought = false;
      for await (const { text, start } of linesBack(file, end)) {
        const event = parsed(text);
        if (event === undefined) continue;
        const at = Date.parse(event.at);
        if (at < since - DAY_MS) return;
        if (at < since || at > until || !wanted(event)) continue;
        yield { event, place: `${id}.${start}` };
      }
    }
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }
}

const NEWLINE = 10;

/** The lines of the first `size` bytes of a file, the last one first, and where each begins. */
async function* linesBack(
  file: Deno.FsFile,
  size: number,
): AsyncGenerator<{ text: string; start: number }> {
  const decoder = new TextDecoder();
  let rest: Uint8Array = new Uint8Array();
  for (let end = size; end > 0;) {
    const from = Math.max(0, end - BLOCK_BYTES);
    const bytes = new Uint8Array(end - from + rest.length);
    await fillAt(file, from, bytes.subarray(0, end - from));
    bytes.set(rest, end - from);
    let to = bytes.length;
    while (to > 0) {
      const at = bytes.lastIndexOf(NEWLINE, to - 1);
      if (at < 0) break;
      yield { text: decoder.decode(bytes.subarray(at + 1, to)), start: from + at + 1 };
      to = at;
    }
    rest = bytes.subarray(0, to);
    end = from;
  }
  yield { text: decoder.decode(rest), start: 0 };
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
