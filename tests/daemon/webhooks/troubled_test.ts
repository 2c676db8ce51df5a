import { assert, assertEquals } from "@std/assert";
import { Troubled } from "../../../src/daemon/webhooks/runner.ts";
import { tempHome } from "../../support/temp_home.ts";

Deno.test("Troubled is on disk at once, and tolerates a truncated line", async () => {
  await using home = tempHome();
  const path = `${home.path}/troubled`;
  const first = new Troubled(path);
  for (const id of ["a", "b", "c"]) first.add(id);
  first.delete("b");
  // Nothing was closed, as after a killed daemon.
  assertEquals(new Troubled(path).ids, ["a", "c"]);
  Deno.writeTextFileSync(path, "\n+", { append: true });
  const second = new Troubled(path);
  second.delete("a");
  assert(second.has("c") && !second.has("a"));
  assert(new Troubled(path).has("c"));
});

Deno.test("Troubled stays small over many changes", async () => {
  await using home = tempHome();
  const path = `${home.path}/troubled`;
  const troubled = new Troubled(path);
  for (let i = 0; i < 5000; i++) {
    troubled.add("flapping");
    troubled.delete("flapping");
  }
  troubled.add("down");
  assert(Deno.statSync(path).size < 20_000);
  assertEquals(new Troubled(path).ids, ["down"]);
});
