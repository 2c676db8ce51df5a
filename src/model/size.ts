/** Parses and formats sizes: `512MB`, `1.5GiB`, or a number of bytes; sizes for people: `1.2 GB`. */

import { ProcsupError, quote } from "./errors.ts";

const UNIT_BYTES: Readonly<Record<string, number>> = {
  "": 1,
  b: 1,
  k: 1024,
  kb: 1024,
  kib: 1024,
  m: 1024 ** 2,
  mb: 1024 ** 2,
  mib: 1024 ** 2,
  g: 1024 ** 3,
  gb: 1024 ** 3,
  gib: 1024 ** 3,
};

/** A smaller number without a unit is refused: `300` was probably meant as 300 MB. */
const BARE_BYTES = 1024 ** 2;

/** Larger numbers of bytes are not exact. */
const MAX_BYTES = 2 ** 53;

/** Parses a size to bytes. K, M and G are powers of 1024. Throws `bad_request`. */
export function parseSize(value: string | number): number {
  const problem = sizeProblem(value);
  if (problem === undefined) return read(value)!.bytes;
  throw new ProcsupError("bad_request", `Invalid size ${quote(value)}: ${problem}`);
}

/** Describes why a size is invalid and what is expected; undefined if it is valid. */
export function sizeProblem(value: string | number): string | undefined {
  const size = read(value);
  if (size === undefined) return 'expected bytes, or a number with a unit, such as "512MB"';
  const { digits, unit, bytes } = size;
  if (bytes > MAX_BYTES) return `expected at most ${formatSize(MAX_BYTES)}`;
  if (unit !== "" || bytes === 0 || bytes >= BARE_BYTES) return undefined;
  return `a size under 1 MB needs a unit, such as "${digits}MB"`;
}

function read(value: string | number) {
  const [, digits, unit = ""] = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(String(value).trim()) ?? [];
  const name = unit.toLowerCase();
  const factor = Object.hasOwn(UNIT_BYTES, name) ? UNIT_BYTES[name] : undefined;
  if (digits === undefined || factor === undefined) return undefined;
  return { digits, unit, bytes: Math.round(Number(digits) * factor) };
}

/** A size in the largest unit that divides it: `536870912` → `"512MB"`. */
export function formatSize(bytes: number): string | number {
  for (const [unit, factor] of [["GB", 1024 ** 3], ["MB", 1024 ** 2], ["KB", 1024]] as const) {
    if (bytes >= factor && bytes % factor === 0) return `${bytes / factor}${unit}`;
  }
  return bytes === 0 || bytes >= BARE_BYTES ? bytes : `${bytes}B`;
}

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
