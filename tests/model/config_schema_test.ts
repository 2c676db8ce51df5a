/** The configuration of a process: defaults, and the message for each kind of mistake. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { ConfigFieldError, parseConfig } from "../../src/model/config_schema.ts";
import { keyNames } from "../../src/model/key_table.ts";
import { MAX_INSTANCES, PROCESS_KEYS } from "../../src/model/process_keys.ts";
import { ProcsupError } from "../../src/model/errors.ts";

const CONFIG_KEYS = keyNames(PROCESS_KEYS);

const LEAST = { name: "api", entrypoint: "api.ts", cwd: "/srv" };

/** The error message for `LEAST` with these changes. */
function refusal(changes: object): string {
  const error = assertThrows(() => parseConfig({ ...LEAST, ...changes }), ProcsupError);
  assertEquals(error.code, "invalid_config");
  return error.message;
}

Deno.test("parseConfig() fills in every default", () => {
  assertEquals(parseConfig(LEAST), {
    name: "api",
    entrypoint: "api.ts",
    cwd: "/srv",
    runtime: "auto",
    useBundle: false,
    tty: false,
    args: [],
    env: {},
    envFile: [],
    secrets: {},
    inheritEnv: true,
    incrementEnv: [],
    autostart: true,
    restartPolicy: "on-failure",
    maxRestarts: 10,
    restartWindowMs: 60_000,
    restartDelayMs: 100,
    backoffMaxMs: 60_000,
    minUptimeMs: 1000,
    successExitCodes: [0],
    stopSignal: "SIGTERM",
    stopMode: "group",
    umask: "022",
    stopTimeoutMs: 5000,
    overlap: false,
    waitReady: false,
    listenTimeoutMs: 30_000,
    alerts: [],
    hooks: {},
    instances: 1,
    namespace: "default",
    labels: {},
    tags: [],
    dependsOn: {},
    priority: 0,
    sockets: [],
    limits: {},
    noNewPrivs: false,
    privateTmp: false,
    readOnly: false,
    writable: [],
    log: {
      maxSizeBytes: 10 * 1024 ** 2,
      maxFiles: 5,
      maxAgeMs: 7 * 24 * 3_600_000,
      compress: true,
      pipe: "auto",
      rotate: "size",
    },
  });
});

