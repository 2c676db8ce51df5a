/** The choice of a shell for the wrapper. */

import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { fitShell } from "../../src/platform/launch/wrapper.ts";
import { tempHome } from "../support/temp_home.ts";

Deno.test("fitShell() returns /bin/sh, or another shell if that is ksh93", async () => {
  await using home = tempHome();
  const link = `${home.path}/sh`;
  Deno.symlinkSync("/bin/sh", link);
  assertEquals(fitShell(link), link);
  Deno.removeSync(link);
  Deno.writeTextFileSync(`${home.path}/ksh93`, "");
  Deno.symlinkSync(`${home.path}/ksh93`, link);
  assertNotEquals(fitShell(link), link);
  assert(Deno.statSync(fitShell(link)).isFile);
});
