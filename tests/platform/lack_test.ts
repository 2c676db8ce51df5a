/** Failures caused by a lack of resources. */

import { assertEquals } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import { isLack } from "../../src/platform/lack.ts";

Deno.test("isLack() distinguishes a temporary lack of resources from a fault of the app", () => {
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
