import { assert, assertEquals } from "@std/assert";
import { Webhooks } from "../../../src/daemon/webhooks/webhooks.ts";
import type { ProcessChange } from "../../../src/model/process_info.ts";
import { tempHome } from "../../support/temp_home.ts";

Deno.test("a daemon that starts after 2000 crashes writes each of them once, and the next one goes on", async () => {
  await using home = tempHome();
  Deno.writeTextFileSync(`${home.path}/webhooks.json`, "");
  const parts = { folder: home.path, dashboard: () => undefined, warn: () => {} };
  const crash = (n: number): ProcessChange => ({
    ...{ type: "crashed", at: new Date(), id: crypto.randomUUID(), name: `app${n}`, pid: 0 },
    ...{ state: "crashed", restarts: 0, reason: "exited with code 1", exit: null },
  });
  const path = `${home.path}/early`;
  const early = new Webhooks(parts).early()!;
  early(crash(0));
  const { ino } = Deno.statSync(path);
  for (let n = 1; n < 2000; n++) early(crash(n));
  // A file that is written anew is another one.
  assertEquals(Deno.statSync(path).ino, ino);

  // The daemon was killed within a write, and the next one as well.
  Deno.truncateSync(path, Deno.statSync(path).size - 10);
  new Webhooks(parts).early()!(crash(2000));
  const lines = Deno.readTextFileSync(path).trim().split("\n");
  assertEquals(lines.length, 2001);
  assert(lines.at(-1)!.includes("app2000"));
});
