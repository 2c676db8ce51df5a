/** Which events an input publishes. */

import { assertEquals } from "@std/assert";
import { type Input, NEW, type Snapshot } from "../../src/model/process_state.ts";
import { publishedChanges } from "../../src/model/transition.ts";

const RUN = { runId: "r", wrapperPid: 1, wrapperStart: "1", bootId: "b" };
const STARTING: Snapshot = { ...NEW, state: "starting", run: RUN };
const RUNNING: Snapshot = { ...STARTING, state: "running", pid: 2 };
const PID_KNOWN = { type: "pid_known" } as Input;
const EXITED = { type: "exited" } as Input;
const RECOVERED = { type: "recovered" } as Input;

function waiting(code: number): Snapshot {
  const lastExit = { code, signal: null, at: new Date(0) };
  return { ...NEW, state: "waiting", awaiting: "delay", lastExit };
}

function published(before: Snapshot, now: Snapshot, input: Input): readonly string[] {
  return publishedChanges(before, now, input, { successExitCodes: [0] });
}

Deno.test("publishedChanges() reports running once the pid is known, and a state once", () => {
  const unknown = { ...RUNNING, pid: 0 };
  assertEquals(published(STARTING, unknown, PID_KNOWN), []);
  assertEquals(published(unknown, RUNNING, PID_KNOWN), ["running"]);
  assertEquals(published(RUNNING, { ...RUNNING, ready: true }, PID_KNOWN), []);
});

Deno.test("publishedChanges() reports the run of an automatic restart as restarted", () => {
  const automatic = { launchedBy: "automatic" } as const;
  const [starting, running] = [{ ...STARTING, ...automatic }, { ...RUNNING, ...automatic }];
  assertEquals(published(starting, running, PID_KNOWN), ["restarted"]);
  assertEquals(published(running, running, PID_KNOWN), []);
});

Deno.test("publishedChanges() reports a crash before the wait for the restart, but no success", () => {
  assertEquals(published(RUNNING, waiting(1), EXITED), ["crashed", "waiting"]);
  assertEquals(published(RUNNING, waiting(0), EXITED), ["waiting"]);
  assertEquals(published(waiting(1), waiting(1), EXITED), []);
});

Deno.test("publishedChanges() reports a recovered run as adopted, an ended one as crashed", () => {
  assertEquals(published(RUNNING, RUNNING, RECOVERED), ["adopted"]);
  assertEquals(published(RUNNING, waiting(1), RECOVERED), ["crashed", "waiting"]);
});
