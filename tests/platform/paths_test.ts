import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import { absolute, prepareHome } from "../../src/platform/files/paths.ts";
import { tempHome } from "../support/temp_home.ts";

Deno.test("absolute() removes dots and trailing slashes, whatever the path starts with", () => {
  const above = Deno.cwd().replace(/\/[^/]+$/, "");
  for (const path of ["../x", "./../x/", `${above}//x`, `${above}/y/./../x/.`]) {
    assertEquals(absolute(path), `${above}/x`);
  }
});

Deno.test("prepareHome() names a home whose folders cannot be made, or that is open to others", async () => {
  await using temp = tempHome();
  const refusal = (home: string) => assertThrows(() => prepareHome(home), ProcsupError);
  Deno.writeTextFileSync(`${temp.path}/state`, "");
  const { code, message } = refusal(temp.path);
  assertEquals(code, "home_unusable");
  assertMatch(message, /^Cannot create home "\/.*": .*state/);
  const open = `${temp.path}/it's open`;
  Deno.mkdirSync(open);
  Deno.chmodSync(open, 0o770);
  assertEquals(refusal(open).hint?.text, `chmod 700 '${temp.path}/it'\\''s open'`);
});
