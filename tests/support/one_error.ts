/** How the program says that something is wrong. */

import { assert, assertEquals } from "@std/assert";

/** One message, no stack and no internals. */
export function assertOneError(stderr: string, shown: string): void {
  const errors = stderr.match(/^(error: |✘ )/gm) ?? [];
  assertEquals(errors.length, 1, shown);
  assert(!/\bat (async )?(file|ext):|\.ts:\d+/.test(stderr), shown);
}