Deno.test("parseConfig() accepts every key", () => {
  const wire = {
    name: "api",
    entrypoint: "api.rb",
    cwd: "/srv",
    runtime: "ruby",
    interpreter: "/opt/ruby",
    use_bundle: true,
    stdin: true,
    tty: true,
    args: ["--port", "80"],
    env: { PORT: "80", restart_delay: "kept" },
    env_file: ".env",
    secrets: { TOKEN: { file: "/run/token" } },
    inherit_env: ["PATH"],
    increment_env: "PORT",
    autostart: false,
    restart_policy: "always",
    max_restarts: 0,
    restart_window: "2m",
    restart_delay: 1_000_000,
    backoff_max: "0",
    min_uptime: "1.5s",
    success_exit_codes: [0, 42],
    stop_signal: "int",
    stop_mode: "main",
    stop_timeout: 0,
    reload_signal: 1,
    overlap: true,
    wait_ready: true,
    listen_timeout: "5s",
    ready_log: "^listening",
    ready_delay: "2s",
    health_check: { type: "http", url: "http://127.0.0.1/health", on_failure: "signal:usr1" },
    hooks: {
      pre_start: "make",
      post_stop: { command: "rm x", timeout: "1s", ignore_failure: true },
    },
    alerts: ["cpu > 80%", { when: "memory > 1GB", resolve_after: "5m" }],
    watch: ["src"],
    instances: MAX_INSTANCES,
    namespace: "shop",
    labels: { stop_timeout: "kept" },
    tags: ["http"],
    depends_on: { db: "healthy", timeout: "started" },
    priority: -5,
    cron_restart: "0 4 * * *",
    max_memory: "512MB",
    max_age: "24h",
    sockets: ["127.0.0.1:8080"],
    uid: "www-data",
    gid: 33,
    umask: "027",
    nice: 5,
    limits: { nofile: 1024, core: 0, memory: "1GB", cpu_percent: 50, pids: 10 },
    ...{ no_new_privs: true, private_tmp: true, read_only: true, writable: ["data"] },
    log: {
      ...{ max_size: "1MB", max_files: 2, max_age: "1h", compress: false, pipe: true },
      ...{ rotate: "daily", stdout: "/srv/out-{instance}.log", stderr: "/srv/err-{instance}.log" },
    },
  };
  assertEquals(parseConfig(wire), {
    name: "api",
    entrypoint: "api.rb",
    cwd: "/srv",
    runtime: "ruby",
    interpreter: "/opt/ruby",
    useBundle: true,
    stdin: true,
    tty: true,
    args: ["--port", "80"],
    env: { PORT: "80", restart_delay: "kept" },
    envFile: [".env"],
    secrets: { TOKEN: { file: "/run/token" } },
    inheritEnv: ["PATH"],
    incrementEnv: ["PORT"],
    autostart: false,
    restartPolicy: "always",
    maxRestarts: 0,
    restartWindowMs: 120_000,
    restartDelayMs: 1,
    backoffMaxMs: 0,
    minUptimeMs: 1500,
    successExitCodes: [0, 42],
    stopSignal: "SIGINT",
    stopMode: "main",
    stopTimeoutMs: 0,
    reloadSignal: "SIGHUP",
    overlap: true,
    waitReady: true,
    listenTimeoutMs: 5000,
    readyLog: "^listening",
    readyDelayMs: 2000,
    healthCheck: {
      type: "http",
      url: "http://127.0.0.1/health",
      intervalMs: 10_000,
      timeoutMs: 5000,
      retries: 3,
      successThreshold: 1,
      gracePeriodMs: 0,
      onFailure: "signal:usr1",
    },
    hooks: {
      preStart: { command: "make", timeoutMs: 30_000, ignoreFailure: false, runAsRoot: false },
      postStop: { command: "rm x", timeoutMs: 1000, ignoreFailure: true, runAsRoot: false },
    },
    alerts: [
      { when: "cpu > 80%", resolveAfterMs: 60_000 },
      { when: "memory > 1GB", resolveAfterMs: 300_000 },
    ],
    watch: {
      enabled: true,
      paths: ["src"],
      ignore: [],
      debounceMs: 100,
      poll: false,
      action: "restart",
    },
    instances: MAX_INSTANCES,
    namespace: "shop",
    labels: { stop_timeout: "kept" },
    tags: ["http"],
    dependsOn: { db: "healthy", timeout: "started" },
    priority: -5,
    cronRestart: { schedule: "0 4 * * *" },
    maxMemoryBytes: 512 * 1024 ** 2,
    maxAgeMs: 24 * 3_600_000,
    sockets: ["127.0.0.1:8080"],
    uid: "www-data",
    gid: 33,
    umask: "027",
    ...{ noNewPrivs: true, privateTmp: true, readOnly: true, writable: ["data"] },
    nice: 5,
    limits: { nofile: 1024, coreBytes: 0, memoryBytes: 1024 ** 3, cpuPercent: 50, pids: 10 },
    log: {
      maxSizeBytes: 1024 ** 2,
      maxFiles: 2,
      maxAgeMs: 3_600_000,
      compress: false,
      pipe: true,
      rotate: "daily",
      stdout: "/srv/out-{instance}.log",
      stderr: "/srv/err-{instance}.log",
    },
  });
});

Deno.test("parseConfig() accepts script and binary as aliases of entrypoint", () => {
  for (const key of ["entrypoint", "script", "binary"]) {
    assertEquals(parseConfig({ name: "api", cwd: "/", [key]: "x" }).entrypoint, "x");
  }
});

Deno.test("parseConfig() rejects two aliases of entrypoint at once", () => {
  assertEquals(
    refusal({ script: "x" }),
    'Invalid configuration: "entrypoint" and "script" mean the same, give one',
  );
  assertEquals(
    refusal({ entrypoint: undefined, script: "x", binary: "y" }),
    'Invalid configuration: "script" and "binary" mean the same, give one',
  );
});

Deno.test("parseConfig() treats a key without a value as not given", () => {
  assertEquals(parseConfig({ ...LEAST, script: undefined, tags: undefined }), parseConfig(LEAST));
});

Deno.test("parseConfig() rejects anything but an object", () => {
  for (const input of [null, undefined, "api.ts", 5, true, []]) {
    const message = "Invalid configuration: expected an object";
    assertThrows(() => parseConfig(input), ProcsupError, message);
  }
});

Deno.test("parseConfig() names the missing key", () => {
  for (const key of ["name", "entrypoint", "cwd"]) {
    assertEquals(refusal({ [key]: undefined }), `Missing "${key}": every process needs it`);
  }
});

Deno.test("parseConfig() suggests the nearest known key for an unknown one", () => {
  const meant = {
    max_restart: "max_restarts",
    scrpt: "script",
    restartWindow: "restart_window",
    enviro: undefined,
  };
  for (const [key, near] of Object.entries(meant)) {
    const hint = near === undefined ? "" : `: did you mean "${near}"?`;
    assertEquals(refusal({ [key]: 5 }), `Unknown key "${key}"${hint}`);
  }
});

