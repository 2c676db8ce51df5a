/** Keys of other tools in a procsup configuration. */

import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { parseConfig } from "../../src/model/config_schema.ts";
import { keyNames } from "../../src/model/key_table.ts";
import { PROCESS_KEYS } from "../../src/model/process_keys.ts";
import { ProcsupError } from "../../src/model/errors.ts";
import { foreignKey } from "../../src/model/key_spelling.ts";

const CONFIG_KEYS = keyNames(PROCESS_KEYS);

Deno.test("foreignKey() maps keys of other tools to existing keys", () => {
  const foreign = ["cmd", "user", "environment", "restart", "replicas", "mem_limit", "ports"];
  for (const key of [...foreign, "ExecReload", "workingDir"]) {
    const ours = foreignKey(key)!;
    assert(CONFIG_KEYS.includes(ours.split(".")[0]!), `${key}: ${ours}`);
    assert(!CONFIG_KEYS.includes(key), key);
  }
  assertEquals([foreignKey("entrypoint"), foreignKey("constructor"), foreignKey("x")], [
    ...[undefined, undefined, undefined],
  ]);
});

Deno.test("parseConfig() suggests the procsup name for a key of another tool", () => {
  const refused = (extra: object) =>
    assertThrows(() => parseConfig({ name: "a", entrypoint: "x", ...extra }), ProcsupError).message;
  assertEquals(refused({ user: "www" }), 'Unknown key "user": did you mean "uid"?');
  assertEquals(
    refused({ autorestart: true }),
    'Unknown key "autorestart": did you mean "restart_policy"?',
  );
  assertEquals(refused({ instnces: 2 }), 'Unknown key "instnces": did you mean "instances"?');
  const nested = refused({ log: { memory: 1 } });
  assertMatch(nested, /^Unknown key "log.memory": expected one of max_size, max_files, /);
});
