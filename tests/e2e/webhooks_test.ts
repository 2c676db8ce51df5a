/** Webhooks of a real daemon, with real crashes and failures, and a receiver that verifies. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { walkSync } from "@std/fs/walk";
import { sleep } from "../../src/platform/clock.ts";
import { cli, isAlive, TestDaemon } from "../support/procsup.ts";
import { Receiver, SECRET } from "../support/receiver.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

/** A daemon with a configuration file, and a folder of files that control its apps. */
async function withFile(text: (home: string) => string): Promise<TestDaemon> {
  const daemon = await TestDaemon.start();
  Deno.writeTextFileSync(`${daemon.home}/key`, `${SECRET}\n`);
  Deno.writeTextFileSync(`${daemon.home}/procsup.yaml`, text(daemon.home));
  return daemon;
}

async function told(receiver: Receiver, type: string, name: string) {
  const found = () => receiver.of(type).find(({ data }) => data.process?.name === name);
  await waitFor(() => found() !== undefined, {
    what: `${type} of ${name}, there are ${receiver.got.map(({ body }) => body.type)}`,
  });
  return found()!;
}

const QUICK = "min_uptime: 10ms, restart_delay: 50ms, max_restarts: 1000";

Deno.test("webhooks report crash, errored, unhealthy and recovered, signed, until they are delivered", async () => {
  await using receiver = new Receiver((index) => index < 2 ? 500 : 200);
  const { url } = receiver;
  await using daemon = await withFile((home) => `
webhooks:
  ops: { url: "${url}/ops", secret: { file: key }, retry_delay: 20ms }
  data: { url: "${url}/data", secret: { file: key }, events: errored, only: "tag:data" }
processes:
  flaky:
    entrypoint: /bin/sh
    args: ["-c", "[ -e ${home}/ok ] && exec sleep 1000; seq 30 >&2; exit 3"]
    namespace: shop
    ${QUICK.replaceAll(", ", "\n    ")}
  gone:
    entrypoint: /bin/sh
    args: ["-c", "kill -SEGV $$$$"]
    tags: [data]
    max_restarts: 1
    restart_delay: 10ms
  ill:
    entrypoint: sleep
    args: ["1000"]
    min_uptime: 10ms
    health_check: { type: command, command: "[ -e ${home}/well ]", interval: 30ms, retries: 1, on_failure: none }
`);
  Deno.writeTextFileSync(`${daemon.home}/well`, "");
  const started = await daemon.client.call("start_all", { config: `${daemon.home}/procsup.yaml` });
  assertEquals(started.settings.map(({ name, change }) => [name, change]), [["webhooks", "added"]]);

  const crash = await told(receiver, "crash", "flaky");
  const { id } = await daemon.status("flaky");
  assertEquals(crash.data.host, Deno.hostname());
  assertMatch(crash.timestamp, /^\d{4}-\d\d-\d\dT.*Z$/);
  const { restarts, last_exit, ...process } = crash.data.process;
  assertEquals(process, {
    ...{ name: "flaky", id, namespace: "shop", state: "waiting", pid: 0 },
    reason: "exited with code 3",
  });
  assert(Number.isInteger(restarts) && last_exit.code === 3 && last_exit.signal === null);
  assertEquals(crash.data.last_output, Array.from({ length: 20 }, (_, i) => String(i + 11)));

  const errored = await told(receiver, "errored", "gone");
  assertEquals(errored.data.process.last_exit.signal, "SIGSEGV");
  assertMatch(errored.data.process.reason, /SIGSEGV, 1 restart used up$/);

  Deno.writeTextFileSync(`${daemon.home}/ok`, "");
  const recovered = await told(receiver, "recovered", "flaky");
  assertEquals([recovered.data.process.state, recovered.data.last_output], ["running", []]);

  await waitFor(async () => (await daemon.status("ill")).health === "healthy");
  Deno.removeSync(`${daemon.home}/well`);
  const ill = await told(receiver, "unhealthy", "ill");
  assertEquals([ill.data.process.state, ill.data.process.last_exit], ["running", null]);
  assertEquals(ill.data.process.reason, "check ended with code 1");
  assertEquals(receiver.of("recovered").filter(({ data }) => data.process.name === "ill"), []);
  Deno.writeTextFileSync(`${daemon.home}/well`, "");
  assertMatch((await told(receiver, "recovered", "ill")).data.process.reason, /is healthy$/);

  assertEquals(receiver.got.filter(({ signed }) => signed !== true), []);
  const [first, second] = receiver.got;
  // Two were answered with 500 and sent again under the same id.
  for (const { id } of [first!, second!]) {
    assert(receiver.got.filter((other) => other.id === id).length >= 2, id);
  }
  const filtered = receiver.got.filter(({ path }) => path === "/data").map(({ body }) =>
    `${body.type} ${body.data.process.name}`
  );
  assertEquals([...new Set(filtered)], ["errored gone"]);
  const webhooks = await daemon.client.call("webhook_list");
  assertEquals(webhooks.map(({ name, signed }) => [name, signed]), [["ops", true], ["data", true]]);
});

