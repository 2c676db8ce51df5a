/** Errors over the wire and back. */

import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { ConfigFieldError, parseConfig } from "../../src/model/config_schema.ts";
import { commandLine } from "../../src/runtimes/command_line.ts";
import { ProcsupError } from "../../src/model/errors.ts";
import { StartFailedError } from "../../src/model/start_failed.ts";
import { ambiguous, AmbiguousTargetError, notFound } from "../../src/model/target.ts";
import { errorJson, errorOf } from "../../src/protocol/envelope.ts";
import { readRequest } from "../../src/verbs/mod.ts";

Deno.test("errorOf() restores the error that errorJson() described, with all its fields", () => {
  const failed = { processName: "db", state: "errored", lastOutput: ["no room", "bye"] } as const;
  const errors = [
    new ProcsupError("name_taken", 'The name "a" is taken'),
    new ProcsupError("wrong_state", "No", { hint: "Do that" }),
    new ProcsupError("wrong_state", "No", {
      hint: {
        text: "Run it",
        command: { verb: "scale", target: "a b", args: ["+1"], flags: { home: "/x", wait: true } },
      },
    }),
    new ProcsupError("invalid_config", 'Invalid "cwd"', { field: "cwd" }),
    notFound("ai", [{ name: "api" }]),
    ambiguous("a", [{ id: "a1".repeat(16), name: "x" }, { id: "a2".repeat(16), name: "y" }]),
    new StartFailedError('Cannot start "db": exited', failed, { hint: "See why" }),
  ];
  for (const error of errors) {
    const again = errorOf(JSON.parse(JSON.stringify(errorJson(error))));
    assertEquals(again.constructor, error.constructor);
    assertEquals([again.message, { ...again }], [error.message, { ...error }]);
  }
});

Deno.test("errorJson() is bounded, whatever a client sent", () => {
  const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`nmae${i}`, i]));
  const long = { ["x".repeat(500_000)]: 1 };
  const bodies = [many, long, { env: many }, { env: { A: [], ...many } }, { health_check: many }];
  for (const body of bodies) {
    const error = assertThrows(
      () => parseConfig({ name: "a", cwd: "/", entrypoint: "a", depends_on: { ...body }, ...body }),
    );
    assert(JSON.stringify(errorJson(error)).length < 30_000);
  }
  const { each, message } = assertThrows(
    () => parseConfig({ name: "a", cwd: "/", entrypoint: "a", ...many }),
    ConfigFieldError,
  );
  assertEquals([each.length, each.at(-1)!.message], [11, "and 49990 more mistakes"]);
  assertMatch(message, /^Unknown key "nmae0"[^]*"nmae9"[^]*; and 49990 more mistakes$/);
  for (const verb of ["x".repeat(500_000), "list"]) {
    const error = assertThrows(() => readRequest(verb, { ...long, ...many }));
    assert(JSON.stringify(errorJson(error)).length < 30_000);
  }
});

Deno.test("errorJson() names the invalid key, and suggests the likely name", () => {
  const wrong = (config: Record<string, unknown>) =>
    errorJson(
      assertThrows(() =>
        commandLine(parseConfig({ name: "a", cwd: "/", ...config }), { path: "" })
      ),
    );
  assertEquals(wrong({ entrypoint: "true", stop_timeout: "soon" }).field, "stop_timeout");
  const check = { type: "http", url: 7 };
  assertEquals(wrong({ entrypoint: "true", health_check: check }).field, "health_check.url");
  assertEquals(wrong({ entrypoint: "/nowhere" }).field, "entrypoint");
  assertEquals(wrong({ entrypoint: "true", cwd: "/nowhere" }).field, "cwd");
  const near = (target: string) => errorJson(notFound(target, [{ name: "api" }])).near;
  assertEquals([near("apo"), near("web")], ["api", undefined]);
});

Deno.test("errorOf() accepts errors of an older or newer daemon", () => {
  const told = (json: Record<string, unknown>) => {
    const error = errorOf({ error: "No", ...json });
    return [error.constructor, error.code, error.message];
  };
  assertEquals(told({ code: "of_tomorrow" }), [ProcsupError, "internal", "No"]);
  assertEquals(told({}), [ProcsupError, "internal", "No"]);
  assertEquals(told({ code: "ambiguous_target" }), [ProcsupError, "ambiguous_target", "No"]);
  const matches = ["a", "b"];
  assertEquals(told({ code: "ambiguous_target", matches })[0], AmbiguousTargetError);
  const half = { code: "start_failed", name: "db", state: "asleep", last_output: [] };
  assertEquals(told(half), [ProcsupError, "start_failed", "No"]);
});
