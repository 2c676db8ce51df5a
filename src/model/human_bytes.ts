/** Sizes for people. */

/**
 * Formats a size in the units of a configuration: `48 MB`, `1.2 GB`. Values below `decimalBelow`
 * have a decimal, except bytes.
 */
export function humanBytes(bytes: number, decimalBelow = 9.95): string {
  let value = bytes;
  let unit = 0;
  for (; value >= 999.5 && unit < 4; unit++) value /= 1024;
  const digits = unit > 0 && value < decimalBelow ? 1 : 0;
  return `${value.toFixed(digits)} ${["B", "KB", "MB", "GB", "TB"][unit]}`;
}
