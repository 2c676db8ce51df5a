/** Schedules over a clock that is changed, by libfaketime, and over a daemon that is killed. */

import { assertEquals, assertMatch } from "@std/assert";
import { lstatIfAny } from "../../src/platform/files/stat.ts";
import type { CronJson } from "../../src/protocol/wire.ts";
import { TestDaemon } from "../support/procsup.ts";
import { Receiver } from "../support/receiver.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

const FAKE_TIME = `/usr/lib/${Deno.build.arch}-linux-gnu/faketime/libfaketime.so.1`;
const DAY_MS = 86_400_000;

const ignore = lstatIfAny(FAKE_TIME) === undefined;
// deno-lint-ignore no-console
if (ignore) console.log("skipped: faketime is not installed");

/** Once a day, twelve hours from now. */
function inTwelveHours(): string {
  const at = new Date(Date.now() + 12 * 3_600_000);
  return `${at.getUTCMinutes()} ${at.getUTCHours()} * * *`;
}

async function schedule(daemon: TestDaemon, name: string): Promise<CronJson> {
  return (await daemon.client.call("cron_list", { name }))[0]!;
}

/** The names in the recorded events that tell of missing runs. */
function overdue(daemon: TestDaemon): string[] {
  const lines = Deno.readTextFileSync(`${daemon.home}/events.jsonl`).trim().split("\n");
  return lines.map((line) => JSON.parse(line)).filter(({ type }) => type === "overdue")
    .map(({ name }) => name);
}

Deno.test({
  name:
    "a job runs once for the days that passed, or is overdue, over a changed clock and a killed daemon",
  ignore,
  async fn() {
    await using receiver = new Receiver();
    const clock = `${daemon.home}/clock`;
    const set = (offset: string) => Deno.writeTextFileSync(clock, `${offset}\n`);
    const faked = {
      LD_PRELOAD: FAKE_TIME,
      FAKETIME_TIMESTAMP_FILE: clock,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    };
    await daemon.terminate();
    set("+0");
    await daemon.run(faked);
    await daemon.cli("webhook", "set", "ops", "--url", receiver.url);
    const cron = { schedule: inTwelveHours(), timezone: "UTC" };
    await daemon.startScript("caught", "exit 0", { cron: { ...cron, catch_up: "once" } });
    await daemon.startScript("missed", "exit 0", { cron });
    const runs = async (name: string) => (await schedule(daemon, name)).history.length;

    // As after a laptop slept for two days: the daemon lives.
    set("+2d");
    await waitFor(async () => await runs("caught") === 1, { what: "the run after the sleep" });
    await waitFor(async () => (await schedule(daemon, "missed")).overdue_since !== null);
    assertEquals([await runs("missed"), overdue(daemon)], [0, ["missed"]]);
    assertMatch((await daemon.cli("cron", "list", "missed")).stdout, /overdue/);
    await waitFor(() => receiver.of("overdue").length > 0, { what: "the webhook" });
    assertEquals(receiver.of("overdue").map(({ data }) => data.process.name), ["missed"]);
    assertMatch(receiver.of("overdue")[0]!.data.process.reason, /^due .* ago: no daemon acted/);

    // Two more days without a daemon.
    await daemon.kill();
    set("+4d");
    await daemon.run(faked);
    await waitFor(async () => await runs("caught") === 2, { what: "the run after the kill" });
    assertEquals([await runs("missed"), overdue(daemon)], [0, ["missed"]]);

    await daemon.client.call("cron_run", { name: "missed" });
    await waitFor(async () => await runs("missed") === 1);
    assertEquals((await schedule(daemon, "missed")).overdue_since, null);

    // The clock is set back by a day: nothing runs twice.
    set("+3d");
    await waitFor(async () =>
      Date.parse((await schedule(daemon, "caught")).next_run!) < Date.now() + 4 * DAY_MS
    );
    assertEquals(await runs("caught"), 2);
    await daemon.kill();
    await daemon.run();
  },
});

Deno.test("every, random_delay and catch_up are flags, and a wrong value is named", async () => {
  const start = (...flags: string[]) =>
    daemon.cli("start", "--name", "tick", ...flags, "--", "/bin/true");
  assertMatch((await start("--every", "soon")).stderr, /Invalid "cron.every" "soon": expected/);
  assertMatch((await start("--every", "10ms")).stderr, /"@every 10ms": expected 1s or more/);
  assertMatch((await start("--catch-up", "once")).stderr, /Cannot use --catch-up without --cron/);
  const both = await start("--every", "1m", "--cron", "@daily");
  assertMatch(both.stderr, /"cron".*expected either "schedule" or "every", not both/);
  const { code } = await start("--every", "1s", "--catch-up", "once", "--random-delay", "10ms");
  assertEquals(code, 0);
  assertEquals((await schedule(daemon, "tick")).schedule, "@every 1s");
  const ran = async () => (await schedule(daemon, "tick")).history.length;
  await waitFor(async () => await ran() >= 2, { what: "two runs" });
  await daemon.kill();
  await daemon.run();
  await waitFor(async () => await ran() >= 4, { what: "more runs under the next daemon" });
});

Deno.test("cron list shows that a run is in progress beside that the next one is overdue", async () => {
  await daemon.startScript("long", "exec sleep 1000", { cron: { every: "1s" } });
  const listed = async () => (await daemon.cli("cron", "list", "long")).stdout;
  await waitFor(async () => /running, overdue/.test(await listed()), { what: "both words" });
});
