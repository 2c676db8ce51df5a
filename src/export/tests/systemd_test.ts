import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { parseSchedule } from "../../model/cron.ts";
import { isUnitOf } from "../backends/systemd.ts";
import { calendarEvents, cronJobSchedule, nomadSchedule } from "../calendar.ts";
import { EXPORTED_KEYS } from "../engines.ts";
import { tempHome } from "../../../tests/support/temp_home.ts";
import { exportText, lacks, runs, sampleFiles, SAMPLES } from "./exporting.ts";

const noSystemd = !runs("systemd-analyze", "--version");

/** What it says about the units given; others of the machine may be faulty, too. */
async function said(...args: string[]): Promise<string> {
  const { stdout, stderr } = await new Deno.Command("systemd-analyze", {
    args,
    env: { TZ: "UTC", LC_ALL: "C" },
  }).output();
  const text = new TextDecoder();
  return (text.decode(stdout) + text.decode(stderr)).replace(/^(\/usr)?\/lib\/systemd\/.*\n/gm, "");
}

/** Keys that depend on the users of this machine. */
const LEFT_OUT = new Set(["uid", "gid"]);

Deno.test({
  name: "systemdUnits() writes valid units for every key",
  ignore: noSystemd && lacks("systemd-analyze"),
  fn: async () => {
    await using folder = tempHome();
    const units = new Set<string>();
    for (const [index, key] of EXPORTED_KEYS.entries()) {
      if (!(key in SAMPLES) || LEFT_OUT.has(key)) continue;
      const file = sampleFiles(key).set.replaceAll('"app"', `"app${index}"`);
      for (const { path, text } of (await exportText(file, "systemd")).files) {
        Deno.writeTextFileSync(`${folder.path}/${path}`, text);
        units.add(`${folder.path}/${path.replace("@.", "@1.")}`);
      }
    }
    assertEquals(await said("verify", "--man=no", ...units), "");
  },
});

const SCHEDULES = [
  "0 4 * * *",
  "*/5 * * * *",
  "30 3 * * 1-5",
  "0 0 1,15 * *",
  "15 2-6/2 * jan-mar *",
  "0 9 * * sun,sat",
  "0 0 * * 5-7",
  "20 4 13 * 5",
  "*/20 * * * * *",
  "0 30 12 1 6 *",
  "@daily",
  "@hourly",
  "@weekly",
  "@yearly",
];

