/** Keeps past events of the apps. */

import { ifPossible } from "../model/errors.ts";
import type { ChangeType, ProcessChange } from "../model/process_info.ts";
import { NEWLINE } from "../logs/read/line_splitter.ts";
import { BLOCK_BYTES, fillAt } from "../logs/read/read_at.ts";
import { ifAnyAsync } from "../platform/files/stat.ts";
import { type ChangeJson, changeJson } from "../protocol/process_json.ts";
import { CappedFile } from "./capped_file.ts";

/** Size of each of the two files: about 20,000 events. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Intermediate states, which are not kept: the state that follows is. */
const PASSING: ReadonlySet<ChangeType> = new Set(["starting", "stopping", "waiting"]);

/** Reading stops at an event this much older than `since`: a clock set back changes their order. */
const DAY_MS = 24 * 3_600_000;

interface JournalQuery {
  /** Milliseconds since the epoch, both inclusive. */
  readonly since: number;
  readonly until: number;
  readonly wanted: (event: ChangeJson) => boolean;
  /** Position of an event: only earlier ones are read. */
  readonly before?: string | undefined;
}

/** Records events and reads them back. Create it before the home is locked. */
export class EventJournal implements Disposable {
  readonly #path: string;
  readonly #file: CappedFile;

  constructor(path: string) {
    this.#path = path;
    this.#file = new CappedFile(path, MAX_BYTES);
  }

  /** Records an event. The first one opens the file. Never throws. */
  readonly record = (change: ProcessChange): void => {
    if (!PASSING.has(change.type)) this.#file.append(changeJson(change));
  };

  /** Recorded events, the newest first. Reads the files only as far as needed. */
  async *newest({ since, until, wanted, before }: JournalQuery) {
    using newer = await ifAnyAsync(() => Deno.open(this.#path));
    using older = await ifAnyAsync(() => Deno.open(`${this.#path}.1`));
    const [soughtId, soughtStart] = before?.split(".") ?? [];
    let isSought = before !== undefined;
    const seen = new Set<string>();
    for (const file of [newer, older]) {
      if (file === undefined) continue;
      const { ino, birthtime, size } = await file.stat();
      const id = `${ino}-${birthtime?.getTime() ?? 0}`;
      // The same file twice: it was rotated between the two openings.
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

/** The lines in the first `size` bytes of a file and their positions, the last one first. */
async function* linesBack(file: Deno.FsFile, size: number) {
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

/** Skips lines that are damaged, or were cut off by a full disk. */
function parsed(line: string): ChangeJson | undefined {
  const change = ifPossible(() => JSON.parse(line));
  return typeof change?.name === "string" && typeof change.at === "string" ? change : undefined;
}
