/** The steps that make up the cells of the state table. */

import { assertEquals } from "@std/assert";
import {
  AT_REST,
  disarmed,
  freshStart,
  isSuccess,
  launch,
  wantsReadiness,
} from "../../src/model/transition_steps.ts";
import { afterReboot } from "../../src/model/transition.ts";
import { NEW } from "../../src/model/process_state.ts";
import { inState, policy, STATES } from "./life.ts";

Deno.test("wantsReadiness() is true for each of the three ways to configure it", () => {
  assertEquals(wantsReadiness({ waitReady: false }), false);
  assertEquals(wantsReadiness({ waitReady: true }), true);
  assertEquals(wantsReadiness({ waitReady: false, readyLog: "" }), true);
  assertEquals(wantsReadiness({ waitReady: false, readyDelayMs: 0 }), true);
});

Deno.test("launch() clears everything of the previous attempt", () => {
  for (const state of STATES) {
    const [now, effects] = launch(inState(state));
    assertEquals([now.state, now.attempt], ["starting", inState(state).attempt + 1]);
    assertEquals([now.startedAt, now.finishedAt, now.nextRestartAt], [null, null, null]);
    assertEquals([now.awaiting, now.stopCause, effects], [null, null, [{ type: "launch" }]]);
  }
});

Deno.test("freshStart() keeps the number of restarts and the last exit", () => {
  const crashed = { ...inState("crashed"), restarts: 7 };
  const [now] = freshStart(crashed, "started by user", policy());
  assertEquals([now.restarts, now.lastExit], [7, crashed.lastExit]);
});

Deno.test("disarmed() ends the wait before any other effect", () => {
  const [now, effects] = disarmed(launch(NEW));
  assertEquals([now, effects], [launch(NEW)[0], [{ type: "disarm" }, { type: "launch" }]]);
});

Deno.test("afterReboot() waits for dependencies like any other start", () => {
  const [now, effects] = afterReboot(
    inState("running"),
    true,
    policy({ dependsOn: { db: "ready" } }),
  );
  assertEquals([now.state, now.awaiting], ["waiting", "dependencies"]);
  assertEquals(effects, [{ type: "await_dependencies" }]);
});

Deno.test("AT_REST lists the states in which nothing runs and nothing is due", () => {
  assertEquals(STATES.filter((state) => AT_REST.has(state)).toSorted(), [
    "crashed",
    "errored",
    "stopped",
  ]);
});

Deno.test("isSuccess() accepts a code above 128, but no signal that the wrapper's shell tells from one", () => {
  const rules = { successExitCodes: [0, 130, 143] };
  const outcomes = [
    { code: 143, signal: null },
    { code: 143, signal: "SIGTERM" },
    { code: 130, signal: "SIGINT" },
    { code: 141, signal: "SIGPIPE" },
    { code: 129, signal: null },
    { code: null, signal: null },
  ].map((exit) => isSuccess(exit, rules));
  assertEquals(outcomes, [true, false, true, false, false, false]);
});
