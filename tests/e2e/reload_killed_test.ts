/**
 * The daemon is killed during a reload with overlap: no instance is duplicated or lost, nor is a
 * change of its configuration.
 */

import { assertEquals } from "@std/assert";
import { readFileIfAny } from "../../src/platform/files/atomic_file.ts";
import { sleep } from "../../src/platform/clock.ts";
import { isAlive, TestDaemon } from "../support/procsup.ts";
import { seeded } from "../support/seeded.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

/**
 * Writes its pid, and is ready if a file `ready` exists or it is of the first generation. It exits
 * on SIGTERM once a file `go` exists.
 */
const APP = "trap 'while [ ! -e go ]; do sleep 0.1; done; exit 0' TERM; echo \"$$\" >>pids; " +
  'while [ -e next ] && [ ! -e ready ] && [ ! -e "ready.$PROCSUP_INSTANCE" ]; do sleep 0.1; done; echo READY=1 >"$PROCSUP_READY_FILE"; ' +
  "while :; do sleep 1000 & wait; done";

/** Blocks the pre_start hook of a reload. */
const HOOK = "touch hooked; while [ -e next ] && [ ! -e ready ]; do sleep 0.1; done";

/** An app that can be paused at each stage of its reload. */
class Scene {
  readonly instances: number;
  readonly before: readonly number[];

  private constructor(instances: number, before: readonly number[]) {
    this.instances = instances;
    this.before = before;
  }

  static async begin(instances: number, config: Record<string, unknown> = {}): Promise<Scene> {
    await daemon.client.call("start", {
      ...{ name: "app", entrypoint: "/bin/sh", args: ["-c", APP], cwd: daemon.home, wait: true },
      ...{ overlap: true, wait_ready: true, stop_timeout: "20s", instances, ...config },
    });
    const scene = new Scene(instances, (await daemon.client.call("list")).map(pidOf));
    scene.allow("next");
    return scene;
  }

  /** The pids of every app that was ever started. */
  get begun(): number[] {
    return Deno.readTextFileSync(`${daemon.home}/pids`).trim().split("\n").map(Number);
  }

  get alive(): number[] {
    return this.begun.filter(isAlive).sort();
  }

  allow(what: "next" | "ready" | "ready.0" | "go" | "fail"): void {
    Deno.writeTextFileSync(`${daemon.home}/${what}`, "");
  }

  has(file: string): boolean {
    return [...Deno.readDirSync(daemon.home)].some(({ name }) => name === file);
  }

  /** Kills the daemon at that moment of a reload, and returns the result of the reload. */
  async killWhen(
    moment: () => boolean | Promise<boolean>,
    change?: Record<string, unknown>,
    how: { readonly rollback_on_failure?: boolean } = {},
  ): Promise<"done" | "broken off"> {
    const asked = change === undefined
      ? daemon.client.call("rolling_reload", { target: "app" })
      : daemon.client.call("reconfigure", { target: "app", config: change, ...how });
    const reload = asked
      .then(() => "done" as const, () => "broken off" as const);
    await waitFor(moment, { what: "the moment" });
    await daemon.kill();
    return await reload;
  }

  /** The next daemon has each instance once, and reports it correctly. */
  async next(): Promise<number[]> {
    await daemon.run();
    this.allow("ready");
    this.allow("go");
    return await this.settled();
  }

  /** The next daemon completes a reload of all instances. Returns the generation of each. */
  async completed(before: readonly number[]): Promise<(string | undefined)[]> {
    await this.next();
    await waitFor(async () => (await this.settled()).every((pid) => !before.includes(pid)), {
      what: "new instances",
    });
    const environments = (await this.settled()).map((pid) =>
      Deno.readTextFileSync(`/proc/${pid}/environ`)
    );
    return environments.map((text) => /GENERATION=(.)/.exec(text)?.[1]);
  }

  /** The pids of the instances, once each runs once. */
  async settled(): Promise<number[]> {
    await waitFor(async () => {
      const list = await daemon.client.call("list");
      const up = list.filter(({ state, ready }) => state === "running" && ready).map(pidOf).sort();
      return up.length === this.instances && up.join() === this.alive.join();
    }, { what: "each instance once" });
    const list = await daemon.client.call("list");
    assertEquals(list.map(({ restarts }) => restarts), Array(this.instances).fill(0));
    return list.map(pidOf);
  }
}

function pidOf({ pid }: { readonly pid: number }): number {
  return pid;
}

Deno.test("a reload whose daemon is killed in its pre_start hook is completed by the next one", async () => {
  const scene = await Scene.begin(1, { hooks: { pre_start: HOOK } });
  Deno.removeSync(`${daemon.home}/hooked`);
  assertEquals(await scene.killWhen(() => scene.has("hooked")), "broken off");
  assertEquals(scene.alive, scene.before);
  await scene.completed(scene.before);
  assertEquals(scene.begun.length, 2);
});

Deno.test("a reload whose daemon is killed while the new app starts is completed by the next one, with another", async () => {
  const scene = await Scene.begin(1);
  assertEquals(await scene.killWhen(() => scene.begun.length === 2), "broken off");
  assertEquals(scene.alive.length, 2);
  await scene.completed(scene.begun);
  assertEquals(scene.begun.length, 3);
});

Deno.test("a change whose reload was broken off is made by the next daemon", async () => {
  const scene = await Scene.begin(1, { env: { GENERATION: "1" } });
  const change = { env: { GENERATION: "2" } };
  assertEquals(await scene.killWhen(() => scene.begun.length === 2, change), "broken off");
  assertEquals(await scene.completed(scene.before), ["2"]);
  const asked = { target: "app", config: change };
  assertEquals((await daemon.client.call("reconfigure", asked)).status, "unchanged");
});

