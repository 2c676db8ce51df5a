/** `web` and `webhooks` in configuration files: merged, interpolated, rejected. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { webhookChanges } from "../../src/daemon/webhooks/configured_webhooks.ts";
import { parseWebhook } from "../../src/model/config_schema.ts";
import { Files, mistakes } from "./files.ts";

Deno.test("loadConfig() merges web and webhooks over those of extended files and the profile", async () => {
  await using files = new Files({
    "shared/base.yaml": `
web: { hosts: [box.lan], max_clients: 10, tls: { cert: tls/cert.pem, key: /etc/key.pem } }
webhooks:
  ops: { url: "https://a.example/x", secret: { file: keys/ops }, timeout: 3s }
  old: { url: "https://b.example/" }
`,
    "procsup.yaml": `
extends: shared/base.yaml
web: { listen: ":8080" }
webhooks:
  - { name: ops, events: [crash, errored], only: "ns:shop" }
  - { name: more, url: "\${HOOK_URL:-https://c.example/}", secret: { env: KEY } }
profiles:
  production:
    web: { listen: "127.0.0.1:\${PORT}", allow_remote: true }
    webhooks: { ops: { url: "https://\${HOST}/x" } }
`,
  });
  const { settings } = await files.load(["procsup.yaml"]);
  const { folder } = files;
  const tls = { cert: `${folder}/shared/tls/cert.pem`, key: "/etc/key.pem" };
  const web = {
    ...{ listen: ":8080", allow_remote: false, hosts: ["box.lan"], max_clients: 10, tls },
    ...{ base_path: "/", trusted_proxies: [] },
  };
  assertEquals(settings.web, web);
  const usual = {
    format: "standard" as const,
    only: ["all"],
    timeoutMs: 10_000,
    maxAttempts: 10,
    maxQueued: 256,
    retryDelayMs: 1000,
  };
  const all = [
    "crash",
    "errored",
    "unhealthy",
    "release_failed",
    "recovered",
    "overdue",
    "alert",
    "alert_resolved",
  ] as const;
  assertEquals(settings.webhooks, [
    {
      ...usual,
      ...{ name: "ops", url: "https://a.example/x", secret: { file: `${folder}/shared/keys/ops` } },
      ...{ cwd: folder, events: ["crash", "errored"], only: ["ns:shop"], timeoutMs: 3000 },
    },
    { ...usual, name: "old", url: "https://b.example/", cwd: `${folder}/shared`, events: all },
    {
      ...usual,
      ...{
        name: "more",
        url: "https://c.example/",
        secret: { env: "KEY" },
        cwd: folder,
        events: all,
      },
    },
  ]);
  const env = { PORT: "81", HOST: "d.example", UNUSED: "x" };
  const production = await files.load(["procsup.yaml"], { profile: "production", env });
  assertEquals(production.settings.web, { ...web, listen: "127.0.0.1:81", allow_remote: true });
  assertEquals(production.settings.webhooks?.[0]?.url, "https://d.example/x");
  assertEquals(production.variables, { PORT: "81", HOST: "d.example" });
});

Deno.test("loadConfig() distinguishes a file without settings from one with empty settings", async () => {
  await using files = new Files({
    "none.yaml": "processes: {}\n",
    "null.yaml": "web:\nwebhooks:\n",
    "empty.yaml": "web: {}\nwebhooks: []\n",
  });
  assertEquals((await files.load(["none.yaml"])).settings, {});
  assertEquals((await files.load(["null.yaml"])).settings, {});
  const { web, webhooks } = (await files.load(["empty.yaml"])).settings;
  assertEquals([web?.listen, webhooks], ["127.0.0.1:9615", []]);
});

Deno.test("loadConfig() rejects invalid settings with their position, and quotes no secrets", async () => {
  const bad: readonly [string, string][] = [
    ["web: true", "1:6 web: expected a map"],
    ["webhooks: false", "1:11 webhooks: expected a list, or a map of names"],
    ["web: { hots: [a] }", '1:8 unknown key "web.hots": did you mean "hosts"?'],
    [
      "web: { listen: 80a }",
      '1:16 invalid "web.listen" "80a": expected "host:port", such as "127.0.0.1:9615"',
    ],
    [
      "web: { listen: 0.0.0.0:80 }",
      '1:16 invalid "web.listen" "0.0.0.0:80": cannot listen on "0.0.0.0:80": other machines can ' +
      'reach it; "allow_remote: true" allows it, with "tls" or behind a proxy that has it',
    ],
    ["webhooks: [{ url: http://a/ }]", '1:12 webhooks[0]: "name" is missing'],
    [
      "webhooks: [{ name: a, url: http://a/ }, { name: a, url: http://a/ }]",
      '1:49 duplicate name "a"',
    ],
    ["webhooks: { a: {} }", '1:13 missing "webhooks.a.url"'],
    [
      "webhooks: { a: { url: ftp://s3cret } }",
      '1:23 invalid "webhooks.a.url": expected an http:// or https:// URL',
    ],
    [
      "webhooks: { a: { url: http://u:s3cret@a/ } }",
      '1:23 invalid "webhooks.a.url": a user and a password are not sent, sign with "secret" instead',
    ],
    [
      "webhooks: { a: { url: http://a/, evnts: crash } }",
      '1:34 unknown key "webhooks.a.evnts": did you mean "events"?',
    ],
    [
      "webhooks: { a: { url: http://a/, events: [crash, crashed] } }",
      '1:50 invalid "webhooks.a.events.1" "crashed": did you mean "crash"?',
    ],
    [
      "webhooks: { a: { url: http://a/, events: boom } }",
      '1:42 invalid "webhooks.a.events" "boom": expected one of crash, errored, unhealthy, release_failed, recovered, overdue, alert, alert_resolved',
    ],
    [
      "alerts: [disk.free < much]",
      '1:10 invalid "alerts.0" "disk.free < much": column 13, "much": expected bytes, or a number with a unit, such as "512MB"',
    ],
    [
      "webhooks: { a: { url: http://a/, events: [] } }",
      '1:42 invalid "webhooks.a.events" []: is empty',
    ],
    [
      "webhooks: { a: { url: http://a/, only: [] } }",
      '1:40 invalid "webhooks.a.only" []: is empty',
    ],
    [
      "webhooks: { a: { url: http://a/, secret: s3cret } }",
      '1:42 invalid "webhooks.a.secret": expected { env: NAME }, { file: PATH } or { command: LINE }',
    ],
    [
      "webhooks: { a: { url: http://a/, secret: { env: A, command: s3cret } } }",
      '1:42 invalid "webhooks.a.secret": expected exactly one of "env", "file" and "command"',
    ],
    [
      "webhooks: { a: { url: http://a/, timeout: 0s } }",
      '1:43 invalid "webhooks.a.timeout" "0s": expected 1ms or more',
    ],
    [
      "webhooks: { a: { url: http://a/, timeout: 1d } }",
      '1:43 invalid "webhooks.a.timeout" "1d": expected a number',
    ],
    [
      'webhooks: { a: { url: "http://${GONE}/" } }',
      "1:23 the variable GONE is not set: " +
      "set it, write ${GONE:-default}, or $${GONE} to leave it as it is",
    ],
  ];
  for (const [text, message] of bad) {
    const [first = "", ...more] = await mistakes("procsup.yaml", `${text}\n`);
    const told = first.replace(/^(\d+:\d+):/, "$1");
    assertEquals([told.slice(0, message.length), more], [message, []], text);
  }
});

Deno.test("webhookChanges() names webhooks and keys, but no URL or secret", () => {
  const hook = (name: string, keys: object = {}) =>
    parseWebhook({ name, url: `https://h.example/${name}-s3cret`, ...keys }, "/");
  const changes = webhookChanges(
    [hook("a"), hook("b"), hook("c", { timeout: "5s", secret: { env: "A" } })],
    [hook("a"), hook("c", { timeout: "6s", secret: { env: "B" }, only: "api" }), hook("d")],
  );
  assertEquals(changes, [
    { field: "b", from: "https://h.example/…" },
    { field: "c.secret.env" },
    { field: "c.only", from: ["all"], to: ["api"] },
    { field: "c.timeout", from: "5s", to: "6s" },
    { field: "d", to: "https://h.example/…" },
  ]);
  const moved = webhookChanges([hook("a")], [hook("a", { url: "https://other.example/s3cret" })]);
  assertEquals(moved, [{ field: "a.url" }]);
});

Deno.test("no webhook can be called test, because that is a REST route", async () => {
  const [first = "", ...more] = await mistakes(
    "procsup.yaml",
    'webhooks:\n  test: { url: "https://h.example/" }\n',
  );
  assertStringIncludes(first, '"webhooks.test": POST /webhooks/test means all webhooks');
  assertEquals(more, []);
});
