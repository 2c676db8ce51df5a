/** Restart on file changes, with a real daemon and real processes. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import { readFileIfAny } from "../../src/platform/files/atomic_file.ts";
import { sleep } from "../../src/platform/clock.ts";
import { TestDaemon } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

/** If nothing happens within that time, nothing will. */
const QUIET_MS = 700;

/** A daemon with an app that watches a folder of sources and counts its starts. */
class Scene implements AsyncDisposable {
  readonly sources = tempHome();
  readonly daemon: TestDaemon;

  private constructor(daemon: TestDaemon) {
    this.daemon = daemon;
    Deno.mkdirSync(`${this.sources.path}/src`);
    Deno.writeTextFileSync(`${this.sources.path}/src/a.ts`, "1");
  }

  static async start(watch: unknown, script = "exec sleep 1000"): Promise<Scene> {
    const scene = new Scene(await TestDaemon.start());
    await scene.daemon.startScript("app", `echo start; ${script}`, {
      cwd: scene.sources.path,
      watch,
    });
    await settle();
    return scene;
  }

  get starts(): number {
    const log = Deno.readTextFileSync(`${this.daemon.home}/apps/app/stdout.log`);
    return log.split("start\n").length - 1;
  }

  /** Exactly that many starts. */
  async started(times: number): Promise<void> {
    await waitFor(() => this.starts >= times, { what: `${times} starts` });
    await settle();
    assertEquals(this.starts, times);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.daemon[Symbol.asyncDispose]();
    await this.sources[Symbol.asyncDispose]();
  }
}

function settle(): Promise<void> {
  return sleep(QUIET_MS);
}

Deno.test("a touched file restarts the app once, and is named", async () => {
  await using scene = await Scene.start(true);
  Deno.utimeSync(`${scene.sources.path}/src/a.ts`, new Date(), new Date());
  await scene.started(2);
  const app = await scene.daemon.status("app");
  assertEquals([app.state, app.last_reason], ["running", "file changed: src/a.ts"]);
  Deno.writeTextFileSync(`${scene.sources.path}/src/a.ts`, "2");
  await scene.started(3);
});

Deno.test("2,000 files restart the app once", async () => {
  await using scene = await Scene.start({ paths: ["src"], debounce: "400ms" });
  // They count as one change, however long a loaded machine takes to write them.
  Deno.kill(scene.daemon.pid, "SIGSTOP");
  for (let i = 0; i < 2000; i++) {
    Deno.writeTextFileSync(`${scene.sources.path}/src/${i}.ts`, "1");
  }
  Deno.kill(scene.daemon.pid, "SIGCONT");
  await scene.started(2);
});

Deno.test("an ignored file restarts nothing", async () => {
  await using scene = await Scene.start({ ignore: ["*.log", "tmp"] });
  Deno.writeTextFileSync(`${scene.sources.path}/src/app.log`, "1");
  Deno.mkdirSync(`${scene.sources.path}/tmp`);
  Deno.writeTextFileSync(`${scene.sources.path}/tmp/x.ts`, "1");
  await scene.started(1);
});

Deno.test("an app that writes to its watched folder is not restarted forever", async () => {
  // More than once, because changes before the watch begins are not seen.
  const app = "while :; do sleep 0.1; date >>out; done";
  await using scene = await Scene.start({ debounce: "20ms" }, app);
  await waitFor(async () => {
    const [event] = await notes(scene.daemon);
    return event?.includes("watching is paused") && event.includes("out");
  }, { what: "the watch to pause" });
  const { starts } = scene;
  assert(starts > 3, `${starts} starts`);
  await scene.started(starts);
  assertEquals((await scene.daemon.status("app")).state, "running");
  // The next daemon does not begin again, until a user does.
  for (const _ of [1, 2]) {
    await scene.daemon.kill();
    await scene.daemon.run();
    await scene.started(starts);
  }
  await scene.daemon.client.call("restart", { target: "app" });
  await waitFor(() => scene.starts > starts + 3, { what: "restarts" });
});

/** The daemon's log lines about watching. */
async function notes(daemon: TestDaemon): Promise<string[]> {
  const log = await Deno.readTextFile(`${daemon.home}/daemon.log`);
  return log.split("\n").filter((line) => line.includes("watch"));
}

Deno.test("an adopted app is still watched", async () => {
  await using scene = await Scene.start(true);
  await scene.daemon.kill();
  await scene.daemon.run();
  await settle();
  assertEquals(scene.starts, 1);
  Deno.writeTextFileSync(`${scene.sources.path}/src/a.ts`, "2");
  await scene.started(2);
});

Deno.test("a change while no daemon runs restarts the app once there is one", async () => {
  await using scene = await Scene.start(true);
  await scene.daemon.kill();
  Deno.writeTextFileSync(`${scene.sources.path}/src/a.ts`, "2");
  await scene.daemon.run();
  await scene.started(2);
});

Deno.test("a change is not lost when the daemon is killed in the pre_restart hook", async () => {
  await using scene = await Scene.start({ paths: ["src"] });
  const hook = "echo hook >>hooks; while [ ! -e go ]; do sleep 0.02; done";
  await scene.daemon.client.call("reconfigure", {
    target: "app",
    config: { hooks: { pre_restart: hook } },
  });
  const hooks = () => readFileIfAny(`${scene.sources.path}/hooks`);
  Deno.writeTextFileSync(`${scene.sources.path}/src/a.ts`, "2");
  await waitFor(() => hooks() === "hook\n", { what: "the hook" });
  await scene.daemon.kill();
  await scene.daemon.run();
  await waitFor(() => hooks() === "hook\nhook\n", { what: "the hook again" });
  Deno.writeTextFileSync(`${scene.sources.path}/go`, "");
  await scene.started(2);
});

Deno.test("a stopped app is not started by a change", async () => {
  await using scene = await Scene.start(true);
  await scene.daemon.client.call("stop", { target: "app" });
  Deno.writeTextFileSync(`${scene.sources.path}/src/a.ts`, "2");
  await settle();
  assertEquals([scene.starts, (await scene.daemon.status("app")).state], [1, "stopped"]);
});

Deno.test("a missing watched path is rejected by name", async () => {
  await using daemon = await TestDaemon.start();
  const start = () => daemon.startScript("app", "sleep 1", { watch: ["/nowhere/src"] });
  const error = await assertRejects(start, ProcsupError);
  assertEquals(
    [error.code, error.message],
    ["invalid_config", 'Invalid "watch.paths" "/nowhere/src": no such file or directory'],
  );
  assertEquals(await daemon.client.call("list"), []);
});
