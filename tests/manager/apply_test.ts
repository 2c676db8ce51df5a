/** What is granted is on record: a daemon that is killed right after its answer loses nothing. */

import { assertEquals } from "@std/assert";
import { apply, planApply } from "../../src/manager/apply.ts";
import { parseConfig } from "../../src/model/config_schema.ts";
import { Records } from "../../src/manager/records.ts";
import { pathsIn } from "../../src/platform/paths.ts";
import { TestManager } from "../support/test_manager.ts";

/** Names on record at this very moment. */
function recorded(home: string): string[] {
  const { records } = new Records(pathsIn(home)).readAll();
  return records.map(({ identity }) => identity.name).sort();
}

Deno.test("apply() has on record what it only registers when it returns", async () => {
  await using test = await TestManager.open();
  const { fleet } = test.manager;
  const wire = { name: "idle", entrypoint: "/bin/sleep", cwd: test.home, autostart: false };
  await apply(fleet, await planApply(fleet, [parseConfig(wire)]));
  assertEquals(recorded(test.home), ["idle"]);
});

Deno.test("scale() has on record the instances of a job, which the clock starts, when it returns", async () => {
  await using test = await TestManager.open();
  const { fleet } = test.manager;
  await fleet.add({ name: "job", entrypoint: "/bin/true", cwd: test.home, cron: "@yearly" });
  await fleet.scale("job", 2);
  assertEquals(recorded(test.home), ["job:0", "job:1"]);
});