Deno.test("a change whose reload is at its hook is made by the next daemon", async () => {
  const hooks = { pre_reload: "touch hooked; while [ ! -e go ]; do sleep 0.1; done" };
  const scene = await Scene.begin(1, { overlap: false, hooks });
  const change = { args: ["-c", `: new; ${APP}`] };
  assertEquals(await scene.killWhen(() => scene.has("hooked"), change), "broken off");
  await scene.completed(scene.before);
  const asked = { target: "app", config: change };
  assertEquals((await daemon.client.call("reconfigure", asked)).status, "unchanged");
});

Deno.test("a daemon killed while the old app stops keeps the new one and terminates the old one", async () => {
  const scene = await Scene.begin(1);
  scene.allow("ready");
  const replaced = async () => (await daemon.status("app")).pid !== scene.before[0];
  assertEquals(await scene.killWhen(replaced), "broken off");
  assertEquals(scene.alive.length, 2);
  const [pid] = await scene.next();
  assertEquals([pid], scene.begun.slice(1));
});

Deno.test("a daemon killed in the pre_stop hook of a reload runs it again, before the old app stops", async () => {
  const hold = "while [ ! -e ready ]; do sleep 0.1; done";
  const hooks = { pre_stop: `echo begin >>order; ${hold}; echo end >>order` };
  const scene = await Scene.begin(1, { hooks, wait_ready: false, min_uptime: "0s" });
  const order = () => [...(readFileIfAny(`${daemon.home}/order`) ?? "").split("\n")];
  assertEquals(await scene.killWhen(() => scene.has("order")), "broken off");
  await daemon.run();
  await waitFor(() => order().length > 2, { what: "the hook again" });
  assertEquals(scene.alive.length, 2);
  scene.allow("go");
  await sleep(200);
  assertEquals(scene.alive.length, 2, "the old app serves until the hook is over");
  scene.allow("ready");
  await waitFor(() => scene.alive.length === 1, { what: "the end of the old app" });
  assertEquals(order(), ["begin", "begin", "end", ""]);
});

Deno.test("an app that reloads itself is proven by the next daemon when the first is killed meanwhile", async () => {
  const { home, client } = daemon;
  const log = () => (readFileIfAny(`${home}/log`) ?? "").split("\n").slice(0, -1);
  const { pid } = await daemon.startScript(
    "app",
    "trap 'echo reloaded >>log' HUP; touch up; while :; do sleep 1000 & wait; done",
    {
      ...{ cwd: home, reload_signal: "SIGHUP", min_uptime: "2s" },
      hooks: { post_reload: "echo hook >>log" },
    },
  );
  await waitFor(() => readFileIfAny(`${home}/up`) !== undefined, { what: "the trap" });
  const reload = client.call("reload", { target: "app", wait: true }).catch(() => "broken off");
  await waitFor(() => log().length > 0, { what: "the signal" });
  await daemon.kill();
  assertEquals([await reload, log()], ["broken off", ["reloaded"]]);
  await daemon.run();
  await waitFor(() => log().includes("hook"), { what: "the hook after the reload" });
  // Killed before the signal was on record, it is sent again.
  assertEquals(log().filter((line) => line === "hook").length, 1);
  assertEquals((await daemon.status("app")).pid, pid);
});

const GENERATION = { one: { env: { GENERATION: "1" } }, two: { env: { GENERATION: "2" } } };

for (const change of [undefined, GENERATION.two]) {
  const what = change === undefined ? "rolling reload" : "change of configuration";
  Deno.test(`a ${what} is completed by the next daemon for instances whose turn had not come`, async () => {
    const scene = await Scene.begin(3, GENERATION.one);
    scene.allow("ready.0");
    scene.allow("go");
    const moment = () => scene.begun.length === 5;
    assertEquals(await scene.killWhen(moment, change), "broken off");
    const generation = change === undefined ? "1" : "2";
    assertEquals(await scene.completed(scene.before), Array(3).fill(generation));
    assertEquals(scene.begun.length, 7);
    const asked = { target: "app", config: change ?? GENERATION.one };
    assertEquals((await daemon.client.call("reconfigure", asked)).status, "unchanged");
  });
}

Deno.test("a rollback is completed by the next daemon, which gives no instance the new configuration", async () => {
  const scene = await Scene.begin(3, GENERATION.one);
  scene.allow("ready.0");
  scene.allow("go");
  const fails =
    '[ "$PROCSUP_INSTANCE" = 0 ] || { while [ ! -e fail ]; do sleep 0.1; done; exit 1; }';
  const change = { ...GENERATION.two, args: ["-c", `${fails}; ${APP}`] };
  const moment = async () => {
    const isReplaced = (await daemon.status("app:0")).pid === scene.begun[3];
    if (!isReplaced || scene.has("fail")) return scene.begun.length === 5;
    Deno.removeSync(`${daemon.home}/ready.0`);
    scene.allow("fail");
    return false;
  };
  const how = { rollback_on_failure: true };
  assertEquals(await scene.killWhen(moment, change, how), "broken off");
  const generations = await scene.completed(scene.begun.slice(3, 4));
  assertEquals(generations, ["1", "1", "1"]);
  const asked = { target: "app", config: { ...GENERATION.one, args: ["-c", APP] } };
  assertEquals((await daemon.client.call("reconfigure", asked)).status, "unchanged");
});

Deno.test("daemons killed at any moment of a reload neither duplicate nor lose an instance", async () => {
  const scene = await Scene.begin(3);
  scene.allow("ready");
  scene.allow("go");
  const random = seeded();
  for (let round = 0; round < 6; round++) {
    const begun = scene.begun.length;
    const after = Math.floor(random() * 3);
    await scene.killWhen(() => scene.begun.length > begun + after);
    await scene.next();
  }
});
