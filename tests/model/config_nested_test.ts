/** Nested objects in a configuration: their short forms, and the message for each mistake. */

import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { wireKeys } from "../../src/model/key_spelling.ts";
import { parseConfig } from "../../src/model/config_schema.ts";
import { ProcsupError } from "../../src/model/errors.ts";
import type { ProcessConfig } from "../../src/model/process_config.ts";

const LEAST = { name: "api", entrypoint: "api.ts", cwd: "/srv" };
const HTTP = { type: "http", url: "http://localhost/" };

function parsed(changes: object): ProcessConfig {
  return parseConfig({ ...LEAST, ...changes });
}

/** The error message for `LEAST` with these changes. */
function refusal(changes: object): string {
  const error = assertThrows(() => parsed(changes), ProcsupError);
  assertEquals(error.code, "invalid_config");
  return error.message;
}

Deno.test("parseConfig() accepts a hook without a command and skips it", () => {
  for (const pre_start of [{}, { command: "" }, { timeout: "5s" }, ""]) {
    assertEquals(parsed({ hooks: { pre_start } }).hooks.preStart?.command, "");
  }
});

Deno.test("parseConfig() reads an empty runtime as auto", () => {
  assertEquals([parsed({ runtime: "" }).runtime, parsed({}).runtime], ["auto", "auto"]);
});

Deno.test("parseConfig() accepts address as an alias of tcp_endpoint", () => {
  const health = (check: object) => parsed({ health_check: { type: "tcp", ...check } }).healthCheck;
  assertEquals(health({ address: "::1:80" }), health({ tcp_endpoint: "::1:80" }));
  assertEquals(health({ address: "::1:80" })?.tcpEndpoint, "::1:80");
});

Deno.test("parseConfig() accepts a bare command as a hook", () => {
  assertEquals(parsed({ hooks: { pre_start: "make" } }).hooks, {
    preStart: { command: "make", timeoutMs: 30_000, ignoreFailure: false, runAsRoot: false },
  });
});

Deno.test("parseConfig() accepts true, false or paths for watch", () => {
  const rest = { ignore: [], debounceMs: 100, poll: false, action: "restart" };
  assertEquals(parsed({ watch: true }).watch, { enabled: true, paths: [], ...rest });
  assertEquals(parsed({ watch: false }).watch, { enabled: false, paths: [], ...rest });
  assertEquals(parsed({ watch: ["a"] }).watch, { enabled: true, paths: ["a"], ...rest });
  assertEquals(parsed({ watch: { debounce: "1s" } }).watch?.debounceMs, 1000);
});

Deno.test("parseConfig() accepts a bare expression as a schedule", () => {
  assertEquals(parsed({ cron_restart: "@daily" }).cronRestart, { schedule: "@daily" });
  assertEquals(parsed({ cron: "* * * * *" }).cron, {
    schedule: "* * * * *",
    overlap: "skip",
    catchUp: "none",
    enabled: true,
  });
  const cron = { schedule: "@hourly", timezone: "Europe/Berlin", overlap: "kill", timeout: "5m" };
  assertEquals(parsed({ cron }).cron, {
    schedule: "@hourly",
    timezone: "Europe/Berlin",
    overlap: "kill",
    catchUp: "none",
    timeoutMs: 300_000,
    enabled: true,
  });
});

Deno.test("parseConfig() does not restart a job between its runs by default", () => {
  assertEquals(parsed({ cron: "@daily" }).restartPolicy, "never");
  assertEquals(
    parsed({ cron: "@daily", restart_policy: "on-failure" }).restartPolicy,
    "on-failure",
  );
});

Deno.test("parseConfig() accepts a list or a map of dependencies", () => {
  assertEquals(parsed({ depends_on: ["db", "mq"] }).dependsOn, { db: "ready", mq: "ready" });
  assertEquals(parsed({ depends_on: { db: "completed_ok" } }).dependsOn, { db: "completed_ok" });
  assertEquals(parsed({ depends_on: [] }).dependsOn, {});
});

