import { assertEquals } from "@std/assert";
import { SignInRateLimit } from "../../src/auth/sign_in_limit.ts";
import { FakeClock } from "../support/fake_clock.ts";

Deno.test("SignInRateLimit uses a monotonic clock", () => {
  const clock = new FakeClock();
  const attempts = new SignInRateLimit(clock);
  for (let failure = 0; failure < 10; failure++) assertEquals(attempts.fail("::1"), 0);
  clock.jump(61_000);
  assertEquals(attempts.fail("::1"), 60);
  clock.advance(60_001);
  assertEquals(attempts.fail("::1"), 0);
});
