import { assertEquals } from "@std/assert";
import { SignInRateLimit } from "../../src/auth/sign_in_limit.ts";

Deno.test("SignInRateLimit goes by a clock that nobody sets", () => {
  const { now } = Date;
  let setBy = 0;
  Date.now = () => now() + setBy;
  try {
    const attempts = new SignInRateLimit();
    for (let failure = 0; failure < 10; failure++) assertEquals(attempts.fail("::1"), 0);
    setBy = 61_000;
    assertEquals(attempts.fail("::1"), 60);
  } finally {
    Date.now = now;
  }
});
