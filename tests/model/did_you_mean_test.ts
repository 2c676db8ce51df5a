/** The nearest known word to a mistyped one. */

import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { didYouMean } from "../../src/model/did_you_mean.ts";

const VERBS = ["start", "stop", "status", "restart", "list", "up"];

Deno.test("didYouMean() finds the word with one or two letters wrong, missing or too many", () => {
  assertEquals(didYouMean("strt", VERBS), "start");
  assertEquals(didYouMean("startt", VERBS), "start");
  assertEquals(didYouMean("statxs", VERBS), "status");
  assertEquals(didYouMean("rxstxrt", VERBS), "restart");
});

Deno.test("didYouMean() counts a swap of two letters as one mistake", () => {
  assertEquals(didYouMean("pu", VERBS), "up");
  assertEquals(didYouMean("sotp", VERBS), "stop");
});

Deno.test("didYouMean() does not mind the case", () => {
  assertEquals(didYouMean("START", VERBS), "start");
});

Deno.test("didYouMean() prefers the nearest word, then the first", () => {
  assertEquals(didYouMean("stap", ["star", "stop", "step"]), "star");
  assertEquals(didYouMean("stops", ["steps", "stop"]), "steps");
  assertEquals(didYouMean("stopss", ["step", "stops"]), "stops");
});

Deno.test("didYouMean() finds nothing when no word is near", () => {
  assertEquals(didYouMean("xyzzy", VERBS), undefined);
  assertEquals(didYouMean("", VERBS), undefined);
  assertEquals(didYouMean("start", []), undefined);
});

Deno.test("didYouMean() allows a short word one mistake only", () => {
  assertEquals(didYouMean("lst", VERBS), "list");
  assertEquals(didYouMean("ab", VERBS), undefined);
});

Deno.test("didYouMean() finds a known word itself", () => {
  fc.assert(fc.property(fc.string(), fc.array(fc.string()), (word, others) => {
    const found = didYouMean(word, [...others, word]);
    assertEquals(found?.toLowerCase(), word.toLowerCase());
  }));
});

Deno.test("didYouMean() completes a beginning that fits one word alone, or what all of them begin with", () => {
  assertEquals(didYouMean("ser", ["server", "worker"]), "server");
  assertEquals(didYouMean("SER", ["server:0", "server", "server:1", "server"]), "server");
  assertEquals(didYouMean("res", ["restore-db", "restart-all"]), undefined);
  assertEquals(didYouMean("s", ["server"]), undefined);
});
