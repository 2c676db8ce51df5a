/** What happens on file changes, with a real daemon and real processes. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import { readFileIfAny } from "../../src/platform/files/atomic_file.ts";
import { sleep } from "../../src/platform/clock.ts";
import { TestDaemon } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

/** If nothing happens within that time, nothing will. */
const QUIET_MS = 700;

/** An app that watches a folder of sources and counts its starts. */
class Scene implements AsyncDisposable {
  readonly sources = tempHome();
  readonly #since = new Date().toISOString();

  private constructor() {
    Deno.mkdirSync(`${this.sources.path}/src`);
    Deno.writeTextFileSync(`${this.sources.path}/src/a.ts`, "1");
  }

  static async start(
    watch: unknown,
    script = "exec sleep 1000",
    config: Record<string, unknown> = {},
  ): Promise<Scene> {
    const scene = new Scene();
    await daemon.startScript("app", `echo start; ${script}`, {
      cwd: scene.sources.path,
      watch,
      ...config,
    });
    await settle();
    return scene;
  }

  get starts(): number {
    const log = Deno.readTextFileSync(`${daemon.home}/apps/app/stdout.log`);
    return log.split("start\n").length - 1;
  }

  /** Changes the watched file, once: to empty it before would be another change. */
  change(text: string): void {
    Deno.writeTextFileSync(`${this.sources.path}/src/a.ts`, text, { append: true });
  }

  /** Whether the system tells the daemon what changes in `src`. */
  get isWatched(): boolean {
    const ino = Deno.statSync(`${this.sources.path}/src`).ino!.toString(16);
    const folder = `/proc/${daemon.pid}/fdinfo`;
    return [...Deno.readDirSync(folder)].some(({ name }) =>
      readFileIfAny(`${folder}/${name}`)?.includes(` ino:${ino} `)
    );
  }

  /** The lines of a file beside the sources, exactly that many. */
  async lines(name: string, count: number): Promise<void> {
    const read = () => (readFileIfAny(`${this.sources.path}/${name}`) ?? "").split("\n").length - 1;
    await waitFor(() => read() >= count, { what: `${count} lines of ${name}` });
    await settle();
    assertEquals(read(), count);
  }

  async notes(): Promise<string[]> {
    const asked = { target: "app", type: "note", since: this.#since } as const;
    return (await daemon.client.call("events", asked)).events.map(({ reason }) => reason);
  }

  /** Exactly that many starts. */
  async started(times: number): Promise<void> {
    await waitFor(() => this.starts >= times, { what: `${times} starts` });
    await settle();
    assertEquals(this.starts, times);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await daemon.client.call("delete", "app");
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
  const app = await daemon.status("app");
  assertEquals([app.state, app.last_reason], ["running", "file changed: src/a.ts"]);
  scene.change("2");
  await scene.started(3);
});

Deno.test("2,000 files restart the app once", async () => {
  await using scene = await Scene.start({ paths: ["src"], debounce: "400ms" });
  // They count as one change, however long a loaded machine takes to write them.
  Deno.kill(daemon.pid, "SIGSTOP");
  for (let i = 0; i < 2000; i++) {
    Deno.writeTextFileSync(`${scene.sources.path}/src/${i}.ts`, "1");
  }
  Deno.kill(daemon.pid, "SIGCONT");
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
    const log = await Deno.readTextFile(`${daemon.home}/daemon.log`);
    return /watching is paused.*out/.test(log);
  }, { what: "the watch to pause" });
  const { starts } = scene;
  assert(starts > 3, `${starts} starts`);
  await scene.started(starts);
  assertEquals((await daemon.status("app")).state, "running");
  // The next daemon does not begin again, until a user does.
  for (const _ of [1, 2]) {
    await daemon.kill();
    await daemon.run();
    await scene.started(starts);
  }
  await daemon.client.call("restart", { target: "app" });
  await waitFor(() => scene.starts > starts + 3, { what: "restarts" });
});

Deno.test("an adopted app is still watched", async () => {
  await using scene = await Scene.start(true);
  await daemon.kill();
  await daemon.run();
  await settle();
  assertEquals(scene.starts, 1);
  scene.change("2");
  await scene.started(2);
});

Deno.test("a change while no daemon runs restarts the app once there is one", async () => {
  await using scene = await Scene.start(true);
  await daemon.kill();
  scene.change("2");
  await daemon.run();
  await scene.started(2);
});

