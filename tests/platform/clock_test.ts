/** The machine's clock. */

import { assertEquals } from "@std/assert";
import { systemClock, timeoutSignal } from "../../src/platform/clock.ts";
import { waitFor } from "../support/wait_for.ts";

Deno.test("after() fires once, unless it is cancelled", async () => {
  const fired: string[] = [];
  systemClock.after(300, () => fired.push("late"));
  systemClock.after(0, () => fired.push("soon"));
  systemClock.after(1, () => fired.push("never"))();
  await waitFor(() => fired.includes("late"));
  assertEquals(fired, ["soon", "late"]);
});

Deno.test("after() does not fire at once when the delay exceeds a timer's maximum", async () => {
  const fired: string[] = [];
  const cancel = systemClock.after(30 * 24 * 3_600_000, () => fired.push("month"));
  systemClock.after(20, () => fired.push("later"));
  await waitFor(() => fired.length > 0);
  cancel();
  assertEquals(fired, ["later"]);
});

Deno.test("timeoutSignal() does not abort at once when the timeout exceeds a timer's maximum", async () => {
  const month = timeoutSignal(30 * 24 * 3_600_000);
  const soon = timeoutSignal(20);
  await waitFor(() => soon.aborted);
  assertEquals(month.aborted, false);
});
