/** Errors on their way over the wire and back. */

import { assertEquals } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import { StartFailedError } from "../../src/model/start_failed.ts";
import { ambiguous, AmbiguousTargetError } from "../../src/model/target.ts";
import { errorJson, errorOf } from "../../src/protocol/error_json.ts";

Deno.test("errorOf() makes the error again that errorJson() told of, with all it carries", () => {
  const failed = { processName: "db", state: "errored", lastStderr: ["no room", "bye"] } as const;
  const errors = [
    new ProcsupError("name_taken", 'The name "a" is taken'),
    new ProcsupError("wrong_state", "No", { hint: "Do that" }),
    ambiguous("a", [{ id: "a1".repeat(16), name: "x" }, { id: "a2".repeat(16), name: "y" }]),
    new StartFailedError('Cannot start "db": exited', failed, { hint: "See why" }),
  ];
  for (const error of errors) {
    const again = errorOf(JSON.parse(JSON.stringify(errorJson(error))));
    assertEquals(again.constructor, error.constructor);
    assertEquals([again.message, { ...again }], [error.message, { ...error }]);
  }
});

Deno.test("errorOf() takes what an older or newer daemon says", () => {
  const told = (json: Record<string, unknown>) => {
    const error = errorOf({ error: "No", ...json });
    return [error.constructor, error.code, error.message];
  };
  assertEquals(told({ code: "of_tomorrow" }), [ProcsupError, "internal", "No"]);
  assertEquals(told({}), [ProcsupError, "internal", "No"]);
  assertEquals(told({ code: "ambiguous_target" }), [ProcsupError, "ambiguous_target", "No"]);
  const matches = ["a", "b"];
  assertEquals(told({ code: "ambiguous_target", matches })[0], AmbiguousTargetError);
  const half = { code: "start_failed", name: "db", state: "asleep", last_stderr: [] };
  assertEquals(told(half), [ProcsupError, "start_failed", "No"]);
});
