/** Formats numbers for people. */

const UNITS: readonly (readonly [string, number])[] = [
  ["d", 86_400],
  ["h", 3600],
  ["m", 60],
  ["s", 1],
];

/** A duration in its two largest units: `5d4h`, `2h13m`, `7s`. */
export function humanDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const first = UNITS.findIndex(([, size]) => seconds >= size);
  if (first < 0) return "0s";
  const [unit, size] = UNITS[first]!;
  const [nextUnit, nextSize] = UNITS[first + 1] ?? ["", 1];
  const rest = nextUnit === "" ? 0 : Math.floor((seconds % size) / nextSize);
  return `${Math.floor(seconds / size)}${unit}${rest === 0 ? "" : `${rest}${nextUnit}`}`;
}

/** `1 process`, `3 processes`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
