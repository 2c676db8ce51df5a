/** The JSON Schema of configuration files, under the validator that editors use. */

import { assert } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import { configFileSchema } from "../../src/config/json_schema.ts";
import { mistakes } from "./files.ts";

const validate = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
  .compile(configFileSchema());

const RIGHT: readonly unknown[] = [
  { processes: {}, "x-common": { anything: 1 } },
  { version: 1, processes: [{ name: "api", entrypoint: "api.ts" }] },
  {
    $schema: "./procsup.schema.json",
    extends: ["base.yaml"],
    processes: { api: { instances: 2 } },
  },
  {
    defaults: { restart_policy: "always", env: { PORT: 80, DEBUG: true, TEXT: "x" } },
    processes: {
      api: {
        script: "server.py",
        args: [1, "two"],
        watch: true,
        hooks: { pre_start: "make", post_stop: { command: "rm -f x", timeout: "5s" } },
        depends_on: { db: "healthy" },
        health_check: { type: "http", url: "http://127.0.0.1/", interval: "10s" },
        max_memory: "512MB",
        stop_timeout: 5_000_000_000,
        stop_signal: "SIGINT",
        secrets: { TOKEN: { file: "token" } },
        log: { max_size: "1.5GiB", max_age: "24h" },
        sockets: ["127.0.0.1:80"],
      },
      tcp: { entrypoint: "x", health_check: { type: "tcp", tcp_endpoint: "${DB_HOST}" } },
      db: { binary: "/bin/db", watch: ["src"], cron_restart: "0 3 * * *", depends_on: [] },
      job: { entrypoint: "x", cron: { schedule: "* * * * *", overlap: "kill", timeout: "1m" } },
    },
    cron: [{
      name: "nightly",
      schedule: "0 3 * * *",
      command: "a | b",
      timeout: "1h",
      tags: ["x"],
    }],
    web: { listen: "127.0.0.1:${PORT:-80}", hosts: ["box.lan", 1, true], allow_remote: false },
    webhooks: {
      ops: { url: "https://a.example/x", secret: { file: "key" }, events: "crash", only: ["api"] },
      more: { url: "${URL}", events: ["errored", "recovered"], timeout: "3s", max_attempts: 3 },
    },
    profiles: {
      production: {
        defaults: { nice: 5 },
        processes: { api: { instances: 4 } },
        web: { listen: ":80" },
        webhooks: { ops: { retry_delay: "5s" } },
      },
    },
  },
  { cron: { nightly: { schedule: "0 3 * * *", command: "true" } } },
];

/** Mistakes: the first item is the file, the second the wrong value. */
const WRONG: readonly (readonly [unknown, string])[] = [
  [{ version: 2, processes: {} }, "another version"],
  [{ procesess: {} }, "an unknown key of the file"],
  [{ processes: { api: { entrypoint: "x", instnces: 2 } } }, "an unknown key"],
  [{ processes: { api: { args: [] } } }, "no entrypoint"],
  [{ processes: [{ entrypoint: "x" }] }, "no name in a list"],
  [{ processes: { api: { entrypoint: "x", instances: "many" } } }, "a word for a number"],
  [{ processes: { api: { entrypoint: "x", instances: 0 } } }, "a number out of range"],
  [{ processes: { api: { entrypoint: "x", restart_policy: "sometimes" } } }, "no such policy"],
  [{ processes: { api: { entrypoint: "x", stop_timeout: "5 apples" } } }, "no duration"],
  [{ processes: { api: { entrypoint: "x", stop_timeout: "1d" } } }, "no unit of a duration"],
  [{ processes: { api: { entrypoint: "x", max_memory: "lots" } } }, "no size"],
  [{ processes: { api: { entrypoint: "x", env: { "A B": "1" } } } }, "no name of a variable"],
  [{ processes: { api: { entrypoint: "x", env: ["A=1"] } } }, "a list for a map"],
  [{ processes: { api: { entrypoint: "x", secrets: { A: "text" } } } }, "a secret in the file"],
  [{ processes: { api: { entrypoint: "x", secrets: { A: {} } } } }, "a secret from nowhere"],
  [{ processes: { api: { entrypoint: "x", depends_on: { db: "up" } } } }, "no such condition"],
  [{ processes: { api: { entrypoint: "x", health_check: { type: "ping" } } } }, "no such check"],
  [{ processes: { api: { entrypoint: "x", hooks: { before: "x" } } } }, "no such hook"],
  [{ processes: { all: { entrypoint: "x", name: "all" } } }, "a name that is a target"],
  [{ processes: {}, cron: [{ name: "a", command: "x" }] }, "a job without schedule"],
  [{ web: { port: 80 } }, "an unknown key of web"],
  [{ web: { listen: "nowhere" } }, "no address"],
  [{ web: "127.0.0.1:80" }, "a text for web"],
  [{ webhooks: { a: { events: "crash" } } }, "a webhook without a URL"],
  [{ webhooks: { a: { url: "ftp://a/" } } }, "another protocol"],
  [{ webhooks: { a: { url: "http://a/", events: ["crashed"] } } }, "no such event"],
  [{ webhooks: { a: { url: "http://a/", secret: "text" } } }, "a secret of a webhook in the file"],
  [{ webhooks: [{ url: "http://a/" }] }, "a webhook without a name"],
  [{ webhooks: { a: { url: "http://a/", retries: 3 } } }, "an unknown key of a webhook"],
];

Deno.test("configFileSchema() accepts every valid example", () => {
  for (const value of RIGHT) assert(validate(value), JSON.stringify(validate.errors, null, 1));
});

Deno.test("configFileSchema() rejects every mistake, and so does the program", async () => {
  for (const [value, what] of WRONG) {
    assert(!validate(value), `the schema takes ${what}`);
    const found = await mistakes("procsup.json", JSON.stringify(value));
    assert(found.length > 0, `the program takes ${what}`);
  }
});
