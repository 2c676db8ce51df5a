/** A key is one row of the table: with two more rows, every surface has two more keys. */

import { fromFileUrl } from "@std/path";
import "../support/two_more_keys.ts";
import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import { readCommandLine } from "../../src/cli/args.ts";
import { startPayloads } from "../../src/cli/start_payload.ts";
import { configFileSchema } from "../../src/config/json_schema.ts";
import { Manager } from "../../src/manager/manager.ts";
import { configChanges, needsRestart } from "../../src/model/config_diff.ts";
import { parseConfig } from "../../src/model/config_schema.ts";
import { ProcsupError } from "../../src/model/errors.ts";
import { inputKeys, wireKeys } from "../../src/model/key_spelling.ts";
import { unmasked } from "../../src/model/secret_values.ts";
import { DaemonClient } from "../../src/protocol/daemon_client.ts";
import type { ProcessJson } from "../../src/protocol/wire.ts";
import { processJson } from "../../src/protocol/process_json.ts";
import { configTypes, keyReference } from "../../scripts/key_types.ts";
import { documentSchemas } from "../../src/web/openapi.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";
import { Files, mistakes } from "../config/files.ts";

const LEAST = { name: "api", entrypoint: "/bin/sleep", args: ["1000"], cwd: "/" };
const KEYS = { linger_time: "90s", cache_room: "2MB" };

function refusal(keys: object): string {
  return assertThrows(() => parseConfig({ ...LEAST, ...keys }), ProcsupError).message;
}

Deno.test("a row of the key table defines how its key is checked and spelled", () => {
  const config = parseConfig({ ...LEAST, ...KEYS }) as unknown as Record<string, unknown>;
  assertEquals([config.lingerTimeMs, config.cacheRoomBytes], [90_000, 2 * 1024 ** 2]);
  assertEquals({ ...wireKeys(config), ...KEYS, linger_time: "1m30s" }, wireKeys(config));
  assertEquals(parseConfig(wireKeys(config)), parseConfig({ ...LEAST, ...KEYS }));
  assertEquals(inputKeys({ lingerTime: "90s", cacheRoom: "2MB" }), KEYS);
  const usual = parseConfig(LEAST) as unknown as Record<string, unknown>;
  assertEquals([usual.lingerTimeMs, usual.cacheRoomBytes], [3000, undefined]);
  assertStringIncludes(refusal({ linger_time: "soon" }), 'Invalid "linger_time" "soon": ');
  assertEquals(
    refusal({ linger_tim: "1s" }),
    'Unknown key "linger_tim": did you mean "linger_time"?',
  );
  // Its values are masked, even in errors.
  assertEquals(refusal({ cache_room: "1B" }), 'Invalid "cache_room": expected 1KB or more');
});

Deno.test("a row of the key table becomes a key of files, their schema and their positions", async () => {
  await using files = new Files({
    "procsup.yaml":
      `defaults: { linger_time: 90s }\nprocesses: { api: { entrypoint: sleep, cache_room: 2MB } }`,
  });
  const { processes: [api] } = await files.load(["procsup.yaml"]);
  const { linger_time, cache_room } = wireKeys(api!.config);
  assertEquals([linger_time, cache_room], ["1m30s", "2MB"]);
  const wrong = "processes:\n  api: { entrypoint: sleep, linger_time: soon }\n";
  assertStringIncludes(
    (await mistakes("procsup.yaml", wrong))[0]!,
    '2:42: "api": invalid "linger_time"',
  );
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(
    configFileSchema(),
  );
  assert(validate({ processes: { api: { entrypoint: "x", ...KEYS } } }));
  assert(!validate({ processes: { api: { entrypoint: "x", linger_time: "soon" } } }));
  assert(!validate({ processes: { api: { entrypoint: "x", cache_room: "much" } } }));
});

