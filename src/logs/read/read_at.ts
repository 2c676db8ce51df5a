/** Reads log files by position, in blocks. */

/** Bytes read from a log at a time. */
export const BLOCK_BYTES: number = 64 * 1024;

/** Unused blocks. There are many readers, but few read at the same time. */
const spare: Uint8Array<ArrayBuffer>[] = [];
const MAX_SPARE = 4;

/** Returns a block to read into. Give it back with `giveBlock()`. */
export function takeBlock(): Uint8Array<ArrayBuffer> {
  return spare.pop() ?? new Uint8Array(BLOCK_BYTES);
}

/** Takes back a block that is no longer used. */
export function giveBlock(block: Uint8Array<ArrayBuffer>): void {
  if (spare.length < MAX_SPARE) spare.push(block);
}

/** Reads once at a position. Returns the number of bytes, 0 at the end. */
export function readAt(file: Deno.FsFile, position: number, into: Uint8Array): Promise<number> {
  file.seekSync(position, Deno.SeekMode.Start);
  return file.read(into).then((count) => count ?? 0);
}

/** Reads until `into` is full or the file ends. Returns the filled part. */
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