Deno.test({
  name: "calendarEvents() keeps the times of a schedule",
  ignore: noSystemd && lacks("systemd-analyze"),
  fn: async () => {
    const base = Date.UTC(2026, 0, 7, 11, 12, 13);
    for (const schedule of SCHEDULES) {
      const events = calendarEvents(schedule)!.map((event) => `${event} UTC`);
      const args = ["calendar", "--iterations=4", "--base-time=2026-01-07 11:12:13 UTC"];
      const text = await said(...args, ...events);
      const times = [...text.matchAll(/(?:elapse|\)|#\d+): \w+ (\S+ \S+) UTC/g)]
        .map(([, time]) => Date.parse(`${time!.replace(" ", "T")}Z`));
      const cron = parseSchedule("cron", { schedule, timezone: "UTC" });
      const wanted: number[] = [];
      for (let at = base; wanted.length < 4;) wanted.push(at = cron.next(at)!);
      const found = [...new Set(times)].sort((a, b) => a - b).slice(0, 4);
      assertEquals(found, wanted, `${schedule}: ${events.join(", ")}\n${text}`);
    }
  },
});

Deno.test("calendarEvents() returns nothing for cron syntax that systemd cannot express", () => {
  for (const schedule of ["0 0 L * *", "0 0 * * 5#2", "0 0 15W * *"]) {
    assertEquals(calendarEvents(schedule), undefined, schedule);
  }
});

Deno.test("systemdUnits() limits the starts of apps, but not those of jobs, which end as planned", async () => {
  const apps = "app: { entrypoint: /bin/true }, job: { entrypoint: /bin/true, cron: '@hourly' }";
  const { files } = await exportText(`processes: { ${apps} }`, "systemd");
  const limits = files.flatMap(({ text }) => text.match(/StartLimit.*/g) ?? []);
  assertEquals(limits, [
    ...["StartLimitIntervalSec=60s", "StartLimitBurst=11"],
    "StartLimitIntervalSec=0",
  ]);
});

Deno.test("systemdUnits() writes no timer for a schedule that systemd cannot express", async () => {
  const text = 'processes: { job: { entrypoint: /bin/true, cron: "0 0 L * *" } }';
  const { files } = await exportText(text, "systemd");
  assertEquals(files.map(({ path }) => path.replace(/.*\./, "")), ["service", "target"]);
  assertStringIncludes(files[0]!.text, "# No counterpart: job: cron.schedule: 0 0 L * *");
  assertEquals(files.some(({ text }) => text.includes(".timer")), false);
});

Deno.test("a stack's units do not include those of a stack whose name has the same prefix", async () => {
  const text = JSON.stringify({
    processes: {
      api: { command: "/bin/sh run.sh", sockets: ["127.0.0.1:8080"] },
      twice: { command: "/bin/sh run.sh", instances: 2 },
      job: { command: "/bin/sh run.sh", cron: "0 4 * * *" },
      rest: { command: "/bin/sh run.sh", autostart: false },
    },
  });
  const { files } = await exportText(text, "systemd", { stack: "shop-eu" });
  const ends = files.map(({ path }) => path.split(".").at(-1));
  assertEquals(new Set(ends), new Set(["service", "socket", "timer", "target"]));
  for (const { path, text } of files) {
    assertEquals(
      [isUnitOf("shop-eu", path, text), isUnitOf("shop", path, text)],
      [true, false],
      path,
    );
  }
});

Deno.test("units of app eu-api in stack shop differ from those of app api in stack shop-eu", async () => {
  const paths = async (app: string, stack: string) => {
    const keys = { command: "/bin/sh run.sh", sockets: ["127.0.0.1:8080"] };
    const text = JSON.stringify({ processes: { [app]: keys } });
    return (await exportText(text, "systemd", { stack })).files.map(({ path }) => path);
  };
  const other = await paths("api", "shop-eu");
  assertEquals((await paths("eu-api", "shop")).filter((path) => other.includes(path)), []);
});

Deno.test("a unit names a hook's timeout that systemd cannot enforce", async () => {
  const hooks = { pre_start: { command: "true", timeout: "9s" }, post_stop: "true" };
  const text = JSON.stringify({ processes: { app: { command: "/bin/sh run.sh", hooks } } });
  const { losses } = (await exportText(text, "systemd")).stack;
  assertEquals(losses.map(({ key }) => key), ["hooks.pre_start.timeout"]);
});

Deno.test("a unit names variables that a file also sets, because systemd prefers the file", async () => {
  await using folder = tempHome();
  const file = `${folder.path}/app.env`;
  Deno.writeTextFileSync(file, "PORT=81\n");
  const lost = async (env_file: string) => {
    const keys = { command: "/bin/sh run.sh", env: { PORT: "80", MODE: "a" }, env_file };
    const { stack } = await exportText(JSON.stringify({ processes: { app: keys } }), "systemd");
    return stack.losses.map(({ key }) => key);
  };
  assertEquals(await lost(file), ["env.PORT"]);
  assertEquals(await lost("/nowhere/app.env"), ["env.PORT", "env.MODE"]);
});

Deno.test("cronJobSchedule() names weekdays, and returns nothing for what a CronJob cannot express", () => {
  for (
    const [schedule, expected] of [
      ["0 4 * * 7", "0 4 * * Sun"],
      ["30 0 4 * * 5-7/2", "0 4 * * Sun,Fri"],
      ["*/5 8-18 ? jan mon-fri", "*/5 8-18 * jan Mon,Tue,Wed,Thu,Fri"],
      ["@Daily", "@daily"],
      ["0 4 L * *", undefined],
      ["0 4 * * 5#2", undefined],
      ["0 4 15W * *", undefined],
    ] as const
  ) assertEquals(cronJobSchedule(schedule), expected, schedule);
});

Deno.test("nomadSchedule() keeps the meaning of the fields, although Nomad reads a sixth as the year", () => {
  for (
    const [schedule, expected] of [
      ["0 4 * * *", "0 4 * * *"],
      ["*/10 * * * * *", "*/10 * * * * * *"],
      ["30 0 4 ? * 5-7", "30 0 4 * * Sun,Fri,Sat *"],
      ["@MIDNIGHT", "@daily"],
      ["0 4 L * *", "0 4 L * *"],
      ["0 4 * * 5#2", "0 4 * * 5#2"],
    ] as const
  ) assertEquals(nomadSchedule(schedule), expected, schedule);
});

Deno.test("a unit does not interrupt a hook within its timeout", async () => {
  const hooks = { pre_start: { command: "true", timeout: "5m" }, pre_stop: "true" };
  const text = JSON.stringify({ processes: { app: { command: "/bin/sh run.sh", hooks } } });
  const { files: [unit] } = await exportText(text, "systemd");
  assertStringIncludes(unit!.text, "TimeoutStartSec=300s\n");
  assertStringIncludes(unit!.text, "TimeoutStopSec=30s\n");
});

Deno.test("a unit names dependencies for which systemd waits differently than depends_on", async () => {
  const other = { command: "/bin/sh run.sh" };
  const lost = async (state: string, keys: object) => {
    const app = { ...other, depends_on: { other: state } };
    const text = JSON.stringify({ processes: { app, other: { ...other, ...keys } } });
    return (await exportText(text, "systemd")).stack.losses.map(({ text }) => text);
  };
  const never = { restart_policy: "never" };
  assertEquals(await lost("completed", {}), [
    "other: completed: systemd waits for its start alone",
  ]);
  assertEquals(await lost("completed_ok", never), []);
  assertEquals(await lost("started", never), ["other: started: systemd waits for its end"]);
  assertEquals(await lost("started", {}), []);
  assertEquals(await lost("ready", {}), []);
});

Deno.test("a unit names variables of a file that systemd reads differently", async () => {
  await using folder = tempHome();
  const file = `${folder.path}/app.env`;
  const same = "A=1 2\n# no\n\nB = 'x # y'\r\nC=\"two\nlines\"\nD=a#b$c\nE=\n";
  Deno.writeTextFileSync(file, `${same}export F=1\nG=1 # one\nH="a\\nb"\nI=a\\b\nJ.k=1\n`);
  const app = { command: "/bin/sh run.sh", env_file: file };
  const { stack } = await exportText(JSON.stringify({ processes: { app } }), "systemd");
  const [loss, ...others] = stack.losses;
  assertEquals([loss!.key, others], ["env_file", []]);
  assertStringIncludes(loss!.text, "systemd reads F, G, H, I, J.k of");
});

Deno.test("a schedule of several copies has a timer for each", async () => {
  const job = { command: "/bin/sh run.sh", cron: "0 4 * * *", instances: 2 };
  const next = { command: "/bin/sh run.sh", depends_on: { job: "completed" } };
  const text = JSON.stringify({ processes: { job, next } });
  const { files } = await exportText(text, "systemd", { stack: "shop" });
  assertEquals(files.map(({ path }) => path), [
    "shop_job@.service",
    "shop_job@.timer",
    "shop_next.service",
    "shop.target",
  ]);
  assertStringIncludes(files.at(-1)!.text, "shop.target shop_job@1.timer shop_job@2.timer");
  if (noSystemd) return;
  await using folder = tempHome();
  for (const { path, text } of files) Deno.writeTextFileSync(`${folder.path}/${path}`, text);
  const units = ["shop_job@1.timer", "shop_job@2.timer", "shop.target"];
  assertEquals(
    await said("verify", "--man=no", ...units.map((unit) => `${folder.path}/${unit}`)),
    "",
  );
});

Deno.test("an app that reports by sd_notify does so to systemd", async () => {
  const apps = ["notify: true, wait_ready: true", "watchdog: 30s", "wait_ready: true"]
    .map((keys, at) => `a${at}: { entrypoint: /bin/a, ${keys} }`).join(", ");
  const { files } = await exportText(`processes: { ${apps} }`, "systemd");
  const of = (name: string) => files.find(({ path }) => path.includes(name))!.text;
  assertMatch(of("a0"), /^Type=notify$/m);
  assertMatch(of("a0"), /^NotifyAccess=all$/m);
  assertMatch(of("a1"), /^Type=exec\nNotifyAccess=all\nWatchdogSec=30s$/m);
  assertMatch(of("a2"), /^Type=exec$(?![^]*NotifyAccess)/m);
});