Deno.test("a row of the key table becomes a flag of start and restart", () => {
  for (const verb of ["start", "restart"]) {
    const words = [verb, "/bin/sleep", "--linger", "90s", "--cache-room", "2MB"];
    const { positionals, rest, flags } = readCommandLine(words);
    const world = { cwd: "/", cpus: 1, variable: () => undefined, isFile: () => true };
    const [payload] = startPayloads({ positionals, rest, flags, ...world });
    const { linger_time, cache_room } = payload as Record<string, unknown>;
    assertEquals({ linger_time, cache_room }, KEYS);
  }
});

Deno.test("a row of the key table controls restart and masking", () => {
  const changes = (keys: object) =>
    configChanges(parseConfig({ ...LEAST, ...KEYS }), parseConfig({ ...LEAST, ...KEYS, ...keys }));
  const lingers = changes({ linger_time: "2m" });
  assertEquals(lingers, [{ field: "linger_time", from: "1m30s", to: "2m" }]);
  assertEquals(needsRestart(lingers), false);
  assertEquals(changes({ cache_room: "3MB" }), [{ field: "cache_room" }]);
  assertEquals(needsRestart(changes({ cache_room: "3MB" })), true);
  assertThrows(() => unmasked({ cache_room: "***" }, {}), ProcsupError, 'Invalid "cache_room"');
});

Deno.test("a row of the key table becomes a key of the library and the wire format", async () => {
  const logDir = await Deno.makeTempDir();
  await using manager = await Manager.open({ logDir });
  const keys = { lingerTime: "90s", cacheRoom: "2MB" };
  const id = await manager.addProcess({ ...LEAST, ...keys } as never);
  const { config } = processJson(manager.inspect(id));
  assertEquals([config.linger_time, config.cache_room], ["1m30s", "***"]);
  await manager.close();
  await Deno.remove(logDir, { recursive: true });
});

Deno.test("a row of the key table works from the command line to the daemon and back", async () => {
  await using home = await tempHome();
  const main = fromFileUrl(import.meta.resolve("../fixtures/two_more_keys_main.ts"));
  const command = (...args: string[]) =>
    new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", main, ...args],
      env: { PROCSUP_HOME: home.path, NO_COLOR: "1" },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    });
  const client = new DaemonClient(home.path);
  const daemon = command("daemon").spawn();
  try {
    await waitFor(() => client.call("ping").then(() => true, () => false));
    const words = ["--linger", "90s", "--cache-room", "2MB", "--", "sleep", "1000"];
    const { code, stderr } = await command("start", "--name", "api", ...words).output();
    assertEquals(code, 0, new TextDecoder().decode(stderr));
    const pids = async () => (await client.call("list")).map(({ pid }) => pid);
    const before = await pids();
    const [{ config }] = await client.call("list") as [ProcessJson];
    assertEquals([config.linger_time, config.cache_room], ["1m30s", "***"]);
    const change = (keys: Record<string, unknown>) =>
      client.call("reconfigure", { target: "api", config: keys });
    const live = await change({ linger_time: "2m" });
    assertEquals([live.status, await pids()], ["changed", before]);
    const restarted = await change({ cache_room: "3MB" });
    assertEquals([restarted.status, restarted.changes], ["reloaded", [{ field: "cache_room" }]]);
    assert((await pids())[0] !== before[0]);
    // A mask that was read keeps the value.
    assertEquals((await change({ cache_room: "***" })).status, "unchanged");
    const error = await assertRejects(() => change({ linger_time: "soon" }), ProcsupError);
    assertEquals(error.code, "invalid_config");
  } finally {
    await client.call("shutdown");
    await daemon.output();
  }
});

Deno.test("a row of the key table becomes a type, and a row of the reference", () => {
  assertStringIncludes(configTypes(), "readonly lingerTimeMs: number;");
  assertStringIncludes(configTypes(), "readonly cacheRoomBytes?: number;");
  assertStringIncludes(keyReference(), "| `cache_room` | size from `1KB` |");
  const { ProcessConfig } = documentSchemas() as Record<string, { properties: object }>;
  assert("linger_time" in ProcessConfig!.properties && "cache_room" in ProcessConfig!.properties);
});
