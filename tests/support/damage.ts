/** Damage to files, as a disk does it. */

/** Flips one bit of a file. */
export function flip(path: string, bit: number): void {
  // In its place: a file with holes keeps them.
  using file = Deno.openSync(path, { read: true, write: true });
  const byte = new Uint8Array(1);
  file.seekSync(bit >> 3, Deno.SeekMode.Start);
  file.readSync(byte);
  byte[0]! ^= 1 << (bit & 7);
  file.seekSync(bit >> 3, Deno.SeekMode.Start);
  file.writeSync(byte);
}