/** One mistake of each kind, and how its message starts. */
const MISTAKES: readonly [object, string][] = [
  [
    { health_check: { type: "http" } },
    'Invalid "health_check" {"type":"http"}: type "http" needs "url"',
  ],
  [
    { health_check: { type: "tcp" } },
    'Invalid "health_check" {"type":"tcp"}: type "tcp" needs "tcp_endpoint"',
  ],
  [
    { health_check: { type: "command", url: "http://x/" } },
    'Invalid "health_check" {"type":"command","url":"http://x/"}: type "command" needs "command"',
  ],
  [
    { health_check: { type: "tcp", tcp_endpoint: "x:1", insecure: true } },
    'Invalid "health_check" {"type":"tcp","tcp_endpoint":"x:1","insecure":true}: ' +
    'type "tcp" has no "insecure", which is for "http"',
  ],
  [
    { health_check: { type: "http", url: "http://x/", expect: { status: 99 } } },
    'Invalid "health_check.expect.status" 99',
  ],
  [{ log: { mode: "0640" } }, 'Invalid "log" {"mode":"0640"}: "mode" needs "stdout" or "stderr"'],
  [
    { log: { stdout: "/var/log/a", mode: "0666" } },
    'Invalid "log.mode" "0666": expected "0600", "0640" or "0644"',
  ],
  [{ health_check: { type: "udp" } }, 'Invalid "health_check.type" "udp": expected one of'],
  [{ health_check: {} }, 'Missing "health_check.type"'],
  [{ health_check: true }, 'Invalid "health_check" true: expected map'],
  [
    { health_check: { ...HTTP, url: "ftp://x/" } },
    'Invalid "health_check.url" "ftp://x/": expected an http',
  ],
  [
    { health_check: { type: "tcp", address: "x" } },
    'Invalid "health_check.address" "x": expected "host:port"',
  ],
  [
    { health_check: { type: "tcp", address: "x:1", tcp_endpoint: "x:1" } },
    'Invalid "health_check": "tcp_endpoint" and "address" mean the same, give one',
  ],
  [
    { health_check: { ...HTTP, retries: 0 } },
    'Invalid "health_check.retries" 0: expected 1 or more',
  ],
  ...["127.0.0.1:0", "[::1]:70000", "localhost:65536"].map((endpoint): [object, string] => [
    { health_check: { type: "tcp", tcp_endpoint: endpoint } },
    `Invalid "health_check.tcp_endpoint" "${endpoint}": expected a port from 1 to 65535`,
  ]),
  ...["http://127.0.0.1:0/", "http://127.0.0.1:70000/"].map((url): [object, string] => [
    { health_check: { type: "http", url } },
    `Invalid "health_check.url" "${url}": expected `,
  ]),
  [{ restart_window: "0s" }, 'Invalid "restart_window" "0s": expected 1ms or more'],
  [{ health_check: { ...HTTP, interval: 5.5 } }, 'Invalid "health_check.interval" 5.5: '],
  [
    { health_check: { ...HTTP, on_failure: "stop" } },
    'Invalid "health_check.on_failure" "stop": expected "restart"',
  ],
  [
    { health_check: { ...HTTP, on_failure: "signal:X" } },
    'Invalid "health_check.on_failure" "signal:X": unknown signal',
  ],
  [
    { health_check: { ...HTTP, urll: "x" } },
    'Unknown key "health_check.urll": did you mean "url"?',
  ],
  [{ hooks: { pre_strat: "x" } }, 'Unknown key "hooks.pre_strat": did you mean "pre_start"?'],
  [
    { hooks: { pre_start: { command: "x", timout: "1s" } } },
    'Unknown key "hooks.pre_start.timout": did you mean "timeout"?',
  ],
  [{ hooks: { pre_start: 5 } }, 'Invalid "hooks.pre_start" 5: expected map'],
  [{ hooks: { pre_start: { command: 5 } } }, 'Invalid "hooks.pre_start.command" 5: '],
  [
    { hooks: { post_stop: { command: "x", timeout: "1" } } },
    'Invalid "hooks.post_stop.timeout" "1": ',
  ],
  [{ ready_log: "(" }, 'Invalid "ready_log" "(": invalid regular expression'],
  [{ max_memory: 0 }, 'Invalid "max_memory" 0: expected 1B or more'],
  [{ max_age: "0s" }, 'Invalid "max_age" "0s": expected 1s or more'],
  [
    { hooks: { pre_start: { command: "x", timeout: "0s" } } },
    'Invalid "hooks.pre_start.timeout" "0s": expected 1ms or more',
  ],
  [{ cron: { schedule: "@daily", timeout: "0s" } }, 'Invalid "cron.timeout" "0s": expected 1ms'],
  [{ max_memory: "5XB" }, 'Invalid "max_memory" "5XB": expected bytes'],
  [{ log: { max_size: "big" } }, 'Invalid "log.max_size" "big": expected bytes'],
  [{ log: { maxsize: 1 } }, 'Unknown key "log.maxsize": did you mean "max_size"?'],
  [{ limits: { nofiles: 1 } }, 'Unknown key "limits.nofiles": did you mean "nofile"?'],
  [{ watch: "src" }, 'Invalid "watch" "src": expected map'],
  [{ watch: { path: ["src"] } }, 'Unknown key "watch.path": did you mean "paths"?'],
  [
    { watch: { action: "command", command: "" } },
    'Invalid "watch" {"action":"command","command":""}: action "command" needs "command"',
  ],
  [
    { watch: { action: "command", command: { timeout: "3s" } } },
    'Invalid "watch" {"action":"command","command":{"timeout":"3s"}}: action "command" needs',
  ],
  [{ watch: [5] }, 'Invalid "watch.0" 5: expected string'],
  [{ depends_on: "db" }, 'Invalid "depends_on" "db": expected map'],
  [{ depends_on: { db: "up" } }, 'Invalid "depends_on.db" "up": expected one of started'],
  [{ cron: "" }, 'Invalid "cron" "": must not be empty'],
  [
    { cron: { schedule: "@daily", overlap: "wait" } },
    'Invalid "cron.overlap" "wait": expected one of',
  ],
  [{ cron: { shedule: "@daily" } }, 'Unknown key "cron.shedule": did you mean "schedule"?'],
  [{ cron_restart: { schedule: "@daily", overlap: "skip" } }, 'Unknown key "cron_restart.overlap"'],
  [{ cron: "@daily", restart_policy: "always" }, 'Invalid "restart_policy" "always": '],
  [{ cron: "@daily", cron_restart: "@daily" }, 'Invalid "cron_restart" "@daily": '],
  [{ log: { stdout: "/x/~/a.log" } }, 'Invalid "log.stdout" "/x/~/a.log": only shells replace "~"'],
  [{ env_file: "~/.env" }, 'Invalid "env_file" "~/.env": only shells replace "~"'],
  [{ umask: "999" }, 'Invalid "umask" "999": expected octal digits'],
  [{ nice: 20 }, 'Invalid "nice" 20: expected 19 or less'],
  [{ uid: -1 }, 'Invalid "uid" -1: expected 0 or more'],
];

for (const [changes, start] of MISTAKES) {
  Deno.test(`parseConfig() names the nested field when given ${JSON.stringify(changes)}`, () => {
    const message = refusal(changes);
    assert(message.startsWith(start), message);
  });
}

Deno.test("parseConfig() reads back what wireKeys() made of nested objects", () => {
  const config = parsed({
    health_check: { type: "tcp", address: "localhost:1", interval: "1m" },
    hooks: { pre_start: "make" },
    watch: true,
    cron: { schedule: "@daily", timeout: "1s" },
    depends_on: { timeout: "started" },
    limits: { core: 0, memory: "1GB" },
    log: { max_files: 0 },
    max_memory: "1000B",
  });
  assertEquals(parseConfig(wireKeys(config)), config);
});

Deno.test("parseConfig() accepts a list up to its limit", () => {
  const args = Array<string>(4096).fill("x");
  assertEquals(parsed({ args }).args, args);
  assertMatch(refusal({ args: [...args, "x"] }), /^Invalid "args".*: expected at most 4096 items$/);
});
