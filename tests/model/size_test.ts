/** Sizes in the forms that people write. */

import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { ProcsupError, quote } from "../../src/model/errors.ts";
import { formatSize, parseSize } from "../../src/model/size.ts";

const SIZES: readonly [string | number, number][] = [
  [0, 0],
  ["512B", 512],
  [2_000_000, 2_000_000],
  ["2000000", 2_000_000],
  ["1b", 1],
  ["1k", 1024],
  ["1KB", 1024],
  ["1KiB", 1024],
  ["512MB", 512 * 1024 ** 2],
  ["512 mb", 512 * 1024 ** 2],
  ["1.5GiB", 1.5 * 1024 ** 3],
  [" 2g ", 2 * 1024 ** 3],
];

for (const [text, bytes] of SIZES) {
  Deno.test(`parseSize() reads ${JSON.stringify(text)} as bytes`, () => {
    assertEquals(parseSize(text), bytes);
  });
}

Deno.test("parseSize() rejects an invalid size and quotes it", () => {
  for (
    const value of [
      "",
      "MB",
      "-1MB",
      "1TB",
      "1constructor",
      "1.MB",
      "1e3",
      "1 000",
      NaN,
      -1,
      Infinity,
      "0x10",
      300,
      "300",
    ]
  ) {
    const error = assertThrows(() => parseSize(value), ProcsupError, quote(value));
    assertEquals(error.code, "bad_request");
  }
});

Deno.test("parseSize() rejects a size that is too large", () => {
  for (const value of [`${"9".repeat(400)}GB`, "99999999999999999999999999GB", 1e20]) {
    assertThrows(() => parseSize(value), ProcsupError, "expected at most 8388608GB");
  }
  assertEquals(formatSize(parseSize("8388608GB")), "8388608GB");
});

Deno.test("formatSize() uses the largest unit that divides the size", () => {
  assertEquals([0, 1023, 1024, 1536, 512 * 1024 ** 2, 1024 ** 3].map(formatSize), [
    0,
    "1023B",
    "1KB",
    "1536B",
    "512MB",
    "1GB",
  ]);
});

Deno.test("formatSize() round-trips through parseSize()", () => {
  fc.assert(fc.property(fc.nat(2 ** 40), (bytes) => {
    assertEquals(parseSize(formatSize(bytes)), bytes);
  }));
});
