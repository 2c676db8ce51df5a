/** Alerts of a real supervisor, with figures given by the test. */

import { assertEquals } from "@std/assert";
import { Alerts } from "../../src/daemon/alerts.ts";
import { MetricsHistory } from "../../src/daemon/metrics_history.ts";
import { parseHostAlerts } from "../../src/model/config_schema.ts";
import { HOST } from "../../src/model/name.ts";
import type { ProcessChange } from "../../src/model/process_info.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { TestManager } from "../support/test_manager.ts";

const SECOND = 1000;

/** A supervisor with an app, its alerts, and what they have told. */
class Scene implements AsyncDisposable {
  readonly told: string[] = [];
  readonly test: TestManager;
  figures = { cpu: 0, memory: 0, restarts: 0 };
  #at = Math.floor(Date.now() / 10_000) * 10_000;
  #history: MetricsHistory;
  alerts: Alerts;

  private constructor(test: TestManager) {
    this.test = test;
    this.#history = this.#open();
    this.alerts = this.restart();
    const told = ({ type, name, reason }: ProcessChange) =>
      type.startsWith("alert") && this.told.push(`${type} ${name} ${reason}`);
    test.supervisor.events.listen((change) => void told(change));
  }

  static async open(alerts: readonly string[]): Promise<Scene> {
    const test = await TestManager.open();
    await test.script("app", "exec sleep 1000", {
      alerts: alerts.map((when) => ({ when, resolve_after: "20s" })),
    });
    return new Scene(test);
  }

  /** As after the daemon was killed. */
  restart(): Alerts {
    const { supervisor, home } = this.test;
    return this.alerts = new Alerts({
      ...{ supervisor, history: this.#history, path: `${home}/alerts.json`, home },
    });
  }

  #open(): MetricsHistory {
    const folder = `${this.test.home}/metrics`;
    const warn = (message: string) => void this.told.push(message);
    return new MetricsHistory({ folder, clock: systemClock, read: () => [], warn });
  }

  /** Looks again, seconds later. */
  async look(seconds = 10): Promise<readonly string[]> {
    this.#at += seconds * SECOND;
    const { cpu, memory, restarts } = this.figures;
    const none = { threads: NaN, fds: NaN, load: NaN, uptime: 0, up: 1, health: NaN };
    const sample = { cpu, cpuMax: cpu, memory, memoryMax: memory, restarts, ...none };
    await this.alerts.look(this.#at, ["app", HOST].map((name) => ({ name, sample })));
    return this.told.splice(0);
  }

  async [Symbol.asyncDispose]() {
    await this.test[Symbol.asyncDispose]();
  }
}

Deno.test("an alert is told once when it fires, over a new daemon, and once when it is resolved", async () => {
  await using scene = await Scene.open(["memory > 400MB for 20s"]);
  assertEquals(await scene.look(), []);
  scene.figures.memory = 512 * 1024 ** 2;
  assertEquals([await scene.look(), await scene.look()], [[], []]);
  assertEquals(scene.alerts.list().map(({ state, value }) => [state, value]), [
    ["pending", "512 MB"],
  ]);
  // What it has held for is not lost with the daemon.
  scene.restart();
  assertEquals(await scene.look(), ["alert app memory > 400MB for 20s: 512 MB"]);
  scene.restart();
  assertEquals(scene.alerts.list().map(({ state }) => state), ["firing"]);
  assertEquals([await scene.look(), await scene.look(600)], [[], []]);
  scene.figures.memory = NaN;
  assertEquals(await scene.look(), []);
  scene.restart();
  assertEquals(await scene.look(20), ["alert_resolved app memory > 400MB for 20s"]);
  assertEquals(await scene.look(20), []);
});

Deno.test("alerts of the host have no process, and are resolved when they are removed", async () => {
  await using scene = await Scene.open([]);
  const host = parseHostAlerts({ alerts: ["cpu > 50% for 10s", "disk.free > 1%"] });
  scene.alerts.configure(host);
  scene.figures.cpu = 75;
  const [disk] = await scene.look();
  assertEquals(disk!.replace(/[\d.]+%$/, "N%"), "alert .host disk.free > 1%: N%");
  assertEquals(await scene.look(), ["alert .host cpu > 50% for 10s: 75%"]);
  scene.restart();
  assertEquals(scene.alerts.host, host);
  scene.alerts.configure([host[1]!]);
  assertEquals(await scene.look(), [
    "alert_resolved .host cpu > 50% for 10s: the alert was removed",
  ]);
  assertEquals(await scene.look(), []);
});

Deno.test("an alert that its app no longer has is resolved, and so is that of a deleted app", async () => {
  await using scene = await Scene.open(["cpu > 1%", "memory > 1MB"]);
  scene.figures = { cpu: 5, memory: 2 ** 30, restarts: 0 };
  assertEquals((await scene.look()).length, 2);
  const { supervisor } = scene.test;
  await supervisor.reconfigure("app", { keys: { alerts: ["memory > 1MB"] } });
  assertEquals(await scene.look(), ["alert_resolved app cpu > 1%: the alert was removed"]);
  await supervisor.remove("app");
  scene.restart();
  assertEquals(await scene.look(), ["alert_resolved app memory > 1MB: the app was removed"]);
  assertEquals(await scene.look(), []);
  assertEquals(scene.alerts.list(), []);
});