Deno.test("a change is not lost when the daemon is killed in the pre_restart hook", async () => {
  await using scene = await Scene.start({ paths: ["src"] });
  const hook = "echo hook >>hooks; while [ ! -e go ]; do sleep 0.1; done";
  await daemon.client.call("reconfigure", {
    target: "app",
    config: { hooks: { pre_restart: hook } },
  });
  const hooks = () => readFileIfAny(`${scene.sources.path}/hooks`);
  scene.change("2");
  await waitFor(() => hooks() === "hook\n", { what: "the hook" });
  await daemon.kill();
  await daemon.run();
  await waitFor(() => hooks() === "hook\nhook\n", { what: "the hook again" });
  Deno.writeTextFileSync(`${scene.sources.path}/go`, "");
  await scene.started(2);
});

Deno.test("a stopped app is not started by a change", async () => {
  await using scene = await Scene.start(true);
  await daemon.client.call("stop", { target: "app" });
  scene.change("2");
  await settle();
  assertEquals([scene.starts, (await daemon.status("app")).state], [1, "stopped"]);
});

Deno.test("a missing watched path is rejected by name", async () => {
  const start = () => daemon.startScript("app", "sleep 1", { watch: ["/nowhere/src"] });
  const error = await assertRejects(start, ProcsupError);
  assertEquals(
    [error.code, error.message],
    ["invalid_config", 'Invalid "watch.paths" "/nowhere/src": no such file or directory'],
  );
  assertEquals(await daemon.client.call("list"), []);
});

const TRAP = "trap 'echo x >>../signals' USR1; cd src; while :; do sleep 1000 & wait; done";

Deno.test("action signal: sends it once for a change, and the next daemon not again", async () => {
  await using scene = await Scene.start({ paths: ["src"], action: "signal:usr1" }, TRAP);
  scene.change("2");
  await scene.lines("signals", 1);
  // The change is later than the start of the run that is adopted.
  await daemon.kill();
  await daemon.run();
  await scene.lines("signals", 1);
  // The watch goes on, also with what changes while no daemon runs.
  scene.change("3");
  await scene.lines("signals", 2);
  await daemon.kill();
  scene.change("4");
  await daemon.run();
  await scene.lines("signals", 3);
  await scene.started(1);
});

Deno.test("action reload: sends the reload signal, or replaces the run", async () => {
  const watch = { paths: ["src"], action: "reload" };
  await using scene = await Scene.start(watch, TRAP, { reload_signal: "SIGUSR1" });
  scene.change("2");
  await scene.lines("signals", 1);
  scene.change("3");
  await scene.lines("signals", 2);
  await scene.started(1);
  await daemon.client.call("reconfigure", {
    target: "app",
    config: { reload_signal: null, overlap: true },
  });
  scene.change("4");
  await scene.started(2);
  assertEquals(
    await scene.notes(),
    Array(3).fill("file changed: src/a.ts, it is reloaded"),
  );
});

Deno.test("action command: runs once for a change, tells its failure, and what it writes does not count", async () => {
  const command = "echo x >>src/out; echo x >>runs; [ ! -e fail ] || { echo no css; exit 3; }";
  await using scene = await Scene.start({ paths: ["src"], action: "command", command });
  scene.change("2");
  await scene.lines("runs", 1);
  // Until the command is over, changes do not count.
  await waitFor(() => scene.isWatched, { what: "the watch to go on" });
  Deno.writeTextFileSync(`${scene.sources.path}/fail`, "");
  scene.change("3");
  await scene.lines("runs", 2);
  await waitFor(() => scene.isWatched, { what: "the watch to go on again" });
  assertEquals(await scene.notes(), [
    ...Array(2).fill("file changed: src/a.ts, the watch command runs"),
    "watch command failed with exit code 3: no css",
  ]);
  await daemon.kill();
  await daemon.run();
  await scene.lines("runs", 2);
  await scene.started(1);
});

Deno.test("watch.poll notices a change without events of the system, under each daemon", async () => {
  await using scene = await Scene.start({ paths: ["src"], poll: true });
  assertEquals(scene.isWatched, false);
  scene.change("2");
  await scene.started(2);
  await daemon.kill();
  await daemon.run();
  await settle();
  scene.change("3");
  await scene.started(3);
  Deno.removeSync(`${scene.sources.path}/src/a.ts`);
  await scene.started(4);
});

Deno.test("an action that does not exist, or without its command, is refused with what is right", async () => {
  const start = (watch: unknown) => daemon.startScript("app", "exec sleep 1000", { watch });
  await assertRejects(
    () => start({ action: "signal:HUPP" }),
    ProcsupError,
    'Invalid "watch.action" "signal:HUPP"',
  );
  await assertRejects(() => start({ action: "reboot" }), ProcsupError, 'expected "restart"');
  await assertRejects(() => start({ action: "command" }), ProcsupError, 'needs "command"');
  await assertRejects(() => start({ command: "make" }), ProcsupError, 'has no "command"');
});
