/** Quoted values in error messages. */

import { assertEquals } from "@std/assert";
import { quote } from "../../src/model/errors.ts";

Deno.test("quote() shows a value, even one that JSON cannot represent", () => {
  const cycle: unknown[] = [];
  cycle.push(cycle);
  const rows: [unknown, string][] = [
    ["5s", '"5s"'],
    [{ a: [1] }, '{"a":[1]}'],
    [NaN, "NaN"],
    [-Infinity, "-Infinity"],
    [5n, "5n"],
    [undefined, "undefined"],
    [null, "null"],
    [/x/g, "/x/g"],
    [new URL("file:///tmp"), "file:///tmp"],
    [new Map(), "[object Map]"],
    [Symbol("x"), "Symbol(x)"],
    [cycle, "an object"],
    ["x".repeat(100), `"${"x".repeat(76)}…`],
    ["😀".repeat(50), `"${"😀".repeat(38)}…`],
    [`x${"😀".repeat(50)}`, `"x${"😀".repeat(37)}…`],
  ];
  for (const [value, text] of rows) assertEquals(quote(value), text);
});
