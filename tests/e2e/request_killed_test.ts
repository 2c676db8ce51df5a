/** The daemon is killed while it carries out a request: the next one continues. */

import { assertEquals } from "@std/assert";
import { readFileIfAny } from "../../src/platform/files/atomic_file.ts";
import { sleep } from "../../src/platform/clock.ts";
import { isAlive, TestDaemon } from "../support/procsup.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

/** Notes its stop signal, and ends once a file `go` exists. */
const HOLDS = 'trap \'echo "$PROCSUP_NAME" >>asked; while [ ! -e go ]; do sleep 0.1; done; ' +
  "exit 0' TERM; echo up; while :; do sleep 1000 & wait; done";

/** Starts two apps of this script, of which `web` needs `db`, which has more keys. */
async function begin(script: string, more: object = {}): Promise<void> {
  const app = { entrypoint: "/bin/sh", args: ["-c", script], cwd: daemon.home, ready_log: "up" };
  const file = `${daemon.home}/procsup.json`;
  const processes = {
    db: { ...app, ...more },
    web: { ...app, stop_timeout: "1m", depends_on: ["db"] },
  };
  Deno.writeTextFileSync(file, JSON.stringify({ processes }));
  await daemon.client.call("start_all", { config: file, wait: true });
}

/** Kills the daemon at a moment of a request, and starts the next one. */
async function killedAt(
  request: Promise<unknown>,
  moment: () => boolean | Promise<boolean>,
): Promise<void> {
  const answer = request.then(() => "done", () => "broken off");
  await waitFor(moment, { what: "the moment" });
  await daemon.kill();
  assertEquals(await answer, "broken off");
  await daemon.run();
}

function has(file: string): boolean {
  return readFileIfAny(`${daemon.home}/${file}`) !== undefined;
}

function put(file: string): void {
  Deno.writeTextFileSync(`${daemon.home}/${file}`, "");
}

async function states(): Promise<Record<string, string>> {
  const list = await daemon.client.call("list");
  return Object.fromEntries(list.map(({ name, state }) => [name, state]));
}

async function becomes(wanted: Record<string, string>): Promise<void> {
  const is = async () => JSON.stringify(await states()) === JSON.stringify(wanted);
  await waitFor(is, { what: JSON.stringify(wanted) }).catch(() => {});
  assertEquals(await states(), wanted);
}

for (const verb of ["stop", "shutdown"] as const) {
  Deno.test(`a ${verb} is completed by the next daemon, also for apps whose turn had not come`, async () => {
    await begin(HOLDS);
    const { pid } = await daemon.status("db");
    const request = verb === "stop"
      ? daemon.client.call("stop", { target: "all" })
      : daemon.client.call("shutdown");
    await killedAt(request, () => has("asked"));
    assertEquals(isAlive(pid), true);
    put("go");
    await becomes({ db: "stopped", web: "stopped" });
    assertEquals(isAlive(pid), false);
    const why = (await daemon.status("db")).last_reason;
    assertEquals(why, verb === "stop" ? "stopped by user" : "shutdown");
  });
}

Deno.test("a stop that the next daemon completes keeps its time limit and its order", async () => {
  await begin(HOLDS, { stop_timeout: "1m" });
  const request = daemon.client.call("stop", { target: "all", timeout: "1500ms" });
  await killedAt(request, () => has("asked"));
  // Killed once more, while it completes the stop.
  await daemon.kill();
  await daemon.run();
  await becomes({ db: "stopped", web: "stopped" });
  // On a busy machine an app may be killed before it notes the signal.
  assertEquals(readFileIfAny(`${daemon.home}/asked`)?.split("\n")[0], "web");
  const { last_exit } = await daemon.status("db");
  assertEquals(last_exit?.signal, "SIGKILL");
});

Deno.test("an app that is started while the next daemon completes a stop stays up", async () => {
  await begin(HOLDS);
  await killedAt(daemon.client.call("stop", { target: "all" }), () => has("asked"));
  await daemon.client.call("start", { target: "db" });
  put("go");
  await becomes({ db: "running", web: "stopped" });
});

for (const how of ["start all", "start of a file"] as const) {
  Deno.test(`a ${how} is completed by the next daemon, also for apps whose turn had not come`, async () => {
    await begin("echo up; exec sleep 1000", {
      hooks: { pre_start: "touch hooked; while [ -e hold ]; do sleep 0.1; done" },
    });
    await daemon.client.call("stop", { target: "all" });
    Deno.removeSync(`${daemon.home}/hooked`);
    put("hold");
    const request = how === "start all"
      ? daemon.client.call("start", { target: "all", wait: true })
      : daemon.client.call("start_all", { config: `${daemon.home}/procsup.json`, wait: true });
    await killedAt(request, () => has("hooked"));
    Deno.removeSync(`${daemon.home}/hold`);
    await becomes({ db: "running", web: "running" });
  });
}

