/** The two spellings of configuration keys, and the conversion between them. */

import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { configOf, inputKeys, wireKeys } from "../../src/model/key_spelling.ts";
import { snakeCase } from "../../src/model/key_table.ts";
import { parseConfig } from "../../src/model/config_schema.ts";
import { ProcsupError } from "../../src/model/errors.ts";
import { SIGNAL_NAMES } from "../../src/model/signal.ts";

const LEAST = { name: "api", entrypoint: "api.ts", cwd: "/srv" };

/** The values that `wireKeys()` omits. */
const EMPTY = configOf({});

Deno.test("snakeCase() turns an in-memory name into the wire name", () => {
  assertEquals(snakeCase("restartDelay"), "restart_delay");
  assertEquals(snakeCase("successExitCodes"), "success_exit_codes");
  assertEquals(snakeCase("name"), "name");
  assertEquals(snakeCase("healthCheck"), "health_check");
  assertEquals(snakeCase("preHealthCheck"), "pre_healthcheck");
});

Deno.test("configOf() renames keys and adds the unit to durations", () => {
  for (const restart_delay of [100, "100ms"]) {
    assertEquals(configOf({ max_restarts: 3, restart_delay, use_bundle: true }), {
      ...EMPTY,
      maxRestarts: 3,
      restartDelayMs: 100,
      useBundle: true,
    });
  }
});

Deno.test("configOf() and wireKeys() handle the hooks whose wire name is one word", () => {
  const wire = { health_check: {}, hooks: { pre_healthcheck: "a", post_healthcheck: "b" } };
  const memory = { healthCheck: {}, hooks: { preHealthCheck: "a", postHealthCheck: "b" } };
  assertEquals(configOf(wire), { ...EMPTY, ...memory });
  assertEquals(inputKeys(memory), wire);
});

Deno.test("configOf() and wireKeys() leave user-defined keys alone", () => {
  const maps = {
    env: { restart_delay: "x", maxRestarts: "y", fooMs: "z" },
    labels: { stop_timeout: "x", stopTimeoutMs: "y" },
  };
  assertEquals(configOf(maps), { ...EMPTY, ...maps });
  assertEquals(wireKeys(maps), maps);
  assertEquals(inputKeys(maps), maps);
});

Deno.test("wireKeys() writes durations as text and leaves out empty values", () => {
  const wire = wireKeys(parseConfig({ ...LEAST, stop_timeout: 90_000_000_000 }));
  assertEquals([wire.stop_timeout, wire.restart_delay], ["1m30s", "100ms"]);
  for (const key of ["labels", "tags", "interpreter", "reload_signal"]) {
    assertEquals(key in wire, false, key);
  }
  assertEquals([wire.args, wire.env], [[], {}]);
});

Deno.test("inputKeys() renames the keys of library input and keeps the values", () => {
  assertEquals(inputKeys({ maxRestarts: 3, restartDelay: "5s", args: ["aB"] }), {
    max_restarts: 3,
    restart_delay: "5s",
    args: ["aB"],
  });
});

Deno.test("wireKeys() keeps an empty shell_env, which differs from the daemon's environment", () => {
  assertEquals(wireKeys(parseConfig({ ...LEAST, shell_env: {} })).shell_env, {});
  assertEquals("shell_env" in wireKeys(parseConfig(LEAST)), false);
});

Deno.test("parseConfig() reads back no success codes when wireKeys() wrote none", () => {
  const config = parseConfig({ ...LEAST, success_exit_codes: [] });
  assertEquals(parseConfig(wireKeys(config)).successExitCodes, []);
});

/** Text without NUL, which the schema rejects. */
const text = fc.string().map((value) => value.replaceAll("\0", ""));
const words = fc.stringMatching(/^[a-z][a-z0-9-]{0,10}$/).filter((word) => word !== "all");
const durations = fc.oneof(
  fc.nat(100_000).map((ms) => `${ms}ms`),
  fc.nat(10_000_000).map((ms) => ms * 1_000_000),
);

/** `~` is the shell's word for a home, and is refused in paths. */
const paths = text.filter((value) => !value.includes("~"));
const programs = paths.filter((value) => value !== "");

/** Any valid configuration in its wire form. */
const wires = fc.record({
  name: words,
  entrypoint: programs,
  cwd: paths.map((value) => `/${value}`),
  runtime: fc.constantFrom("auto", "deno", "ruby"),
  interpreter: programs,
  use_bundle: fc.boolean(),
  stdin: fc.boolean(),
  tty: fc.boolean(),
  args: fc.array(text),
  env: fc.dictionary(fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,10}$/), text),
  autostart: fc.boolean(),
  restart_policy: fc.constantFrom("always", "on-failure", "never"),
  max_restarts: fc.nat(),
  restart_window: fc.integer({ min: 1, max: 1e9 }).map((ms) => `${ms}ms`),
  restart_delay: durations,
  backoff_max: durations,
  min_uptime: durations,
  success_exit_codes: fc.array(fc.nat(255), { minLength: 1 }),
  stop_signal: fc.constantFrom(...SIGNAL_NAMES),
  stop_mode: fc.constantFrom("group", "main", "leave"),
  stop_timeout: durations,
  reload_signal: fc.integer({ min: 1, max: 31 }),
  instances: fc.integer({ min: 1, max: 1024 }),
  namespace: words,
  labels: fc.dictionary(text.filter((key) => key !== "__proto__"), text),
  tags: fc.array(text.filter((value) => value !== "")),
}, { requiredKeys: ["name", "entrypoint", "cwd"] });

Deno.test("parseConfig() reads back what wireKeys() wrote", () => {
  fc.assert(fc.property(wires, (wire) => {
    const config = parseConfig(wire);
    assertEquals(parseConfig(wireKeys(config)), config);
    assertEquals(parseConfig(JSON.parse(JSON.stringify(wireKeys(config)))), config);
  }));
});

Deno.test("inputKeys() leaves out undefined values and rejects a key given in both spellings", () => {
  const input = { name: "a", cwd: undefined, log: { maxFiles: undefined }, env: { A: undefined } };
  assertEquals(inputKeys(input), { name: "a", log: {}, env: {} });
  assertThrows(
    () => inputKeys({ log: { max_files: 1, maxFiles: 2 } }),
    ProcsupError,
    'Invalid configuration: "log.maxFiles" is given in both spellings',
  );
  // In a user-defined map the two spellings are separate keys.
  const env = { max_files: "1", maxFiles: "2" };
  assertEquals(inputKeys({ env }), { env });
});
