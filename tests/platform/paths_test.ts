import { assertEquals } from "@std/assert";
import { absolute } from "../../src/platform/paths.ts";

Deno.test("absolute() removes dots and trailing slashes, whatever the path starts with", () => {
  const above = Deno.cwd().replace(/\/[^/]+$/, "");
  for (const path of ["../x", "./../x/", `${above}//x`, `${above}/y/./../x/.`]) {
    assertEquals(absolute(path), `${above}/x`);
  }
});
