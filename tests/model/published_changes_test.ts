/** Which events an input publishes. */

import { assertEquals } from "@std/assert";
import { type Input, NEW, type Snapshot } from "../../src/model/process_state.ts";
import { endCauseOf, publishedChanges } from "../../src/model/published_changes.ts";
import { transition } from "../../src/model/transition.ts";
import type { Policy } from "../../src/model/transition_steps.ts";
import * as life from "./life.ts";

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

/** The events of inputs to a running process, each with the cause of the end that it tells. */
function told(inputs: readonly Input[], rules: Policy = life.policy()): readonly string[] {
  let now = life.inState("running");
  return inputs.flatMap((input) => {
    const before = now;
    [now] = transition(before, input, () => rules);
    return publishedChanges(before, now, input, rules)
      .filter((type) => !["starting", "stopping", "waiting"].includes(type))
      .map((type) => `${type} ${endCauseOf(type, before, now, input, rules) ?? "-"}`);
  });
}

Deno.test("endCauseOf() tells each end once, with its cause", () => {
  const up = (attempt: number): Input[] => [
    life.launched(attempt),
    { type: "pid_known", attempt, pid: 7 },
  ];
  const again = (attempt: number) => [life.terminated(attempt), ...up(attempt + 1)];
  const request = (cause: "watch" | "schedule"): Input => ({
    type: "replace_requested",
    request: { verb: "restart", reason: "", cause },
  });
  const always = life.policy({ restartPolicy: "always" });
  const waitReady = life.policy({ waitReady: true });
  const crash = life.exited(1, 1);
  const pidKnown = (attempt: number): Input => ({ type: "pid_known", attempt, pid: 7 });
  const rows: [readonly Input[], readonly string[], Policy?][] = [
    [[life.exited(1, 1), life.delayOver(1), ...up(2)], ["crashed crash", "restarted -"]],
    [[life.exited(1, 1)], ["crashed crash"], life.policy({ restartPolicy: "never" })],
    [[life.exited(1, 1)], ["errored crash"], life.policy({ maxRestarts: 0 })],
    [[life.exited(1, 0), life.START, ...up(2)], ["stopped exit", "running -"]],
    [[life.exited(1, 0), life.delayOver(1), ...up(2)], ["restarted exit"], always],
    [[life.stop(), life.terminated(1), life.START, ...up(2)], ["stopped user", "running -"]],
    [[life.stop({ cause: "schedule" }), life.terminated(1)], ["stopped schedule"]],
    [[life.RESTART, ...again(1)], ["running user"]],
    [[request("watch"), ...again(1)], ["running watch"]],
    [[request("schedule"), ...again(1), life.exited(2, 1)], ["running schedule", "crashed crash"]],
    [[life.reload({ generation: 2 }), ...again(1)], ["running release"]],
    [[life.recycle(1), ...again(1)], ["restarted health"]],
    [[life.recycle(1), life.terminated(1)], ["errored health"], life.policy({ maxRestarts: 0 })],
    // The run of a restart has an event, with its cause, also if it ends before it is up.
    [
      [crash, life.delayOver(1), life.launched(2), life.exited(2, 1), pidKnown(2)],
      ["crashed crash", "restarted -", "crashed crash"],
    ],
    [
      [life.recycle(1), life.terminated(1), life.launched(2), life.exited(2, 1)],
      ["restarted health", "crashed crash"],
    ],
    [
      [life.exited(1, 0), life.delayOver(1), life.launched(2), life.exited(2, 1)],
      ["restarted exit", "crashed crash"],
      always,
    ],
    [
      [life.recycle(1), life.terminated(1), life.launched(2), life.stop(), pidKnown(2)],
      ["restarted health"],
    ],
    [[crash, life.delayOver(1), life.stop(), life.launched(2)], ["crashed crash", "restarted -"]],
    [
      [crash, life.delayOver(1), life.launched(2), pidKnown(2), life.exited(2, 1)],
      ["crashed crash", "restarted -", "crashed crash"],
      waitReady,
    ],
    // A stop overtakes the recycling.
    [[life.recycle(1), life.stop(), life.terminated(1)], ["stopped user"]],
  ];
  for (const [inputs, expected, rules] of rows) {
    assertEquals(told(inputs, rules), expected, inputs.map(({ type }) => type).join(", "));
  }
  // A process that waits for its start has no run that could end.
  const waits = { ...life.inState("waiting"), run: null };
  const [stopped] = transition(waits, life.stop(), () => life.policy());
  const cause = endCauseOf("stopped", waits, stopped, life.stop(), life.policy());
  assertEquals([stopped.state, stopped.endCause, cause], ["stopped", null, undefined]);
});