Deno.test("parseConfig() knows every key of the table", () => {
  for (const key of CONFIG_KEYS) {
    assert(!refusal({ [key]: Symbol.iterator }).startsWith("Unknown key"), key);
  }
});

/** One mistake of each kind, and the message without its `Invalid `. */
const MISTAKES: readonly [object, string][] = [
  [{ name: 5 }, '"name" 5: expected string, received number'],
  [{ name: "all" }, '"name" "all": is reserved: it addresses every process'],
  [{ name: "12" }, '"name" "12": cannot be all digits: that addresses a numeric id'],
  [
    { name: "a b" },
    "\"name\" \"a b\": must start with a letter or digit and hold only letters, digits, '.', '_' and '-'",
  ],
  [{ entrypoint: "" }, '"entrypoint" "": must not be empty'],
  [{ entrypoint: null }, '"entrypoint" null: expected string, received null'],
  [{ entrypoint: "a\0b" }, '"entrypoint" "a\\u0000b": contains a NUL'],
  [
    { runtime: "perl" },
    '"runtime" "perl": expected one of go, python, node, bun, deno, ruby, php, auto',
  ],
  [{ use_bundle: "yes" }, '"use_bundle" "yes": expected boolean, received string'],
  [{ autostart: 1 }, '"autostart" 1: expected boolean, received number'],
  [{ args: "x" }, '"args" "x": expected list, received string'],
  [{ args: ["a", 5] }, '"args.1" 5: expected string, received number'],
  [{ args: ["a\0"] }, '"args.0" "a\\u0000": contains a NUL'],
  [
    { restart_policy: "sometimes" },
    '"restart_policy" "sometimes": expected one of always, on-failure, never',
  ],
  [{ max_restarts: -1 }, '"max_restarts" -1: expected 0 or more'],
  [{ max_restarts: 1.5 }, '"max_restarts" 1.5: expected integer, received a fraction'],
  [{ success_exit_codes: 0 }, '"success_exit_codes" 0: expected list, received number'],
  [{ success_exit_codes: [256] }, '"success_exit_codes.0" 256: expected 255 or less'],
  [
    { stop_signal: "SIGTREM" },
    '"stop_signal" "SIGTREM": unknown signal: did you mean "SIGTERM"?',
  ],
  [{ instances: 0 }, '"instances" 0: expected 1 or more'],
  [{ instances: 1025 }, '"instances" 1025: expected 1024 or less'],
  [{ labels: { a: 5 } }, '"labels.a" 5: expected string, received number'],
  [{ tags: [""] }, '"tags.0" "": must not be empty'],
];

for (const [changes, message] of MISTAKES) {
  Deno.test(`parseConfig() names the field and the value when given ${JSON.stringify(changes)}`, () => {
    assertEquals(refusal(changes), `Invalid ${message}`);
  });
}

Deno.test("parseConfig() names the field when a duration is wrong", () => {
  const keys = ["restart_window", "restart_delay", "backoff_max", "min_uptime", "stop_timeout"];
  for (const key of keys) {
    for (const value of ["5", "-5s", "", -5, 1.5]) {
      const message = refusal({ [key]: value });
      assert(message.startsWith(`Invalid "${key}" ${JSON.stringify(value)}: `), message);
      assert(message.includes('expected a number with a unit, such as "5s"'), message);
    }
  }
});

Deno.test("parseConfig() rejects a duration that is too large", () => {
  const message = refusal({ restart_window: `${"9".repeat(400)}h` });
  assert(message.startsWith('Invalid "restart_window"'), message);
});

Deno.test("parseConfig() states what it expected when a duration or signal has the wrong type", () => {
  for (const changes of [{ restart_window: true }, { stop_signal: {} }, { restart_delay: null }]) {
    assert(refusal(changes).includes("expected"), refusal(changes));
  }
});

Deno.test("parseConfig() rejects a relative working directory and states why", () => {
  const message = refusal({ cwd: "srv" });
  assert(message.startsWith('Invalid "cwd" "srv": '), message);
  assert(message.includes('must start with "/"'), message);
});

Deno.test("parseConfig() shortens a long value in the message", () => {
  assert(refusal({ name: "a".repeat(10_000) }).length < 200);
});

Deno.test("parseConfig() names the alias when its value is wrong", () => {
  for (const key of ["script", "binary"]) {
    const message = refusal({ entrypoint: undefined, [key]: 5 });
    assert(message.startsWith(`Invalid "${key}" 5: `), message);
  }
});

