import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { dispatch } from "../../src/daemon/dispatch.ts";
import { MetricsHistory, type Reading } from "../../src/daemon/metrics_history.ts";
import { HOST } from "../../src/model/name.ts";
import { encodeHeader, plan, RING_FILE_BYTES } from "../../src/daemon/metrics_ring.ts";
import { ProcsupError } from "../../src/model/errors.ts";
import { notFound } from "../../src/model/target.ts";
import type { MetricsHistoryJson } from "../../src/protocol/wire.ts";
import { FakeClock } from "../support/fake_clock.ts";
import { tempHome } from "../support/temp_home.ts";

const [HOUR, DAY] = [3_600_000, 86_400_000];

/** A metrics history of the processes in `apps`. */
class Scene implements AsyncDisposable {
  readonly home = tempHome();
  readonly folder = `${this.home.path}/metrics`;
  readonly clock = new FakeClock();
  readonly warnings: string[] = [];
  apps = ["api"];
  history = this.open();

  open(): MetricsHistory {
    const { folder, clock } = this;
    const warn = (message: string) => void this.warnings.push(message);
    const history = new MetricsHistory({ folder, clock, read: () => this.#read(), warn });
    history.start();
    return this.history = history;
  }

  #read(): Reading[] {
    const cpu = this.clock.steady() / 1000;
    const sample = {
      ...{ cpu, cpuMax: cpu, memory: 1, memoryMax: 1, threads: 1, fds: 1, load: NaN },
      ...{ restarts: 0, uptime: 1, up: 1, health: NaN },
    };
    return [...this.apps, HOST].map((name) => ({ name, sample }));
  }

  /** The CPU of each point of the last `ms`, at the resolution of the ring. */
  async cpu(name: string, ms = HOUR): Promise<number[]> {
    const now = this.clock.now();
    const points = await this.history.points(name, plan(now - ms, now, 10_000, now));
    return points.map(({ sample }) => sample.cpu);
  }

  path(name: string): string {
    return `${this.folder}/${name}.ring`;
  }

  async [Symbol.asyncDispose]() {
    this.history[Symbol.dispose]();
    await this.home[Symbol.asyncDispose]();
  }
}

Deno.test("MetricsHistory reads what an earlier daemon wrote up to its SIGKILL, and keeps the gap", async () => {
  await using scene = new Scene();
  scene.clock.advance(35_000);
  // Nothing is written on exit.
  scene.history[Symbol.dispose]();
  scene.clock.advance(60_000);
  scene.open();
  scene.clock.advance(5000);
  assertEquals(await scene.cpu("api"), [10, 20, 30, 100]);
  assertEquals(await scene.cpu(HOST), [10, 20, 30, 100]);
  // The coarse ring has the mean of the same slots.
  scene.clock.jump(2 * DAY - HOUR);
  assertEquals((await scene.cpu("api", 2 * DAY))[0], 40);
  assertEquals(Deno.statSync(scene.path("api")).mode! & 0o777, 0o600);
  assert(Deno.statSync(scene.path("api")).size <= RING_FILE_BYTES);
  assertEquals(scene.warnings, []);
});

Deno.test("MetricsHistory keeps the history of a renamed process, and of a deleted one for 30 days", async () => {
  await using scene = new Scene();
  scene.apps = ["api", "gone"];
  scene.clock.advance(10_000);
  scene.history[Symbol.dispose]();
  // By a daemon that has just started.
  scene.open().renamed("api", "api:0");
  scene.apps = ["api:0"];
  scene.clock.advance(10_000);
  assertEquals(await scene.cpu("api:0"), [10, 20]);
  assertEquals(scene.history.names(), ["api:0", "gone"]);
  assertEquals(await scene.cpu("gone"), [10]);
  const setTime = (days: number) => {
    const at = new Date(scene.clock.now() - days * DAY);
    Deno.utimeSync(scene.path("gone"), at, at);
  };
  setTime(29);
  scene.clock.advance(120_000);
  assertEquals(scene.history.names(), ["api:0", "gone"]);
  setTime(31);
  scene.clock.advance(120_000);
  assertEquals(scene.history.names(), ["api:0"]);
  for (let n = 0; n < 120; n++) Deno.writeFileSync(scene.path(`old${n}`), encodeHeader());
  scene.clock.advance(120_000);
  assertEquals(scene.history.names().length, 101);
});

Deno.test("MetricsHistory writes a slot only once when its timer fires early", async () => {
  await using scene = new Scene();
  scene.clock.advance(9000);
  scene.clock.jump(-5);
  scene.clock.advance(11_005);
  assertEquals(await scene.cpu("api"), [10, 20.005].map(Math.fround));
});

Deno.test("MetricsHistory sets a damaged file aside, and leaves one of a newer version alone", async () => {
  await using scene = new Scene();
  scene.apps = ["api", "new", "newer"];
  Deno.mkdirSync(scene.folder);
  Deno.writeTextFileSync(scene.path("api"), "not a ring");
  for (const name of ["new", "newer", "deleted"]) {
    Deno.writeFileSync(scene.path(name), encodeHeader(2));
    Deno.utimeSync(scene.path(name), 0, 0);
  }
  scene.clock.advance(130_000);
  assertEquals((await scene.cpu("api")).length, 13);
  assertEquals(Deno.readTextFileSync(`${scene.path("api")}.unreadable`), "not a ring");
  for (const name of ["new", "newer", "deleted"]) {
    assertEquals(Deno.readFileSync(scene.path(name)), encodeHeader(2));
  }
  const error = await assertRejects(() => scene.cpu("new"), ProcsupError);
  assertEquals(error.code, "other_version");
  assertEquals(scene.warnings.length, 2);
  assertMatch(scene.warnings[0]!, /header is damaged; set aside/);
  assertMatch(scene.warnings[1]!, /newer version wrote .*new\.ring.* it is kept/);
});

Deno.test("MetricsHistory warns once while it cannot write, retries, and warns again the next time", async () => {
  await using scene = new Scene();
  const block = () => Deno.writeTextFileSync(scene.folder, "");
  block();
  scene.clock.advance(50_000);
  assertEquals(scene.warnings.length, 1);
  assertMatch(scene.warnings[0]!, /^Cannot write the metrics history in/);
  Deno.removeSync(scene.folder);
  scene.clock.advance(20_000);
  assertEquals(await scene.cpu("api"), [60, 70]);
  Deno.removeSync(scene.folder, { recursive: true });
  block();
  scene.clock.advance(20_000);
  assertEquals(scene.warnings.length, 2);
});

Deno.test("metrics_history includes deleted processes and the host, with null for unknown values", async () => {
  const figures = {
    cpu: 1.26,
    cpuMax: NaN,
    memory: 5,
    memoryMax: 5,
    threads: 1,
    fds: 1,
    load: NaN,
  };
  const sample = { ...figures, restarts: 2, uptime: 3, up: 1, health: NaN };
  const resolve = (target: string) => {
    if (target === "api") return [{ name: "api:0" }];
    throw notFound(target, []);
  };
  let many: readonly string[] = [];
  const history = {
    names: () => ["api:0", "gone", "newer", "old:1", ...many],
    points(name: string) {
      if (name === "newer") throw new ProcsupError("other_version", "newer");
      return Promise.resolve([{ at: Date.UTC(2026, 0), sample }]);
    },
    gaps: () => Promise.resolve([]),
  };
  const limits = { turn: (_: unknown, act: () => unknown) => act() };
  const context = { history, limits, supervisor: { directory: { resolve } } };
  const ask = async (payload: unknown) =>
    await dispatch(context as never, "metrics_history", payload);
  const namesFor = async (payload: unknown) =>
    (await ask(payload) as MetricsHistoryJson).series.map(({ name }) => name);
  assertEquals(await namesFor({}), [null]);
  assertEquals(await namesFor("api"), ["api:0"]);
  assertEquals(await namesFor({ target: "gone" }), ["gone"]);
  assertEquals(await namesFor({ target: "old" }), ["old:1"]);
  assertEquals(await namesFor({ target: "all" }), ["api:0", "gone", "old:1"]);
  many = Array.from({ length: 500 }, (_, n) => `app${n}`);
  const { step, since, until } = await ask(
    { target: "all", since: "24h", points: 10_000 },
  ) as MetricsHistoryJson;
  const length = Date.parse(until) - Date.parse(since);
  assert(length / (step / 1e6) <= 200, `${length} ms in steps of ${step} ns`);
  const codeOf = async (payload: unknown) =>
    (await assertRejects(() => ask(payload), ProcsupError)).code;
  assertEquals(await codeOf("newer"), "other_version");
  assertEquals(await codeOf("nothing"), "process_not_found");
  assertEquals(await codeOf({ since: "1h", until: "2h" }), "bad_request");
  assertEquals(await codeOf({ points: 10_001 }), "bad_request");
  const { series: [first] } = await ask({}) as MetricsHistoryJson;
  assertEquals(first!.points[0], {
    ...{ at: "2026-01-01T00:00:00.000Z", cpu_percent: 1.3, cpu_percent_max: null },
    ...{ memory_bytes: 5, memory_bytes_max: 5, threads: 1, fds: 1, load: null, restarts: 2 },
    ...{ uptime: 3e9, up: 1, healthy: null },
  });
  const { series: [some] } = await ask({ fields: ["memory_bytes", "load"] }) as MetricsHistoryJson;
  const at = "2026-01-01T00:00:00.000Z";
  assertEquals(some!.points[0], { at, memory_bytes: 5, load: null });
  assertEquals(await codeOf({ fields: ["memory"] }), "bad_request");
});
