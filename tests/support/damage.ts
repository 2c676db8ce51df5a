/** Damage to files, as a disk does it. */

/** Flips one bit of a file. */
export function flip(path: string, bit: number): void {
  const bytes = Deno.readFileSync(path);
  bytes[bit >> 3]! ^= 1 << (bit & 7);
  Deno.writeFileSync(path, bytes);
}
