import { assertEquals } from "@std/assert";
import { runningDependents } from "../../src/web/dashboard/app/process/select.ts";
import type { ProcessJson } from "../../src/protocol/wire.ts";

Deno.test("runningDependents() returns the names of running dependents, each once", () => {
  const one = (name: string, state: string, depends_on: unknown) =>
    ({ name, state, config: { depends_on } }) as unknown as ProcessJson;
  const list = [
    one("db", "running", undefined),
    one("api:0", "running", { db: "healthy" }),
    one("api:1", "running", { db: "healthy" }),
    one("job", "stopped", ["db"]),
    one("mail", "running", ["db", "api"]),
  ];
  assertEquals(runningDependents(["db"], list), ["api", "mail"]);
  assertEquals(runningDependents(["api:0"], list), ["mail"]);
  assertEquals(runningDependents(["db", "api", "mail"], list), []);
});
