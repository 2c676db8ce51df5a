/** How much is watched. */

import { assertEquals } from "@std/assert";
import { WatchTree } from "../../../src/process/watch/tree.ts";
import { tempHome } from "../../support/temp_home.ts";

Deno.test("WatchTree watches the first of too many folders, and says so", async () => {
  await using home = tempHome();
  for (let i = 0; i < 9; i++) Deno.mkdirSync(`${home.path}/${i}/below`, { recursive: true });
  const look = (most?: number) => new WatchTree(home.path, [], [], [], undefined, most).look();
  const { folders, problems } = await look(5);
  assertEquals(folders.length, 5);
  assertEquals(problems, ["more than 5 folders: only the first ones are watched"]);
  const all = await look();
  assertEquals([all.folders.length, all.problems], [19, []]);
});
