/** The table of error codes. */

import { assert, assertEquals } from "@std/assert";
import { ERROR_TABLE, isErrorCode, messageOf, ProcsupError } from "../../src/model/errors.ts";

Deno.test("ERROR_TABLE gives every code an HTTP error status and an exit code", () => {
  for (const [code, { http, exit }] of Object.entries(ERROR_TABLE)) {
    assert(http >= 400 && http < 600, code);
    assert(exit > 0 && exit < 256, code);
  }
});

Deno.test("isErrorCode() accepts only our own codes", () => {
  assertEquals(isErrorCode("process_not_found"), true);
  for (const value of ["toString", "__proto__", "", 404, null, undefined]) {
    assertEquals(isErrorCode(value), false);
  }
});

Deno.test("ProcsupError carries its code, hint and cause", () => {
  const cause = new Error("inner");
  const error = new ProcsupError("timeout", "Too late", { hint: "Wait longer", cause });
  assert(error instanceof Error);
  assertEquals([error.name, error.code, error.message], ["ProcsupError", "timeout", "Too late"]);
  assertEquals([error.hint, error.cause], [{ text: "Wait longer" }, cause]);
  assertEquals("cause" in new ProcsupError("timeout", "Too late"), false);
});

Deno.test("messageOf() returns a message for any thrown value", () => {
  assertEquals(messageOf(new Error("broken")), "broken");
  assertEquals([messageOf("text"), messageOf(5), messageOf(null)], ["text", "5", "null"]);
});
