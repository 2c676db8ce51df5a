/** The daemon is killed while it deletes or adds apps or instances: the next one continues. */

import { assertEquals } from "@std/assert";
import { readFileIfAny } from "../../src/platform/files/atomic_file.ts";
import { sleep } from "../../src/platform/clock.ts";
import { isAlive, TestDaemon } from "../support/procsup.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

/** Notes its stop signal, and ends once a file `go` exists. */
const HOLDS = 'trap \'echo "$PROCSUP_NAME" >>asked; while [ ! -e go ]; do sleep 0.1; done; ' +
  "exit 0' TERM; echo up; while :; do sleep 1000 & wait; done";

/** Its start is over once it heeds signals. */
const SLOW = { stop_timeout: "1m", ready_log: "up", wait: true };

/** Kills the daemon when so many apps have their stop signal, and starts the next one. */
async function killedDuring(
  daemon: TestDaemon,
  act: () => Promise<unknown>,
  signals: number,
): Promise<void> {
  const answer = act().then(() => "done", () => "broken off");
  await waitFor(() => asked(daemon).length === signals, { what: "the stop signals" });
  await daemon.kill();
  assertEquals(await answer, "broken off");
  await daemon.run();
  Deno.writeTextFileSync(`${daemon.home}/go`, "");
}

/** The names of apps that got their stop signal, in order. */
function asked({ home }: TestDaemon): string[] {
  return (readFileIfAny(`${home}/asked`) ?? "").split("\n").slice(0, -1);
}

async function names(daemon: TestDaemon): Promise<string[]> {
  return (await daemon.client.call("list")).map(({ name }) => name);
}

Deno.test("a deletion is completed by the next daemon, and leaves no record", async () => {
  const config = { ...SLOW, cwd: daemon.home };
  const { pid } = await daemon.startScript("app", HOLDS, config);
  await killedDuring(daemon, () => daemon.client.call("delete", "app"), 1);
  await waitFor(async () => (await names(daemon)).length === 0, { what: "an empty list" });
  assertEquals(isAlive(pid), false);
  await daemon.kill();
  await daemon.run();
  assertEquals(await names(daemon), []);
});

Deno.test("a scale-down is completed by the next daemon", async () => {
  const config = { ...SLOW, cwd: daemon.home, instances: 4 };
  await daemon.startScript("app", HOLDS, config);
  const before = (await daemon.client.call("list")).map(({ pid }) => pid);
  await killedDuring(daemon, () => daemon.client.call("scale", { target: "app", instances: 2 }), 2);
  await waitFor(async () => (await names(daemon)).length === 2, { what: "two instances" });
  const left = await daemon.client.call("list");
  assertEquals(left.map(({ pid }) => pid), before.slice(0, 2));
  assertEquals(left.map(({ config }) => config.instances), [2, 2]);
});

Deno.test("a prune is completed by the next daemon, also for apps whose turn had not come", async () => {
  const file = `${daemon.home}/procsup.json`;
  const { wait, ...slow } = SLOW;
  const app = { entrypoint: "/bin/sh", args: ["-c", HOLDS], ...slow };
  const web = { ...app, depends_on: ["db"] };
  const apply = (processes: object, more = {}) => {
    Deno.writeTextFileSync(file, JSON.stringify({ processes }));
    return daemon.client.call("config_reload", { config_path: file, wait, ...more });
  };
  await apply({ kept: app, db: app, web });
  await killedDuring(daemon, () => apply({ kept: app }, { prune: true }), 1);
  await waitFor(async () => (await names(daemon)).join() === "kept", { what: "one app" });
  // A daemon that is killed right after a signal may send it again.
  assertEquals([...new Set(asked(daemon))], ["web", "db"]);
});

Deno.test("the next daemon starts every instance that a scale-up has registered", async () => {
  await daemon.startScript("app", "exec sleep 1000");
  const scaling = daemon.client.call("scale", { target: "app", instances: 30 }).catch(() => {});
  const records = () => [...Deno.readDirSync(`${daemon.home}/state/processes`)].length;
  const before = records();
  const over = scaling.then(() => true);
  while (records() <= before + 5 && !await Promise.race([over, sleep(0)]));
  await daemon.kill();
  await scaling;
  await daemon.run();
  const up = (await daemon.client.call("list")).map(({ state }) => state);
  assertEquals(up.length, 30);
  assertEquals(up.filter((state) => state !== "running" && state !== "starting"), []);
});
