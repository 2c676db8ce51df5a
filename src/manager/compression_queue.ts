/** Compresses archives one after the other, on a quarter of one core at most. */

import type { Archive } from "../logs/archives.ts";
import { readAt } from "../logs/read_at.ts";
import { sleep } from "../platform/clock.ts";

/** Rest after work, as a multiple of it. */
const REST = 3;

/** A queue of archives. */
export class CompressionQueue {
  #queue: Archive[] = [];
  #working: Promise<void> | undefined;
  #closed = false;

  /** Compresses an archive when its turn comes, if it still exists. */
  add(archive: Archive): void {
    if (this.#closed) return;
    this.#queue.push(archive);
    this.#working ??= this.#work().finally(() => this.#working = undefined);
  }

  /** Gives up what is not done; resolves when nothing is open any longer. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#queue = [];
    await this.#working;
  }

  async #work(): Promise<void> {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      // An archive that stays as it was is readable all the same: the next supervisor tries again.
      await compressArchive(next, (workedMs) => this.#rest(workedMs)).catch(() => {});
    }
  }

  #rest(workedMs: number): Promise<void> {
    if (this.#closed) return Promise.reject(new Error("Closed"));
    return sleep(workedMs * REST);
  }
}

/** Compresses an archive in the background; `pause` is awaited between its pieces. */
export async function compressArchive(
  { path }: Archive,
  pause: (workedMs: number) => Promise<void>,
): Promise<void> {
  const temporary = `${path}.gz.tmp`;
  try {
    const from = await Deno.open(path);
    const to = await Deno.open(temporary, {
      write: true,
      create: true,
      truncate: true,
      mode: 0o600,
    });
    await paced(from, pause).pipeThrough(new CompressionStream("gzip")).pipeTo(to.writable);
    await sync(temporary);
    // In one go: an archive that was flushed meanwhile must not come back.
    Deno.statSync(path);
    Deno.renameSync(temporary, `${path}.gz`);
    Deno.removeSync(path);
  } catch (error) {
    await Deno.remove(temporary).catch(() => {});
    // Pruned or flushed while it was being compressed.
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

const PIECE_BYTES = 64 * 1024;

/** The bytes of a file, with pauses as long as the reader's work asks for. Closes the file. */
function paced(
  file: Deno.FsFile,
  pause: (workedMs: number) => Promise<void>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let position = 0;
  let givenAt = performance.now();
  return new ReadableStream({
    async pull(controller) {
      await pause(performance.now() - givenAt);
      const buffer = new Uint8Array(PIECE_BYTES);
      const count = await readAt(file, position, buffer);
      position += count;
      if (count === 0) {
        file.close();
        return controller.close();
      }
      givenAt = performance.now();
      controller.enqueue(buffer.subarray(0, count));
    },
    cancel: () => file.close(),
  }, { highWaterMark: 0 });
}

async function sync(path: string): Promise<void> {
  using file = await Deno.open(path);
  await file.syncData();
}
