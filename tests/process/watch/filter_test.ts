/** Ignore globs. */

import { assertEquals, assertThrows } from "@std/assert";
import { ProcsupError } from "../../../src/model/errors.ts";
import { ignoreTest } from "../../../src/process/watch/tree.ts";

const GLOBS: readonly [string, readonly string[], readonly string[]][] = [
  ["*.log", ["app.log", "a/b/app.log", "x.log/y"], ["app.logs", "log"]],
  ["tmp", ["tmp", "tmp/x", "a/tmp/x"], ["tmpx", "xtmp"]],
  ["tmp/", ["tmp", "tmp/x"], ["tmpx"]],
  ["tmp/**", ["tmp/x", "a/tmp/x"], ["tmpx"]],
  ["/tmp", ["tmp", "tmp/x"], ["a/tmp"]],
  ["./tmp", ["tmp/x"], ["a/tmp"]],
  ["src/gen/*.ts", ["src/gen/a.ts"], ["src/gen/x/a.ts", "a/src/gen/a.ts", "src/gen/a.js"]],
  ["src/**/*.css", ["src/a.css", "src/x/y/a.css"], ["a.css"]],
  ["**/*.map", ["a.map", "x/y/a.map"], ["a.mapx"]],
  ["*.{js,css}", ["a.js", "x/a.css"], ["a.ts"]],
  ["{src/gen,dist/out}/*.ts", ["src/gen/a.ts", "dist/out/b.ts"], ["src/a.ts", "gen/a.ts"]],
  ["a/**/{b,c/d}.ts", ["a/b.ts", "a/x/y/c/d.ts", "a/b.ts/x"], ["b.ts", "a/d.ts"]],
  ["[!a-c]?.ts", ["dx.ts", "x/-1.ts"], ["ax.ts", "d.ts", "dxx.ts"]],
  ["\\*.ts", ["*.ts"], ["a.ts"]],
  ["{a,b", ["{a,b"], ["a"]],
  ["[ab].ts", ["a.ts", "x/b.ts"], ["c.ts"]],
  ["[a-c-e].ts", ["b.ts", "-.ts", "e.ts"], ["d.ts"]],
];

for (const [glob, ignored, watched] of GLOBS) {
  Deno.test(`ignoreTest() matches "${glob}" as documented`, () => {
    const test = ignoreTest([glob]);
    assertEquals(ignored.filter(test), [...ignored]);
    assertEquals(watched.filter(test), []);
  });
}

Deno.test("ignoreTest() rejects a glob that expands to too many", () => {
  assertThrows(() => ignoreTest(["{a,b}".repeat(20)]), ProcsupError, "too many {…}");
});

Deno.test("ignoreTest() ignores nothing without globs", () => {
  assertEquals(["", "a", "a/b"].some(ignoreTest([])), false);
});
