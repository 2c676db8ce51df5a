/** Reading log files by position, in blocks. */

/** Bytes read from a log at a time. */
export const BLOCK_BYTES: number = 64 * 1024;

/** Reads once at a position; how many bytes there were, 0 at the end. */
export function readAt(file: Deno.FsFile, position: number, into: Uint8Array): Promise<number> {
  file.seekSync(position, Deno.SeekMode.Start);
  return file.read(into).then((count) => count ?? 0);
}

/** Reads until `into` is full or the file ends; the part that was filled. */
export async function fillAt(
  file: Deno.FsFile,
  position: number,
  into: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> {
  let filled = 0;
  while (filled < into.length) {
    const count = await readAt(file, position + filled, into.subarray(filled));
    if (count === 0) break;
    filled += count;
  }
  return into.subarray(0, filled);
}

/** Opens a file for reading, or returns undefined when there is none. */
export async function openIfAny(path: string): Promise<Deno.FsFile | undefined> {
  try {
    return await Deno.open(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
