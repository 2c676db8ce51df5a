/** Untrusted expressions, which must not block the daemon. */

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { type LinePattern, linePattern, literalOf } from "../../src/logs/read/line_pattern.ts";
import { ProcsupError } from "../../src/model/errors.ts";

const GREP = { field: "grep", code: "bad_request" } as const;

/** True if it matches, and how often it paused. */
function scan(pattern: LinePattern, line: string): [found: boolean, pauses: number] {
  const steps = pattern.scan(line);
  for (let pauses = 0;; pauses++) {
    const { done, value } = steps.next();
    if (done) return [value, pauses];
  }
}

async function matches(source: string, line: string): Promise<boolean> {
  const pattern = linePattern(source, GREP);
  await pattern.ready();
  return scan(pattern, line)[0];
}

Deno.test("literalOf() returns plain text only", () => {
  for (
    const [source, text] of [["a b", "a b"], ["\\[api\\]", "[api]"], ["a\\.b\\/", "a.b/"], ["", ""]]
  ) {
    assertEquals(literalOf(source!), text);
  }
  for (
    const source of ["a|b", "a.b", "^a", "a$", "\\d", "[a]", "a*", "(a)", "a{2}", "\\", "\\u0066"]
  ) {
    assertEquals(literalOf(source), undefined, source);
  }
});

Deno.test("linePattern() takes linear time and pauses", async () => {
  let seed = 7;
  const next = () => (seed = (seed * 1103515245 + 12345) % 2 ** 31) >> 16;
  const line = Array.from({ length: 2_000 }, () => "abcxyz "[next() % 7]).join("");
  for (
    const source of [
      ...[
        "(a+)+$",
        "^([a-z ]|[a-z ])*$1",
        "(a*)*Q",
        "a*a*a*a*Q",
        "([a-z]+)*\\d",
        "x*y*Q",
        ".*.*=.*",
      ],
      ...["[a-z].{280}[A-Z]", "([ax]|[by]).{100}[0-9].{90}[0-9]", "[0-9]|[ax].{12}[5-9]"],
      "[a-c][^x]|[a-c][^y]".repeat(20) + "Q",
    ]
  ) {
    const pattern = linePattern(source, GREP);
    await pattern.ready();
    const [, once] = scan(pattern, line);
    const [, eight] = scan(pattern, line.repeat(8));
    // Each pause comes after some 16,000 units of work.
    assert(eight <= 10 * once + 10, `${source}: ${once} pauses, then ${eight}`);
  }
  const hostile = linePattern("[a-z].{280}[A-Z]", GREP);
  await hostile.ready();
  assert(scan(hostile, line)[1] > 50);
});

Deno.test("linePattern() agrees with JavaScript's engine", async () => {
  const [atoms, ends] = [
    ["a", "b", ".", "\\d", "[ab]", "[^a]", "\\b", "^", "$", "(?:ab|€)", "😀"],
    ["", "*", "?", "{2}"],
  ];
  let seed = 5;
  const pick = <T>(from: readonly T[]) =>
    from[Math.floor((seed = (seed * 1103515245 + 12345) % 2 ** 31) / 2 ** 31 * from.length)]!;
  for (let round = 0; round < 500; round++) {
    const source = Array.from({ length: 4 }, () => {
      const atom = pick(atoms);
      return atom + (/^[\^$]|\\b/.test(atom) ? "" : pick(ends)) + pick(["", "", "", "|"]);
    }).join("");
    const pattern = linePattern(source, GREP);
    await pattern.ready();
    for (let i = 0; i < 5; i++) {
      const line = Array.from({ length: 6 }, () => pick(["a", "b", "1", " ", "€", "😀"])).join("");
      assertEquals([source, line, scan(pattern, line)[0]], [
        source,
        line,
        new RegExp(source, "u").test(line),
      ]);
    }
  }
});

Deno.test("linePattern() gives expressions the meaning that they have in JavaScript", async () => {
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

Deno.test("linePattern() rejects an expression that may take exponential time, and names it", async () => {
  for (const source of ["(?=a)b", "(?<!x)y", "(a)\\1"]) {
    const error = await assertRejects(() => matches(source, ""), ProcsupError);
    assertEquals(error.code, "bad_request");
    assert(error.message.startsWith(`Invalid "grep" "${source}": look-around`), error.message);
  }
  await assertRejects(() => matches("(a{1,30}){1,30}", ""), ProcsupError, "it is too large");
  assertThrows(() => linePattern("(", GREP), ProcsupError, 'Invalid "grep" "("');
  assertThrows(
    () => linePattern("a|".repeat(501), GREP),
    ProcsupError,
    "longer than 1000 characters",
  );
  // The host program's own expressions are not checked.
  const own = linePattern(/(?=a)./gy, GREP);
  assertEquals([scan(own, "ba"), scan(own, "ba")], [[true, 0], [true, 0]]);
});