Deno.test("a resurrection is completed by the next daemon", async () => {
  await begin("echo up; exec sleep 1000", {
    hooks: { pre_start: "touch hooked; while [ -e hold ]; do sleep 0.1; done" },
  });
  await daemon.client.call("save");
  await daemon.client.call("delete", "all");
  Deno.removeSync(`${daemon.home}/hooked`);
  put("hold");
  await killedAt(daemon.client.call("resurrect"), () => has("hooked"));
  Deno.removeSync(`${daemon.home}/hold`);
  await becomes({ db: "running", web: "running" });
});

Deno.test("a restart whose pre_restart hook ran is done by the next daemon, with its hook again", async () => {
  const hook = "echo begun >>hooks; while [ ! -e go ]; do sleep 0.1; done; echo over >>hooks";
  const { pid } = await daemon.startScript("app", "exec sleep 1000", {
    cwd: daemon.home,
    hooks: { pre_restart: hook },
  });
  await killedAt(daemon.client.call("restart", { target: "app" }), () => has("hooks"));
  put("go");
  await waitFor(async () => {
    const now = await daemon.status("app");
    return now.state === "running" && now.pid !== pid && now.pid > 0;
  }, { what: "the restart" });
  assertEquals(readFileIfAny(`${daemon.home}/hooks`), "begun\nbegun\nover\n");
  const { last_reason, restarts } = await daemon.status("app");
  assertEquals([last_reason, restarts], ["restarted by user", 0]);
  // It is over: a further daemon adopts the app.
  const after = (await daemon.status("app")).pid;
  await daemon.kill();
  await daemon.run();
  await sleep(300);
  assertEquals((await daemon.status("app")).pid, after);
});

Deno.test("a reload is completed by the next daemon, also for instances whose turn had not come", async () => {
  const hook = "echo begun >>hooks; while [ ! -e go ]; do sleep 0.1; done; echo over >>hooks";
  await daemon.startScript("app", "exec sleep 1000", {
    ...{ cwd: daemon.home, instances: 3, hooks: { pre_reload: hook } },
  });
  const pids = async () => (await daemon.client.call("list")).map(({ pid }) => pid);
  const before = await pids();
  await killedAt(daemon.client.call("reload", { target: "app" }), () => has("hooks"));
  assertEquals(await pids(), before);
  put("go");
  await waitFor(async () => {
    const now = await pids();
    return now.every((pid, i) => pid > 0 && pid !== before[i]);
  }, { what: "new instances" });
  assertEquals(readFileIfAny(`${daemon.home}/hooks`), `begun\n${"begun\nover\n".repeat(3)}`);
  const after = await pids();
  await daemon.kill();
  await daemon.run();
  await sleep(300);
  assertEquals(await pids(), after);
});

Deno.test("a rolling reload is completed by the next daemon", async () => {
  const hook = "touch hooks; while [ ! -e go ]; do sleep 0.1; done";
  await daemon.startScript("app", "exec sleep 1000", {
    ...{ cwd: daemon.home, instances: 2, hooks: { pre_reload: hook } },
  });
  const pids = async () => (await daemon.client.call("list")).map(({ pid }) => pid);
  const before = await pids();
  const request = daemon.client.call("rolling_reload", { target: "app" });
  await killedAt(request, () => has("hooks"));
  put("go");
  await waitFor(async () => {
    const now = await pids();
    return now.every((pid, i) => pid > 0 && pid !== before[i]);
  }, { what: "new instances" });
});

Deno.test("a restart is not done by the next daemon once the app was stopped in its hook", async () => {
  const hook = "touch hooks; while [ ! -e go ]; do sleep 0.1; done";
  await daemon.startScript("app", "exec sleep 1000", {
    cwd: daemon.home,
    hooks: { pre_restart: hook },
  });
  const restart = daemon.client.call("restart", { target: "app" });
  await waitFor(() => has("hooks"), { what: "the hook" });
  assertEquals((await daemon.client.call("stop", { target: "app" })).status, "stopped");
  assertEquals((await restart).results[0]?.code, "wrong_state");
  await daemon.kill();
  await daemon.run();
  put("go");
  await sleep(300);
  assertEquals(await states(), { app: "stopped" });
});

