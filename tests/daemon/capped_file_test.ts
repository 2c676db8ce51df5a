import { assertEquals } from "@std/assert";
import { CappedFile } from "../../src/daemon/capped_file.ts";
import { tempHome } from "../support/temp_home.ts";

Deno.test("CappedFile keeps its limit over many daemons that each write little", async () => {
  await using home = await tempHome();
  const path = `${home.path}/log`;
  for (let daemon = 0; daemon < 5; daemon++) {
    using file = new CappedFile(path, 1000);
    for (let line = 0; line < 8; line++) file.append(daemon.toString().repeat(97));
  }
  const [newer, older] = [path, `${path}.1`].map((one) => Deno.readTextFileSync(one));
  assertEquals([newer!.length, older!.length], [1000, 1000]);
  assertEquals(newer!.split("\n").at(-2), `"${"4".repeat(97)}"`);
});
