/** Archives made small, without haste: an app's output is worth more than the room it takes. */

import type { Archive } from "./archives.ts";
import { readAt } from "./read_at.ts";

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
