/** Webhooks of a real daemon over REST, with tests that a real receiver verifies. */

import { assert, assertEquals } from "@std/assert";
import { Receiver, SECRET } from "../support/receiver.ts";
import { waitFor } from "../support/wait_for.ts";
import { TestWeb } from "../support/web.ts";

const W = "/api/v1/webhooks";

Deno.test("REST shows and tests webhooks, and never a URL or a secret", async () => {
  await using receiver = new Receiver();
  await using web = await TestWeb.start();
  assertEquals((await web.ask("GET", W)).body, []);
  const none = await web.ask("POST", `${W}/test`);
  assertEquals([none.status, none.body], [404, {
    ...{ error: "No webhook is configured", code: "not_found" },
    hint: { command: { verb: "webhook set", target: "<name>", flags: { url: "<url>" } } },
  }]);

  const word = `w${crypto.randomUUID()}`;
  const file = `${web.daemon.home}/procsup.yaml`;
  Deno.writeTextFileSync(`${web.daemon.home}/key`, SECRET);
  Deno.writeTextFileSync(
    file,
    `
webhooks:
  on-call: { url: "${receiver.url}/${word}?${word}", secret: { file: key }, only: bad }
  lost: { url: "http://127.0.0.1:2/${word}", max_attempts: 1, events: errored }
processes:
  bad: { entrypoint: /bin/sh, args: ["-c", "exit 1"], restart_policy: never }
`,
  );
  const applied = await web.ask("POST", "/api/v1/config/reload", { config_path: file });
  assertEquals(applied.status, 200, applied.text);
  const first = async () => (await web.ask("GET", W)).body[0];
  await waitFor(async () => (await first())?.delivered === 1, {
    what: "the crash to be delivered",
  });
  const { last, ...webhook } = await first();
  assertEquals(webhook, {
    ...{
      name: "on-call",
      url: `${receiver.url}/…`,
      format: "standard",
      only: ["bad"],
      signed: true,
    },
    events: [
      "crash",
      "errored",
      "unhealthy",
      "release_failed",
      "recovered",
      "overdue",
      "alert",
      "alert_resolved",
    ],
    ...{ queued: 0, delivered: 1, failed: 0, dropped: 0 },
  });
  assertEquals([last.ok, last.status, last.error], [true, 200, ""]);

  const one = await web.ask("POST", `${W}/on-call/test`);
  assertEquals([one.status, one.body.name, one.body.ok, one.body.status], [
    ...[200, "on-call", true, 200],
  ]);
  receiver.answer = () => 503;
  const all = await web.ask("POST", `${W}/test`);
  assertEquals(all.status, 200);
  assertEquals(
    all.body.map(({ name, ok, status }: Record<string, unknown>) => [name, ok, status]),
    [
      ["on-call", false, 503],
      ["lost", false, null],
    ],
  );
  assertEquals((await first()).last.error, "it answered 503");
  // A test is a single attempt outside the queue, and does not count.
  assertEquals([(await first()).delivered, (await first()).failed], [1, 0]);
  assertEquals(receiver.got.map(({ body, signed }) => [body.type, signed]), [
    ["crash", true],
    ["test", true],
    ["test", true],
  ]);

  const unknown = await web.ask("POST", `${W}/on-cal/test`);
  const said = await web.daemon.cli("webhook", "test", "on-cal");
  assertEquals([unknown.status, unknown.body.code], [404, "not_found"]);
  assert(said.stderr.includes(unknown.body.error), said.stderr);
  const { token } = await web.daemon.client.call("token_create", { name: "eyes", role: "read" });
  const eyes = { authorization: `Bearer ${token}` };
  const seen = await web.ask("GET", W, undefined, eyes);
  assertEquals(seen.status, 200);
  const refused = await web.ask("POST", `${W}/on-call/test`, undefined, eyes);
  assertEquals([refused.status, receiver.got.length], [403, 3]);
  const shown = JSON.stringify([applied, all, seen, unknown, refused].map(({ text }) => text));
  assert(!shown.includes(word) && !shown.includes(SECRET), shown);
});
