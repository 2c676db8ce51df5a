/** Alerts of a real daemon: real figures, webhooks, hooks, and a daemon that is killed. */

import { assertEquals, assertMatch } from "@std/assert";
import { readFileIfAny } from "../../src/platform/files/atomic_file.ts";
import type { AlertJson } from "../../src/protocol/wire.ts";
import { isAlive, TestDaemon } from "../support/procsup.ts";
import { Receiver } from "../support/receiver.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

Deno.test("alerts of figures, restarts, a job and the host fire once, over a killed daemon", async () => {
  await using receiver = new Receiver();
  const { home, client } = daemon;
  const file = `${home}/procsup.yaml`;
  Deno.writeTextFileSync(
    file,
    `
webhooks: { ops: { url: "${receiver.url}", events: [alert, alert_resolved] } }
alerts: ["disk.free > 1B", "disk.free < 1B"]
processes:
  big:
    entrypoint: /bin/sh
    args: ["-c", "exec sleep 1000"]
    restart_policy: never
    alerts: [{ when: "memory > 1B", resolve_after: 0s }, "threads > 1000"]
    hooks: { on_alert: "cat >>${home}/told" }
  flaky:
    entrypoint: /bin/sh
    args: ["-c", "[ -e ${home}/ok ] && exec sleep 1000; exit 3"]
    restart_delay: 1ms
    backoff_max: 1ms
    max_restarts: 4
    alerts: restarts >= 4 in 10m
  slow:
    entrypoint: /bin/sh
    args: ["-c", "exec sleep 1000"]
    cron: { every: 1s }
    alerts: job overdue
`,
  );
  await client.call("start_all", { config: file, wait: false });
  const all = () => client.call("alerts");
  const firing = async () => {
    const found = (await all()).filter(({ state }: AlertJson) => state === "firing");
    return found.map(({ name, when }) => `${name} ${when}`).sort();
  };
  const expected = [
    ".host disk.free > 1B",
    "big memory > 1B",
    "flaky restarts >= 4 in 10m",
    "slow job overdue",
  ];
  await waitFor(async () => (await firing()).length === expected.length);
  assertEquals(await firing(), expected);
  const told = () =>
    receiver.got.map(({ body: { type, data } }) =>
      `${type} ${data.process?.name ?? "host"} ${data.alert.when}`
    ).sort();
  const alerts = ["big memory > 1B", "flaky restarts >= 4 in 10m", "host disk.free > 1B"]
    .concat("slow job overdue").map((one) => `alert ${one}`);
  await waitFor(() => told().length === alerts.length, { what: "the webhooks" });
  assertEquals(told(), alerts);
  const lines = () => (readFileIfAny(`${home}/told`) ?? "").split("\n");
  await waitFor(() => lines().length === 2, { what: "the hook" });
  const { type, data } = JSON.parse(lines()[0]!);
  assertEquals([type, data.process.name, data.alert.when], ["alert", "big", "memory > 1B"]);
  assertMatch(
    (await client.call("why", "big")).reasons.join("\n"),
    /^alert for .*: memory > 1B, it is/m,
  );
  const listed = await daemon.cli("alerts");
  assertEquals(listed.code, 1);
  assertMatch(listed.stdout, /^host +disk\.free > 1B +firing/m);
  assertMatch((await daemon.cli("events", "--type", "alert")).stdout, / host +alert +disk\.free/);

  // The app ends while no daemon runs: the next one knows that it told of it.
  const { pid } = await daemon.status("big");
  await daemon.kill();
  Deno.kill(pid, "SIGKILL");
  await waitFor(() => !isAlive(pid));
  await daemon.run();
  await daemon.client.call("stop", { target: "big" });
  await waitFor(() => told().includes("alert_resolved big memory > 1B"));
  assertEquals(await firing(), expected.filter((one) => !one.startsWith("big")));
  assertEquals(told(), [...alerts, "alert_resolved big memory > 1B"]);
  await daemon.client.call("delete", { target: "slow" });
  await waitFor(() => told().includes("alert_resolved slow job overdue"));

  await daemon.cli("down", file);
  assertEquals(await all(), []);
});

Deno.test("a condition that is wrong is refused by every surface with the column and what is right", async () => {
  const file = `${daemon.home}/procsup.yaml`;
  Deno.writeTextFileSync(
    file,
    `alerts: ["memory > 1GB", "dsk.free < 2GB"]
processes:
  api:
    entrypoint: /bin/true
    alerts:
      - { when: "memory > much" }
      - job overdue
`,
  );
  const { stderr } = await daemon.cli("config", "plan", file);
  assertMatch(
    stderr,
    /:1:\d+ invalid "alerts\.1" "dsk\.free < 2GB": column 1, "dsk\.free": did you mean/,
  );
  assertMatch(
    stderr,
    /:6:\d+ "api": invalid "alerts\.0\.when" "memory > much": column 10, "much": expected/,
  );
  const start = await daemon.cli(
    "start",
    "--alert",
    "job overdue",
    "--name",
    "a",
    "--",
    "/bin/true",
  );
  assertMatch(start.stderr, /"alerts\.0" "job overdue": it has no "cron" and no "cron_restart"/);
  assertEquals((await daemon.client.call("list")).length, 0);
});
