/** Checks error output of the program. */

import { assert, assertEquals } from "@std/assert";

/** Asserts that there is one message, without a stack or other internals. */
export function assertOneError(stderr: string, shown: string): void {
  const errors = stderr.match(/^(error: |✘ )/gm) ?? [];
  assertEquals(errors.length, 1, shown);
  assert(!/\bat (async )?(file|ext):|\.ts:\d+/.test(stderr), shown);
}
