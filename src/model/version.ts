/** Compares versions of three numbers. */

/** Whether `one` is newer than `other`. Suffixes such as `-rc.1` do not count. */
export function isNewer(one: string, other: string): boolean {
  const [a, b] = [numbers(one), numbers(other)];
  const at = a.findIndex((number, index) => number !== b[index]);
  return at >= 0 && a[at]! > b[at]!;
}

function numbers(version: string): readonly number[] {
  const [, ...found] = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?/.exec(version) ?? [];
  return [0, 1, 2].map((index) => Number(found[index] ?? 0));
}
