/** Differences between configurations. */

import { assert, assertEquals } from "@std/assert";
import { configChanges, needsRestart } from "../../src/model/config_diff.ts";
import { parseConfig } from "../../src/model/config_schema.ts";

const BASE = { name: "api", entrypoint: "sleep", cwd: "/", env: { A: "s3cret", B: "1" } };

function changes(keys: Record<string, unknown>) {
  return configChanges(parseConfig(BASE), parseConfig({ ...BASE, ...keys }));
}

Deno.test("configChanges() ignores differences in spelling", () => {
  assertEquals(changes({ env: { B: "1", A: "s3cret" }, restart_delay: "0.1s" }), []);
});

Deno.test("configChanges() names changed fields, but no values of env, secrets and args", () => {
  const found = changes({
    env: { A: "0ther", C: "n3w" },
    args: ["s3cret"],
    instances: 3,
    log: { max_files: 2 },
  });
  assertEquals(found.map(({ field }) => field).sort(), [
    ...["args", "env.A", "env.B", "env.C", "instances", "log.max_files"],
  ]);
  assert(!/s3cret|0ther|n3w/.test(JSON.stringify(found)));
});

Deno.test("needsRestart() is false for keys that are read at the time of use", () => {
  assert(!needsRestart(changes({ max_restarts: 3, instances: 2, log: { max_files: 2 } })));
  assert(needsRestart(changes({ env: { A: "1" } })));
  assert(needsRestart(changes({ max_restarts: 3, namespace: "x" })));
});
