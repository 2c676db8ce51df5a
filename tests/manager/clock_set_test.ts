/** Successive supervisors while the clock is set. */

import { assert, assertEquals } from "@std/assert";
import { type Clock, systemClock } from "../../src/platform/clock.ts";
import { TestManager } from "../support/test_manager.ts";
import { waitFor } from "../support/wait_for.ts";

const DAY_MS = 86_400_000;

function setBy(ms: number): Clock {
  return { ...systemClock, now: () => systemClock.now() + ms };
}

Deno.test("a pending restart happens although the clock was set back a day", async () => {
  await using test = await TestManager.open();
  const backoff = { restart_delay: "1s", backoff_max: "1s" };
  await test.script("app", "exit 1", backoff, { wait: false });
  await test.until("app", "waiting");
  test.release();
  await test.reopen(setBy(-DAY_MS));
  await waitFor(() => test.info("app").restarts > 0, { what: "the restart" });
});

Deno.test({
  name: "an app keeps its age although the clock was set forward a day",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using test = await TestManager.open();
    const { pid } = await test.script("app", "exec sleep 1000", { max_age: "1h" });
    test.release();
    await test.reopen(setBy(DAY_MS));
    await waitFor(() => test.info("app").uptimeMs > 0);
    assert(test.info("app").uptimeMs < 60_000, `${test.info("app").uptimeMs} ms`);
    const { state, restarts, pid: now } = test.info("app");
    assertEquals([state, restarts, now], ["running", 0, pid]);
  },
});
