/** Expressions that somebody gave us: none keeps the daemon busy. */

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { isPlain, linePattern } from "../../src/logs/line_pattern.ts";
import { ProcsupError } from "../../src/model/errors.ts";

const GREP = { field: "grep", code: "bad_request" } as const;

async function matches(source: string, line: string): Promise<boolean> {
  const pattern = linePattern(source, GREP);
  await pattern.ready();
  return pattern.test(line);
}

Deno.test("isPlain() holds for what JavaScript's engine finds in one pass", () => {
  for (const source of ["ERROR|WARN", "\\[api\\]", "^[a-z*]b$", "\\(a\\)", "\\*", "a.b", ""]) {
    assert(isPlain(source), source);
  }
  for (const source of ["\\d+", "(a)", "x{2}", "a\\1", "[a]?", "a*", "\\k<x>"]) {
    assert(!isPlain(source), source);
  }
});

Deno.test("linePattern() answers where JavaScript's engine would take years", async () => {
  const line = `${"a".repeat(50_000)}!`;
  for (
    const source of ["(a+)+$", "^(a|a)*$", "(a*)*b", "a*a*a*a*b", "([a-z]+)*\\d", "x*y", ".*.*=.*"]
  ) {
    assertEquals(await matches(source, line), false, source);
  }
});

Deno.test("linePattern() means what JavaScript means by an expression", async () => {
  const line = "2026-11-21 GET /api/v1/items/42 took 17ms für ä";
  for (
    const [source, expected] of [
      ["took \\d+ms", true],
      ["^\\d{4}-\\d\\d-\\d\\d (GET|POST) ", true],
      ["(?:items|users)/\\d+\\b", true],
      ["(?<verb>PUT)", false],
      ["\\u0066ür", true],
      ["[^\\x00-\\x7f]+$", true],
      ["^.*\\s+ä$", true],
      ["\\/api\\/v[12]+", true],
    ] as const
  ) {
    assertEquals([source, await matches(source, line)], [source, expected]);
    assertEquals([source, new RegExp(source).test(line)], [source, expected]);
  }
});

Deno.test("linePattern() refuses what may take for ever, naming the expression", async () => {
  for (const source of ["(?=a)b", "(?<!x)y", "(a)\\1"]) {
    const error = await assertRejects(() => matches(source, ""), ProcsupError);
    assertEquals(error.code, "bad_request");
    assert(error.message.startsWith(`Invalid "grep" "${source}": look-around`), error.message);
  }
  await assertRejects(() => matches("(a{1,30}){1,30}", ""), ProcsupError, "it is too large");
  assertThrows(() => linePattern("(", GREP), ProcsupError, 'Invalid "grep" "("');
  // One of the program that we are a part of is its own business.
  const own = linePattern(/(?=a)./gy, GREP);
  assertEquals([own.test("ba"), own.test("ba")], [true, true]);
});
