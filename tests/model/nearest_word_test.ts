/** The nearest known word to a mistyped one. */

import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { nearestWord } from "../../src/model/nearest_word.ts";

const VERBS = ["start", "stop", "status", "restart", "list", "up"];

Deno.test("nearestWord() finds the word with one or two letters wrong, missing or too many", () => {
  assertEquals(nearestWord("strt", VERBS), "start");
  assertEquals(nearestWord("startt", VERBS), "start");
  assertEquals(nearestWord("statxs", VERBS), "status");
  assertEquals(nearestWord("rxstxrt", VERBS), "restart");
});

Deno.test("nearestWord() counts a swap of two letters as one mistake", () => {
  assertEquals(nearestWord("pu", VERBS), "up");
  assertEquals(nearestWord("sotp", VERBS), "stop");
});

Deno.test("nearestWord() does not mind the case", () => {
  assertEquals(nearestWord("START", VERBS), "start");
});

Deno.test("nearestWord() prefers the nearest word, then the first", () => {
  assertEquals(nearestWord("stap", ["star", "stop", "step"]), "star");
  assertEquals(nearestWord("stops", ["steps", "stop"]), "steps");
  assertEquals(nearestWord("stopss", ["step", "stops"]), "stops");
});

Deno.test("nearestWord() finds nothing when no word is near", () => {
  assertEquals(nearestWord("xyzzy", VERBS), undefined);
  assertEquals(nearestWord("", VERBS), undefined);
  assertEquals(nearestWord("start", []), undefined);
});

Deno.test("nearestWord() allows a short word one mistake only", () => {
  assertEquals(nearestWord("lst", VERBS), "list");
  assertEquals(nearestWord("ab", VERBS), undefined);
});

Deno.test("nearestWord() finds a known word itself", () => {
  fc.assert(fc.property(fc.string(), fc.array(fc.string()), (word, others) => {
    const found = nearestWord(word, [...others, word]);
    assertEquals(found?.toLowerCase(), word.toLowerCase());
  }));
});

Deno.test("nearestWord() completes a beginning that fits one word alone, or what all of them begin with", () => {
  assertEquals(nearestWord("ser", ["server", "worker"]), "server");
  assertEquals(nearestWord("SER", ["server:0", "server", "server:1", "server"]), "server");
  assertEquals(nearestWord("res", ["restore-db", "restart-all"]), undefined);
  assertEquals(nearestWord("s", ["server"]), undefined);
});