Deno.test("webhooks deliver pending messages after the daemon was killed, and report crashes meanwhile", async () => {
  await using receiver = new Receiver(() => 503);
  await using daemon = await withFile((home) => `
webhooks: [{ name: ops, url: "${receiver.url}", secret: { file: key }, retry_delay: 1m }]
defaults: { min_uptime: 10ms, restart_policy: never }
processes:
  early: { entrypoint: /bin/sh, args: ["-c", "[ -e ${home}/ok ] && exec sleep 1000; exit 1"] }
  late:
    entrypoint: /bin/sh
    args: ["-c", "while [ ! -e ${home}/gate ]; do sleep 0.1; done; echo bye >&2; exit 42"]
    restart_policy: on-failure
    restart_delay: 1m
  done: { entrypoint: /bin/sh, args: ["-c", "while [ ! -e ${home}/gate ]; do sleep 0.1; done"] }
`);
  await daemon.client.call("start_all", { config: `${daemon.home}/procsup.yaml` });
  const { id } = (await told(receiver, "crash", "early"), receiver.got[0]!);
  const pids = [(await daemon.status("late")).pid, (await daemon.status("done")).pid];
  await daemon.kill();
  Deno.writeTextFileSync(`${daemon.home}/gate`, "");
  await waitFor(() => pids.every((pid) => !isAlive(pid)), { what: "the apps to end" });
  receiver.answer = () => 200;
  await daemon.run();

  const late = await told(receiver, "crash", "late");
  const { state, last_exit } = late.data.process;
  assertEquals([state, last_exit.code, late.data.last_output], ["waiting", 42, ["bye"]]);
  const early = receiver.got.filter(({ body }) => body.data.process.name === "early");
  assertEquals(early.map((one) => one.id), [id, id]);

  // Delivered messages are not repeated, and the apps still in trouble are known.
  const settled = async () => (await daemon.client.call("webhook_list"))[0]?.queued === 0;
  await waitFor(settled, { what: "the answers to be known" });
  const before = receiver.got.length;
  await daemon.kill();
  await daemon.run();
  await waitFor(settled, { what: "the webhook to be there again" });
  Deno.writeTextFileSync(`${daemon.home}/ok`, "");
  await daemon.client.call("restart", "early");
  await told(receiver, "recovered", "early");
  assertEquals(receiver.got.slice(before).map(({ body }) => body.type), ["recovered"]);
});

