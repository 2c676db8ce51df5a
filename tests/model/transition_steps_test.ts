/** The steps that the cells of the state table are made of. */

import { assertEquals } from "@std/assert";
import {
  AT_REST,
  disarmed,
  freshStart,
  launch,
  wantsReadiness,
} from "../../src/model/transition_steps.ts";
import { afterReboot } from "../../src/model/recovered.ts";
import { NEW } from "../../src/model/process_state.ts";
import { inState, policy, STATES } from "./life.ts";

Deno.test("wantsReadiness() holds when any of the three ways is configured", () => {
  assertEquals(wantsReadiness({ waitReady: false }), false);
  assertEquals(wantsReadiness({ waitReady: true }), true);
  assertEquals(wantsReadiness({ waitReady: false, readyLog: "" }), true);
  assertEquals(wantsReadiness({ waitReady: false, readyDelayMs: 0 }), true);
});

Deno.test("launch() forgets all that belonged to the attempt before", () => {
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

Deno.test("disarmed() ends the waiting before anything else is done", () => {
  const [now, effects] = disarmed(launch(NEW));
  assertEquals([now, effects], [launch(NEW)[0], [{ type: "disarm" }, { type: "launch" }]]);
});

Deno.test("afterReboot() waits for dependencies like any start", () => {
  const [now, effects] = afterReboot(
    inState("running"),
    true,
    policy({ dependsOn: { db: "ready" } }),
  );
  assertEquals([now.state, now.awaiting], ["waiting", "dependencies"]);
  assertEquals(effects, [{ type: "await_dependencies" }]);
});

Deno.test("AT_REST holds the states in which nothing runs and nothing is due", () => {
  assertEquals(STATES.filter((state) => AT_REST.has(state)).toSorted(), [
    "crashed",
    "errored",
    "stopped",
  ]);
});
