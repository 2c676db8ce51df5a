/** Signals by name and number. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import { parseSignal, SIGNAL_NAMES } from "../../src/model/signal.ts";

Deno.test("parseSignal() accepts a name with or without SIG, in any case, and a number", () => {
  for (const value of ["SIGTERM", "TERM", "sigterm", "term", " TERM ", "15", 15]) {
    assertEquals(parseSignal(value), "SIGTERM");
  }
  assertEquals(parseSignal("USR2"), "SIGUSR2");
});

Deno.test("parseSignal() knows the signal numbers of Linux", () => {
  const numbers = { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGUSR1: 10, SIGUSR2: 12, SIGCONT: 18 };
  for (const [name, number] of Object.entries(numbers)) assertEquals(parseSignal(number), name);
  assertEquals([parseSignal(28), parseSignal(31)], ["SIGWINCH", "SIGSYS"]);
});

Deno.test("parseSignal() accepts every name that it lists", () => {
  for (const name of SIGNAL_NAMES) assertEquals(parseSignal(name), name);
  assertEquals(new Set(SIGNAL_NAMES).size, SIGNAL_NAMES.length);
});

Deno.test("parseSignal() rejects an unknown signal and suggests the nearest", () => {
  const error = assertThrows(
    () => parseSignal("SIGTREM"),
    ProcsupError,
    'Unknown signal "SIGTREM": did you mean "SIGTERM"?',
  );
  assertEquals(error.code, "bad_request");
  for (const value of ["", "SIG", "NONSENSE", "-1", "1.5", 0, 32, 99, -1, 1.5]) {
    assertThrows(() => parseSignal(value), ProcsupError, "Unknown signal");
  }
});

Deno.test("parseSignal() suggests no name for an unknown number, or for three other letters", () => {
  for (const value of [99, "FOO"]) {
    const error = assertThrows(() => parseSignal(value), ProcsupError);
    assert(!error.message.includes("did you mean"), error.message);
  }
});