Deno.test("webhooks can be tested, changed and removed, and no surface shows a URL or a secret", async () => {
  await using receiver = new Receiver();
  const word = `w${crypto.randomUUID()}`;
  await using daemon = await withFile(() => `
webhooks:
  ops: { url: "${receiver.url}/${word}?${word}", secret: { file: key } }
  lost: { url: "\${LOST_URL}", secret: { command: "cat key" }, max_attempts: 1 }
processes:
  bad: { entrypoint: /bin/sh, args: ["-c", "exit 1"], restart_policy: never }
`);
  const file = `${daemon.home}/procsup.yaml`;
  const variables = { LOST_URL: `http://127.0.0.1:2/${word}` };
  const apply = (text?: string) => {
    if (text !== undefined) Deno.writeTextFileSync(file, text);
    return daemon.client.call("config_reload", { config_path: file, variables });
  };
  const applied = await apply();
  const again = await apply();
  assertEquals(again.settings.map(({ change, fields }) => [change, fields]), [["unchanged", []]]);
  await told(receiver, "crash", "bad");
  await waitFor(async () => (await daemon.client.call("webhook_list"))[1]!.failed === 1);

  const test = await daemon.cli("webhook", "test");
  assertEquals([test.code, /✔ ops {2}answered 200\n✘ lost {2}/.test(test.stdout)], [1, true]);
  assertEquals((await daemon.cli("webhook", "test", "ops")).code, 0);
  const unknown = await daemon.cli("webhook", "test", "osp");
  assertMatch(unknown.stderr, /No webhook "osp": did you mean "ops"\?/);
  const { url } = await daemon.client.call("web_start", { listen: "127.0.0.1:0" });
  const { token } = await daemon.client.call("token");
  const metrics = await (await fetch(`${url}/metrics`, {
    headers: { authorization: `Bearer ${token}` },
  })).text();
  const samples = ["delivered", "failed", "dropped"].map((result) =>
    new RegExp(
      `^procsup_webhook_deliveries_total\\{webhook="lost",result="${result}"\\} (\\d+)$`,
      "m",
    )
      .exec(metrics)?.[1]
  );
  assertEquals(samples, ["0", "1", "0"]);

  const text = Deno.readTextFileSync(file);
  Deno.writeTextFileSync(
    file,
    text.replace("?", "?more=").replace("{ file: key }", "{ file: gone }"),
  );
  const refused = await daemon.cli("up", file);
  assertEquals([refused.code, /LOST_URL is not set/.test(refused.stderr)], [2, true]);
  const noKey = await apply().catch((error) => error);
  assertMatch(String(noKey), /Invalid "webhooks.ops.secret": the file ".*gone" cannot be read/);
  const changed = await apply(text.replace("?", "?more="));
  assertEquals(changed.settings[0]!.fields, [{ field: "ops.url" }]);
  const removed = await apply(text.replace(/^ {2}lost.*\n/m, ""));
  assertEquals(removed.settings[0]!.fields[1], { field: "lost", from: "http://127.0.0.1:2/…" });
  const shown = [
    ...[test, unknown, refused],
    await daemon.cli("webhook"),
    await daemon.cli("webhook", "--json"),
    await daemon.cli("config", "show", file),
    await daemon.cli("config", "plan", file, "--json"),
    await daemon.cli("status", "bad", "--json"),
  ].map(({ stdout, stderr }) => stdout + stderr.replaceAll(/^ +\|? ?.*$|^ *\d+ \|.*$/gm, ""));
  const log = Deno.readTextFileSync(`${daemon.home}/daemon.log`);
  const all = JSON.stringify([
    shown,
    metrics,
    log,
    applied,
    again,
    changed,
    removed,
    String(noKey),
  ]);
  assert(/Webhook \\*"lost/.test(all), "the log tells of the one that is lost");
  assert(!all.includes(word), "a surface shows the URL");
  for (const secret of [SECRET, atob(SECRET.slice(6))]) {
    assert(!all.includes(secret), "a surface shows the secret");
    for (const { path, isFile } of walkSync(daemon.home)) {
      if (!isFile) continue;
      if (path.endsWith("/key")) continue;
      assert(!Deno.readTextFileSync(path).includes(secret), `${path} holds the secret`);
    }
  }

  const without = text.replace(/^webhooks:\n( .*\n)+/m, "");
  const kept = await apply(without);
  assertEquals(kept.settings.map(({ change }) => change), ["kept"]);
  await daemon.client.call("config_reload", { config_path: file, prune: true });
  assertEquals(await daemon.client.call("webhook_list"), []);
  assert(
    ![...walkSync(daemon.home)].some(({ path }) => path.includes("/webhooks/")),
  );
});

Deno.test("a hanging webhook receiver does not slow the supervisor under a flood of crashes", async () => {
  await using receiver = new Receiver(() => "hang");
  await using daemon = await withFile(() => `
webhooks: { ops: { url: "${receiver.url}", secret: { file: key }, timeout: 1m, max_queued: 4 } }
processes:
  storm:
    entrypoint: /bin/sh
    args: ["-c", "exit 1"]
    instances: 4
    restart_delay: 10ms
    backoff_max: 10ms
    max_restarts: 5
  calm: { entrypoint: sleep, args: ["1000"] }
`);
  await daemon.client.call("start_all", { config: `${daemon.home}/procsup.yaml` });
  const over = async () =>
    (await daemon.client.call("list")).filter(({ state }) => state === "errored").length === 4;
  await waitFor(over, { what: "the storm to be over" });
  // 5 crashes and one giving up per instance; one message is in transit, the newest others wait.
  const status = async () => (await daemon.client.call("webhook_list"))[0]!;
  await waitFor(async () => (await status()).dropped === 4 * 6 - 4, {
    what: "the rest to be dropped",
  });
  assertEquals([(await status()).queued, receiver.got.length], [4, 1]);
  assertEquals((await daemon.client.call("restart", "calm")).results[0]!.ok, true);
  const log = Deno.readTextFileSync(`${daemon.home}/daemon.log`);
  assertEquals(log.match(/oldest deliveries dropped/g)?.length, 1);
});

Deno.test("procsup run delivers its webhooks before it exits", async () => {
  await using receiver = new Receiver((index) => index === 0 ? 500 : 200);
  await using home = tempHome();
  Deno.writeTextFileSync(`${home.path}/key`, SECRET);
  const file = `${home.path}/procsup.yaml`;
  Deno.writeTextFileSync(
    file,
    `
webhooks: { ops: { url: "${receiver.url}", secret: { file: key }, retry_delay: 20ms } }
processes: { job: { entrypoint: /bin/sh, args: ["-c", "sleep 0.2; exit 4"], restart_policy: never } }
`,
  );
  const { code, stderr } = await cli(home.path, "run", file);
  assertEquals(code, 4, stderr);
  assertEquals(receiver.got.map(({ body, signed }) => [body.type, signed]), [
    ["crash", true],
    ["crash", true],
  ]);
});

Deno.test("webhook set adds a webhook and changes its keys, and delete removes it", async () => {
  await using receiver = new Receiver();
  await using daemon = await TestDaemon.start();
  Deno.writeTextFileSync(`${daemon.home}/key`, `${SECRET}\n`);
  const listed = async () => JSON.parse((await daemon.cli("webhook", "--json")).stdout);
  const set = (...words: string[]) => daemon.cli("webhook", "set", "ops", ...words);

  const missing = await set("--event", "crash");
  assertEquals(missing.code, 2);
  assertStringIncludes(missing.stderr, "url");
  const events = ["--event", "crash", "--event", "errored"];
  const added = await set("--url", receiver.url, ...events, "--secret-file", `${daemon.home}/key`);
  assertEquals([added.code, added.stderr], [0, ""]);
  assertEquals((await daemon.cli("webhook", "test", "ops")).code, 0);
  assertEquals(receiver.got.map(({ body, signed }) => [body.type, signed]), [["test", true]]);
  assertEquals((await set("--only", "api", "--format", "slack")).code, 0);
  const [{ name, format, only, signed, ...webhook }] = await listed();
  assertEquals([name, format, only, signed], ["ops", "slack", ["api"], true]);
  assertEquals(webhook.events, ["crash", "errored"]);

  const wrong = await set("--event", "boom");
  assertEquals(wrong.code, 2);
  assertStringIncludes(wrong.stderr, "boom");
  const misplaced = await daemon.cli("webhook", "test", "ops", "--format", "slack");
  assertEquals(misplaced.code, 2);
  assertStringIncludes(misplaced.stderr, "--format");
  assertEquals((await daemon.cli("webhook", "delete", "ops")).code, 0);
  assertEquals(await listed(), []);
  assertStringIncludes((await daemon.cli("webhook", "delete", "ops")).stderr, "No webhook");
});

Deno.test("a crash while no daemon ran is reported, also if the next daemon is killed before its webhooks run", async () => {
  await using receiver = new Receiver();
  await using daemon = await withFile((home) => `
webhooks:
  ops: { url: "${receiver.url}/ops", secret: { file: key } }
processes:
  app:
    entrypoint: /bin/sh
    args: ["-c", "while [ ! -e ${home}/end ]; do sleep 0.1; done; exit 3"]
    restart_policy: never
`);
  await daemon.client.call("start_all", { config: `${daemon.home}/procsup.yaml` });
  const { pid, id } = await daemon.status("app");
  await daemon.kill();
  Deno.writeTextFileSync(`${daemon.home}/end`, "");
  await waitFor(() => !isAlive(pid), { what: "the end of the app" });
  const record = daemon.recordOf(id);
  const isRecorded = () => Deno.readTextFileSync(record).includes('"state":"crashed"');
  const next = daemon.run().catch(() => {});
  while (!isRecorded()) await sleep(0);
  await daemon.kill();
  await next;
  await daemon.run();
  const crash = await told(receiver, "crash", "app");
  assertEquals(crash.data.process.last_exit.code, 3);
});