Deno.test("an app has all of its instances or none when the daemon is killed while it registers them", async () => {
  for (const count of [20, 30]) {
    const request = daemon.startScript("app", "exec sleep 1000", { instances: count })
      .then(() => "done", () => "broken off");
    const records = () =>
      [...Deno.readDirSync(`${daemon.home}/state/processes`)]
        .filter(({ name }) => name.endsWith(".json")).length;
    const over = request.then(() => true);
    while (records() < 3 && !await Promise.race([over, sleep(0)]));
    await daemon.kill();
    await request;
    await daemon.run();
    const list = await daemon.client.call("list");
    assertEquals(list.length, count);
    assertEquals(list.filter(({ state }) => state !== "running" && state !== "starting"), []);
    await daemon.clear();
  }
});

Deno.test("a job that becomes an app is started by the next daemon", async () => {
  const file = `${daemon.home}/procsup.json`;
  const app = { entrypoint: "/bin/sh", args: ["-c", "exec sleep 1000"], cwd: daemon.home };
  const apply = (more: object) => {
    Deno.writeTextFileSync(file, JSON.stringify({ processes: { app: { ...app, ...more } } }));
    return daemon.client.call("config_reload", { config_path: file, wait: true });
  };
  await apply({ cron: "@yearly" });
  put("hold");
  // Further instances come first.
  const hooks = { pre_start: "touch hooked; while [ -e hold ]; do sleep 0.1; done" };
  await killedAt(apply({ hooks, instances: 2 }), () => has("hooked"));
  Deno.removeSync(`${daemon.home}/hold`);
  await becomes({ "app:0": "running", "app:1": "running" });
});

Deno.test("an app that becomes a job is one under the next daemon", async () => {
  const file = `${daemon.home}/procsup.json`;
  const app = { entrypoint: "/bin/sh", args: ["-c", HOLDS], cwd: daemon.home, stop_timeout: "1m" };
  const apply = (more: object) => {
    Deno.writeTextFileSync(file, JSON.stringify({ processes: { app: { ...app, ...more } } }));
    return daemon.client.call("config_reload", { config_path: file });
  };
  await apply({ ready_log: "up" });
  await waitFor(async () => (await states()).app === "running", { what: "the app" });
  await killedAt(apply({ cron: "@yearly" }), () => has("asked"));
  put("go");
  await becomes({ app: "stopped" });
  const [job] = await daemon.client.call("cron_list", {});
  assertEquals([job?.name, job?.enabled, job?.history], ["app", true, []]);
});

/** Its start is over once it heeds signals. */
const SLOW = { stop_timeout: "1m", ready_log: "up", wait: true };

/** Kills the daemon when so many apps have their stop signal; the next one sees them end. */
async function killedDuring(request: Promise<unknown>, signals: number): Promise<void> {
  await killedAt(request, () => asked().length === signals);
  put("go");
}

/** The names of apps that got their stop signal, in order. */
function asked(): string[] {
  return (readFileIfAny(`${daemon.home}/asked`) ?? "").split("\n").slice(0, -1);
}

async function names(): Promise<string[]> {
  return (await daemon.client.call("list")).map(({ name }) => name);
}

Deno.test("a deletion is completed by the next daemon, and leaves no record", async () => {
  const config = { ...SLOW, cwd: daemon.home };
  const { pid } = await daemon.startScript("app", HOLDS, config);
  await killedDuring(daemon.client.call("delete", "app"), 1);
  await waitFor(async () => (await names()).length === 0, { what: "an empty list" });
  assertEquals(isAlive(pid), false);
  await daemon.kill();
  await daemon.run();
  assertEquals(await names(), []);
});

Deno.test("a scale-down is completed by the next daemon", async () => {
  const config = { ...SLOW, cwd: daemon.home, instances: 4 };
  await daemon.startScript("app", HOLDS, config);
  const before = (await daemon.client.call("list")).map(({ pid }) => pid);
  await killedDuring(daemon.client.call("scale", { target: "app", instances: 2 }), 2);
  await waitFor(async () => (await names()).length === 2, { what: "two instances" });
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
  await killedDuring(apply({ kept: app }, { prune: true }), 1);
  await waitFor(async () => (await names()).join() === "kept", { what: "one app" });
  // A daemon that is killed right after a signal may send it again.
  assertEquals([...new Set(asked())], ["web", "db"]);
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
