import { assertEquals } from "@std/assert";
import { mergePatch } from "../../src/model/merge_patch.ts";

Deno.test("mergePatch() follows the examples of RFC 7396 for maps", () => {
  const examples: [Record<string, unknown>, Record<string, unknown>, Record<string, unknown>][] = [
    [{ a: "b" }, { a: "c" }, { a: "c" }],
    [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
    [{ a: "b" }, { a: null }, {}],
    [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
    [{ a: ["b"] }, { a: "c" }, { a: "c" }],
    [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
    [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
    [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{ a: "foo" }, { a: { b: null } }, { a: {} }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ];
  for (const [value, patch, merged] of examples) assertEquals(mergePatch(value, patch), merged);
});

Deno.test("mergePatch() does not modify its arguments", () => {
  const value = { env: { A: "1" } };
  const text = '{"env":{"B":"2","__proto__":{"C":"3"}}}';
  const patch = JSON.parse(text);
  const merged = mergePatch(value, patch);
  assertEquals(JSON.stringify(merged), '{"env":{"A":"1","B":"2","__proto__":{"C":"3"}}}');
  assertEquals([value, JSON.stringify(patch)], [{ env: { A: "1" } }, text]);
  assertEquals((({}) as { C?: string }).C, undefined);
});
