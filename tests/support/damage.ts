/** Damages files, like a faulty disk. */

/** Flips one bit of a file. */
export function flip(path: string, bit: number): void {
  // Write in place: a sparse file keeps its holes.
  using file = Deno.openSync(path, { read: true, write: true });
  const byte = new Uint8Array(1);
  file.seekSync(bit >> 3, Deno.SeekMode.Start);
  file.readSync(byte);
  byte[0]! ^= 1 << (bit & 7);
  file.seekSync(bit >> 3, Deno.SeekMode.Start);
  file.writeSync(byte);
}
