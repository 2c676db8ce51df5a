/** Compresses archives one after the other, using at most a quarter of a core. */

import type { Archive } from "../write/archives.ts";
import { takeReaders } from "../write/copy_head.ts";
import { refuseForeignFolder } from "../write/log_position.ts";
import { readAt } from "../read/read_at.ts";
import { sleep } from "../../platform/clock.ts";

/** Pause after work, as a multiple of its duration. */
const REST = 3;

export class CompressionQueue {
  #queue: Archive[] = [];
  #working: Promise<void> | undefined;
  #closed = false;

  /** Adds an archive. If it was removed meanwhile, it is skipped. */
  add(archive: Archive): void {
    if (this.#closed) return;
    this.#queue.push(archive);
    this.#working ??= this.#work().finally(() => this.#working = undefined);
  }

  /** Drops the rest of the queue. Resolves when all files are closed. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#queue = [];
    await this.#working;
  }

  async #work(): Promise<void> {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      // An uncompressed archive is still readable: the next supervisor tries again.
      await compressArchive(next, (workedMs) => this.#rest(workedMs)).catch(() => {});
    }
  }

  #rest(workedMs: number): Promise<void> {
    if (this.#closed) return Promise.reject(new Error("Closed"));
    return sleep(workedMs * REST);
  }
}

/** Compresses an archive. Awaits `pause` between its pieces. */
export async function compressArchive(
  { path }: Archive,
  pause: (workedMs: number) => Promise<void>,
): Promise<void> {
  refuseForeignFolder(path);
  const temporary = `${path}.gz.tmp`;
  try {
    using from = await Deno.open(path);
    const to = await Deno.open(temporary, {
      write: true,
      create: true,
      truncate: true,
      mode: 0o600,
    });
    takeReaders(temporary, await from.stat());
    await paced(from, pause).pipeThrough(new CompressionStream("gzip")).pipeTo(to.writable);
    await sync(temporary);
    // No await in between: an archive that was flushed meanwhile must not come back.
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

/** Streams a file, with pauses in proportion to the reader's work. */
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
      if (count === 0) return controller.close();
      givenAt = performance.now();
      controller.enqueue(buffer.subarray(0, count));
    },
  }, { highWaterMark: 0 });
}

async function sync(path: string): Promise<void> {
  using file = await Deno.open(path);
  await file.syncData();
}
