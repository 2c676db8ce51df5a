/** Following one log file. */

import { assertEquals } from "@std/assert";
import { LogFollower } from "../../src/logs/read/log_follower.ts";
import { sleep } from "../../src/platform/clock.ts";
import { FakeClock } from "../support/fake_clock.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

Deno.test("LogFollower sets no timer for a change after it was stopped", async () => {
  await using temp = tempHome();
  const path = `${temp.path}/stdout.log`;
  Deno.writeTextFileSync(path, "one\n");
  const clock = new FakeClock();
  const follower = new LogFollower(path, {
    ...{ follow: true, pollMs: 50, clock },
    begin: (span) => span.end,
  });
  const next = follower.next();
  await waitFor(() => clock.pending === 1, { what: "the wait" });
  follower.stop();
  assertEquals(await next, undefined);
  Deno.writeTextFileSync(path, "two\n", { append: true });
  // The change is reported within 50 ms.
  await sleep(200);
  assertEquals(clock.pending, 0);
  follower.close();
});
