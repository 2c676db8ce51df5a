/** Waiting for a state of a process. */

import { assertEquals, assertRejects } from "@std/assert";
import { parseConfig } from "../../src/model/config_schema.ts";
import { NEW, type Snapshot } from "../../src/model/process_state.ts";
import { atRest, endedWell, isUp, settled } from "../../src/process/start_and_wait.ts";
import { Waiters } from "../../src/process/waiters.ts";
import { exitOf, inState, STATES } from "../model/life.ts";

/** The states for which the predicate holds. */
function statesWith(holds: (now: Snapshot) => boolean, changes: Partial<Snapshot> = {}): string {
  return STATES.filter((state) => holds({ ...inState(state), ...changes })).toSorted().join(" ");
}

Deno.test("settled() holds once the pid is known, without `wait`", () => {
  const quick = (now: Snapshot) => settled(now, false);
  assertEquals(statesWith(quick, { pid: 0 }), "crashed errored stopped waiting");
  assertEquals(statesWith(quick, { pid: 7 }), "crashed errored running starting stopped waiting");
});

Deno.test("settled() waits for running, and through dependencies, with `wait`", () => {
  const patient = (now: Snapshot) => settled(now, true);
  assertEquals(statesWith(patient, { pid: 7 }), "crashed errored running stopped waiting");
  assertEquals(settled({ ...inState("waiting"), awaiting: "dependencies" }, true), false);
  assertEquals(settled({ ...inState("waiting"), awaiting: "dependencies" }, false), true);
});

Deno.test("atRest() and isUp() distinguish states with and without a run", () => {
  assertEquals(statesWith(atRest), "crashed errored stopped");
  assertEquals(atRest({ ...inState("waiting"), awaiting: "dependencies" }), true);
  assertEquals(statesWith(isUp), "running starting");
});

Deno.test("endedWell() holds for a finished job, not for one that failed or was killed", () => {
  const config = parseConfig({ name: "job", entrypoint: "/bin/true", cwd: "/" });
  const job = (lastExit: Snapshot["lastExit"]) => ({ ...inState("stopped"), lastExit });
  assertEquals(endedWell(job(exitOf(0)), config), true);
  assertEquals(endedWell(job(exitOf(1)), config), false);
  assertEquals(endedWell(job(exitOf("SIGTERM")), config), false);
  assertEquals(endedWell(job(exitOf(null)), config), false);
  assertEquals(endedWell(job(null), config), false);
  assertEquals(endedWell({ ...inState("running"), lastExit: exitOf(0) }, config), false);
});

Deno.test("until() resolves once, with the first snapshot that fulfills its condition", async () => {
  const waiters = new Waiters();
  const at = (attempt: number): Snapshot => ({ ...NEW, attempt });
  const third = waiters.until(({ attempt }) => attempt >= 3, at(0));
  assertEquals((await waiters.until(({ attempt }) => attempt === 0, at(0))).attempt, 0);
  for (const attempt of [1, 2, 3, 4]) waiters.check(at(attempt));
  assertEquals((await third).attempt, 3);
});

Deno.test("until() rejects at once when its signal is already aborted", async () => {
  const signal = AbortSignal.abort(new Error("enough"));
  await assertRejects(() => new Waiters().until(() => false, NEW, signal), Error, "enough");
});
