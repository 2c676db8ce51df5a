/** The nearest known word to a mistyped one. */

import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { nearestWord } from "../../src/model/nearest_word.ts";

const VERBS = ["start", "stop", "status", "restart", "list", "up"];

Deno.test("nearestWord() finds a word with one or two letters wrong, missing or extra", () => {
  assertEquals(nearestWord("strt", VERBS), "start");
  assertEquals(nearestWord("startt", VERBS), "start");
  assertEquals(nearestWord("statxs", VERBS), "status");
  assertEquals(nearestWord("rxstxrt", VERBS), "restart");
});

Deno.test("nearestWord() suggests no word of one letter for another one, such as a number", () => {
  assertEquals([nearestWord("0", ["q"]), nearestWord("a", ["b", "ab"])], [undefined, "ab"]);
  assertEquals(nearestWord("B", ["b"]), "b");
});

Deno.test("nearestWord() counts a swap of two letters as one mistake", () => {
  assertEquals(nearestWord("pu", VERBS), "up");
  assertEquals(nearestWord("sotp", VERBS), "stop");
});

Deno.test("nearestWord() ignores case", () => {
  assertEquals(nearestWord("START", VERBS), "start");
});

Deno.test("nearestWord() prefers the nearest word, then the first one", () => {
  assertEquals(nearestWord("stap", ["star", "stop", "step"]), "star");
  assertEquals(nearestWord("stops", ["steps", "stop"]), "steps");
  assertEquals(nearestWord("stopss", ["step", "stops"]), "stops");
});

Deno.test("nearestWord() finds nothing when no word is near", () => {
  assertEquals(nearestWord("xyzzy", VERBS), undefined);
  assertEquals(nearestWord("", VERBS), undefined);
  assertEquals(nearestWord("start", []), undefined);
});

Deno.test("nearestWord() allows only one mistake in a short word", () => {
  assertEquals(nearestWord("lst", VERBS), "list");
  assertEquals(nearestWord("ab", VERBS), undefined);
});

Deno.test("nearestWord() finds an exact match", () => {
  fc.assert(fc.property(fc.string(), fc.array(fc.string()), (word, others) => {
    const found = nearestWord(word, [...others, word]);
    assertEquals(found?.toLowerCase(), word.toLowerCase());
  }));
});

Deno.test("nearestWord() completes a unique prefix, or the common prefix of all matches", () => {
  assertEquals(nearestWord("ser", ["server", "worker"]), "server");
  assertEquals(nearestWord("SER", ["server:0", "server", "server:1", "server"]), "server");
  assertEquals(nearestWord("res", ["restore-db", "restart-all"]), undefined);
  assertEquals(nearestWord("s", ["server"]), undefined);
});