Deno.test("parseConfig() never quotes the value of an environment variable", () => {
  const mistakes: object[] = [
    { env: { KEY: 5318008 } },
    { env: { KEY: "s3cret\0" } },
    { env: { KEY: { inner: "s3cret" } } },
    { env: { KEY: ["s3cret"] } },
    { env: { "A B": "s3cret" } },
    { env: "KEY=s3cret" },
    { env: ["KEY=s3cret"] },
    { env: { KEY: "s3cret" }, instances: 0 },
    { env: { KEY: "s3cret" }, unknown: 1 },
  ];
  for (const changes of mistakes) {
    assert(!/s3cret|5318008/.test(refusal(changes)), refusal(changes));
  }
});

Deno.test("parseConfig() names the invalid environment variable", () => {
  assertEquals(refusal({ env: { KEY: 5 } }), 'Invalid "env.KEY": expected string, received number');
  assertEquals(refusal({ env: { KEY: "\0" } }), 'Invalid "env.KEY": contains a NUL');
  for (const [key, shown] of [["", ""], ["A=B", "A=***"], ["A B", "A B"], ["A\0", "A\0"]]) {
    assert(refusal({ env: { [key!]: "x" } }).includes(JSON.stringify(shown)));
  }
});

Deno.test("parseConfig() accepts variable names that a shell would reject", () => {
  const env = { "discovery.type": "1", "A-B": "2", "1A": "3", "Ä": "4" };
  assertEquals(parseConfig({ ...LEAST, env }).env, env);
});

Deno.test("parseConfig() treats __proto__ and the like as unknown keys", () => {
  for (const key of ["__proto__", "constructor", "toString"]) {
    const input = JSON.parse(
      `{"name": "api", "entrypoint": "x", "cwd": "/", "${key}": {"cwd": "/"}}`,
    );
    assertThrows(() => parseConfig(input), ProcsupError, `Unknown key "${key}"`);
  }
});

Deno.test("parseConfig() has an error for each mistake, and for no key that may only be misspelled", () => {
  const input = { name: "api", entrypont: "x", cwd: "/", max_memory: "lots", stop_timeout: 5 };
  const error = assertThrows(() => parseConfig(input), ConfigFieldError);
  assertEquals(error.message, 'Unknown key "entrypont": did you mean "entrypoint"?');
  assertEquals(error.each.map(({ path }) => path), [["entrypont"], ["max_memory"], [
    "stop_timeout",
  ]]);
});

Deno.test("parseConfig() reads no value from a prototype", () => {
  const input = JSON.parse('{"name": "api", "entrypoint": "x", "__proto__": {"cwd": "/evil"}}');
  assertThrows(() => parseConfig(input), ProcsupError);
});

Deno.test("parseConfig() keeps or rejects a variable or label named __proto__, but never loses one", () => {
  for (const map of ["env", "labels"] as const) {
    const input = JSON.parse(`{"${map}": {"__proto__": "x", "constructor": "y"}}`);
    let keys: string[];
    try {
      keys = Object.keys(parseConfig({ ...LEAST, ...input })[map]);
    } catch (error) {
      assert(error instanceof ProcsupError);
      continue;
    }
    assertEquals(keys.sort(), ["__proto__", "constructor"]);
  }
});

Deno.test("parseConfig() returns a configuration or throws a ProcsupError for any input", () => {
  const inputs = fc.oneof(
    fc.anything(),
    fc.dictionary(fc.constantFrom(...CONFIG_KEYS), fc.anything())
      .map((changes) => ({ ...LEAST, ...changes })),
  );
  fc.assert(fc.property(inputs, (input) => {
    try {
      parseConfig(input);
    } catch (error) {
      assert(error instanceof ProcsupError && error.code === "invalid_config", String(error));
    }
  }));
});

Deno.test("parseConfig() accepts command instead of entrypoint, and max as one instance per processor", () => {
  const { entrypoint: _, ...rest } = { ...LEAST };
  const config = parseConfig({ ...rest, command: 'sleep "1 0"', instances: "max" });
  assertEquals([config.entrypoint, config.args], ["sleep", ["1 0"]]);
  assertEquals(config.instances, navigator.hardwareConcurrency);
  const error = assertThrows(() => parseConfig({ ...LEAST, command: "sleep 1" }), ProcsupError);
  assertEquals(error.message, 'Invalid "command": give either "command" or "entrypoint", not both');
  for (const command of ["", ["sleep", "1"]]) {
    const { message } = assertThrows(() => parseConfig({ ...rest, command }), ProcsupError);
    assertEquals(message.startsWith('Invalid "command": expected a command line'), true, message);
  }
});
