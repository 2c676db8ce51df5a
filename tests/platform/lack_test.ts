/** Failures for lack of something. */

import { assertEquals } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import { isLack } from "../../src/platform/lack.ts";

Deno.test("isLack() tells what the system refuses for now from what is wrong with the app", () => {
  const system = (code: string) => Object.assign(new Error(code), { code });
  const wrapped = (code: string) =>
    new ProcsupError("start_failed", "no", {
      cause: new ProcsupError("home_unusable", "no", { cause: system(code) }),
    });
  for (const code of ["EAGAIN", "EMFILE", "ENOSPC", "EROFS"]) {
    assertEquals(isLack(system(code)), true, code);
  }
  assertEquals(isLack(wrapped("ENOENT")), true);
  assertEquals(isLack(system("ENOENT")), false);
  assertEquals(isLack(new ProcsupError("start_failed", "no", { cause: system("EACCES") })), false);
});
