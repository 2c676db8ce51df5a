/** Health checks of a running process, with real servers and a fake clock. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { type HealthRecord, UNKNOWN_HEALTH } from "../../src/model/health.ts";
import { parseConfig } from "../../src/model/config_schema.ts";
import type { HealthCheckConfig } from "../../src/model/process_config.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { HealthMonitor } from "../../src/process/health_monitor.ts";
import { sharedCheckProblem } from "../../src/process/launch_setup.ts";
import { proof } from "../../src/process/proof.ts";
import type { RunView } from "../../src/process/run_view.ts";
import { connectToRun, NotMet } from "../../src/platform/launch/run_connection.ts";
import { livingWith } from "../fixtures/run_members.ts";
import { waitFor } from "../support/wait_for.ts";
import { LoneProcess } from "./lone_process.ts";

/** A server whose answer the test decides. */
class Target implements AsyncDisposable {
  answer: (request: Request) => Response | Promise<Response>;
  /** Requested paths. */
  readonly asked: string[] = [];
  /** Requests without an answer so far. */
  open = 0;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor(
    answer: (request: Request) => Response | Promise<Response>,
    tls: { readonly key?: string; readonly cert?: string } = {},
  ) {
    this.answer = answer;
    const options = { port: 0, hostname: "127.0.0.1", onListen() {}, ...tls };
    this.#server = Deno.serve(options, async (request) => {
      this.asked.push(new URL(request.url).pathname);
      this.open++;
      try {
        return await this.answer(request);
      } finally {
        this.open--;
      }
    });
  }

  get address(): string {
    return `127.0.0.1:${this.#server.addr.port}`;
  }

  get url(): string {
    return `http://${this.address}/health`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

/** A running process with that health check, after its first check. */
async function checked(
  check: Record<string, unknown>,
  config: Record<string, unknown> = {},
): Promise<LoneProcess> {
  const health_check = { type: "http", interval: "1s", on_failure: "none", ...check };
  const lone = new LoneProcess({ health_check, ...config });
  await lone.process.start();
  await checkIsOver(lone);
  return lone;
}

/** The next check is scheduled when the previous one has finished. */
async function checkIsOver(lone: LoneProcess): Promise<void> {
  await waitFor(() => lone.world.clock.pending === 1, { what: "the end of a check" });
}

async function checkAgain(lone: LoneProcess, times = 1): Promise<void> {
  for (let n = 0; n < times; n++) {
    lone.world.clock.advance(1000);
    await checkIsOver(lone);
  }
}

Deno.test("http: a status from 200 to 399 is healthy, any other is not", async () => {
  await using target = new Target(() => new Response());
  await using lone = await checked({ url: target.url, retries: 1 });
  assertEquals([lone.process.info().health, lone.health], ["healthy", ["healthy"]]);
  for (const status of [204, 301, 304, 399, 400, 404, 500, 503]) {
    target.answer = () => new Response(null, { status });
    await checkAgain(lone);
    const expected = status < 400 ? "healthy" : "unhealthy";
    assertEquals([status, lone.process.info().health], [status, expected]);
  }
});

Deno.test("http: the first line of an error is told, unless it is HTML", async () => {
  await using target = new Target(() =>
    new Response("\nupstream timed out\nat db", { status: 503 })
  );
  await using lone = await checked({ url: target.url });
  const last = () => lone.process.journal.checks.at(-1)?.problem;
  assertEquals(last(), `${target.url} answered 503 · upstream timed out`);
  target.answer = () => new Response("<html>", { status: 502 });
  await checkAgain(lone);
  assertEquals(last(), `${target.url} answered 502`);
});

Deno.test("http: expect names the status, the headers and a text that the answer must have", async () => {
  const hello = () =>
    new Response("it is möglich", { status: 201, headers: { "x-mode": "read-write" } });
  const chunks = ["it is mö", "gli", "ch"].map((text) => new TextEncoder().encode(text));
  await using target = new Target(hello);
  const checks: readonly [string | undefined, Record<string, unknown>][] = [
    [undefined, { status: [200, 201], header: { "X-Mode": "write" }, text: "möglich" }],
    ["answered 201", { status: 200 }],
    ["answered 201 without the header x-other", { header: { "x-other": "" } }],
    [
      'answered 201 with the header x-mode: read-write, which lacks "none"',
      { header: { "x-mode": "none" } },
    ],
    ['answered 201 with a body that lacks "no such"', { text: "no such" }],
  ];
  for (const [problem, expect] of checks) {
    for (const answer of [hello, () => new Response(ReadableStream.from(chunks), hello())]) {
      target.answer = answer;
      await using lone = await checked({ url: target.url, retries: 1, expect });
      const expected = problem === undefined ? "" : `${target.url} ${problem}`;
      assertEquals(lone.process.journal.checks.at(-1)?.problem, expected);
    }
  }
});

Deno.test("http: insecure accepts every certificate, and only with it", async () => {
  const [key, cert] = ["key", "cert"].map((name) =>
    Deno.readTextFileSync(new URL(`../fixtures/tls/${name}.pem`, import.meta.url))
  );
  await using target = new Target(() => new Response("hello"), { key: key!, cert: cert! });
  const url = target.url.replace("http:", "https:");
  await using refused = await checked({ url, retries: 1 });
  assertMatch(refused.process.journal.checks.at(-1)!.problem, /invalid peer certificate/);
  await using lone = await checked({ url, insecure: true, expect: { text: "hello" } });
  assertEquals(lone.process.journal.checks.at(-1)?.problem, "");
});

Deno.test("http: one check per interval, and only one at a time", async () => {
  await using target = new Target(() => new Response());
  await using lone = await checked({ url: target.url });
  assertEquals(target.asked.length, 1);
  // More often after the start.
  for (const [at, delay] of [200, 500, 1000, 1000].entries()) {
    lone.world.clock.advance(delay - 1);
    assertEquals(lone.world.clock.pending, 1);
    lone.world.clock.advance(1);
    await checkIsOver(lone);
    assertEquals(target.asked.length, at + 2);
  }
});

Deno.test("http: a redirect counts as an answer and is not followed", async () => {
  await using target: Target = new Target(() => Response.redirect(target.url, 302));
  await using lone = await checked({ url: target.url });
  assertEquals([target.asked.length, lone.process.info().health], [1, "healthy"]);
});

Deno.test("http: a hanging target fails at the timeout, and checks do not pile up", async () => {
  const answers = Promise.withResolvers<Response>();
  await using target = new Target(() => answers.promise);
  const lone = new LoneProcess({
    health_check: {
      type: "http",
      url: target.url,
      interval: "1s",
      timeout: "1s",
      retries: 1,
      on_failure: "none",
    },
  });
  await using _ = lone;
  await lone.process.start();
  await waitFor(() => target.open === 1, { what: "the check to hang" });
  lone.world.clock.advance(60_000);
  assertEquals([target.asked.length, lone.world.clock.pending], [1, 0]);
  await checkIsOver(lone);
  assertEquals([lone.health, target.asked.length], [["unhealthy"], 1]);
  answers.resolve(new Response());
});

Deno.test("http: an endless body is not read", async () => {
  const chunk = new Uint8Array(64 * 1024);
  let sent = 0;
  let cancelled = false;
  const endless = () =>
    new ReadableStream({
      pull(controller) {
        sent += chunk.length;
        controller.enqueue(chunk);
      },
      cancel() {
        cancelled = true;
      },
    });
  await using target = new Target(() => new Response(endless()));
  await using lone = await checked({ url: target.url });
  await waitFor(() => cancelled, { what: "the body to be cancelled" });
  assertEquals(lone.health, ["healthy"]);
  assert(sent < 10_000_000, `${sent} bytes were sent`);
});

Deno.test("a failure counts only after the grace period, and only a number in a row matters", async () => {
  await using target = new Target(() => new Response(null, { status: 500 }));
  await using lone = await checked({ url: target.url, retries: 2, grace_period: "3s" });
  await checkAgain(lone, 3);
  assertEquals(lone.process.info().health, "unknown");
  await checkAgain(lone);
  assertEquals([lone.process.run.uptimeMs, lone.health], [4000, ["unhealthy"]]);
});

Deno.test("success_threshold: that many successes in a row make it healthy", async () => {
  await using target = new Target(() => new Response());
  await using lone = await checked({ url: target.url, success_threshold: 3 });
  await checkAgain(lone);
  assertEquals(lone.process.info().health, "unknown");
  await checkAgain(lone);
  assertEquals(lone.process.info().health, "healthy");
});

Deno.test("on_failure none reports that it is unhealthy, and that it has recovered", async () => {
  await using target = new Target(() => new Response(null, { status: 500 }));
  await using lone = await checked({ url: target.url, retries: 1 });
  await checkAgain(lone, 3);
  target.answer = () => new Response();
  await checkAgain(lone, 2);
  assertEquals(lone.health, ["unhealthy", "healthy"], "each change is told once");
  assertEquals([lone.world.children.length, lone.world.child.signals], [1, []]);
});

Deno.test("on_failure restart replaces the app, keeps the reason and counts a restart", async () => {
  await using target = new Target(() => new Response(null, { status: 503 }));
  await using lone = await checked({ url: target.url, retries: 2, on_failure: "restart" });
  lone.world.clock.advance(1000);
  await waitFor(() => lone.world.children.length === 2, { what: "another app" });
  const { restarts, lastReason } = lone.process.snapshot;
  assertEquals([restarts, lastReason], [1, `unhealthy: ${target.url} answered 503`]);
  assertEquals(lone.process.info().health, "unknown", "what was said of the old one is forgotten");
  await lone.process.stop();
});

Deno.test("on_failure restart gives up when the budget is used up", async () => {
  await using target = new Target(() => new Response(null, { status: 503 }));
  await using lone = await checked(
    { url: target.url, retries: 1, on_failure: "none" },
    { max_restarts: 2 },
  );
  lone.configure({
    healthCheck: { ...lone.process.config.healthCheck!, onFailure: "restart" },
  });
  await lone.process.restart();
  await waitFor(() => lone.state === "errored", { what: "it to be given up" });
  assertEquals([lone.process.snapshot.restarts, lone.world.child.alive], [2, false]);
  assertMatch(lone.process.snapshot.lastReason, /^unhealthy: .* answered 503, 2 restarts used up$/);
});

Deno.test("on_failure signal sends the signal once each time the app becomes unhealthy", async () => {
  await using target = new Target(() => new Response(null, { status: 503 }));
  await using lone = await checked({ url: target.url, retries: 2, on_failure: "signal:SIGUSR1" });
  await checkAgain(lone, 4);
  assertEquals(lone.world.child.signals, ["SIGUSR1"]);
  target.answer = () => new Response();
  await checkAgain(lone);
  target.answer = () => new Response(null, { status: 503 });
  await checkAgain(lone, 2);
  assertEquals(lone.world.child.signals, ["SIGUSR1", "SIGUSR1"]);
});

Deno.test("http: a closed port is a failure with that reason", async () => {
  const target = new Target(() => new Response());
  const { url } = target;
  await target[Symbol.asyncDispose]();
  await using lone = await checked({ url, retries: 2, on_failure: "restart" });
  lone.world.clock.advance(1000);
  await waitFor(() => lone.process.snapshot.restarts > 0, { what: "a restart" });
  assertMatch(
    lone.process.snapshot.lastReason,
    /^unhealthy: http:\S+ does not answer: Connection refused/,
  );
  await lone.process.stop();
});

Deno.test("tcp: an accepted connection is healthy, a refused one is not", async () => {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const tcp_endpoint = `127.0.0.1:${listener.addr.port}`;
  await using lone = await checked({ type: "tcp", tcp_endpoint, retries: 1 });
  assertEquals(lone.process.info().health, "healthy");
  listener.close();
  // Another test may briefly listen on the port that was just released.
  await waitFor(async () => {
    await checkAgain(lone);
    return lone.process.info().health === "unhealthy";
  });
});

Deno.test("tcp: an IPv6 address is written in brackets", async () => {
  using listener = Deno.listen({ port: 0, hostname: "::1" });
  const tcp_endpoint = `[::1]:${listener.addr.port}`;
  await using lone = await checked({ type: "tcp", tcp_endpoint });
  assertEquals(lone.process.info().health, "healthy");
});

Deno.test("command: it runs in the app's folder with its environment and pid, and exit code 0 is healthy", async () => {
  const command = 'test "$MINE" = yes && test -e well && test "$PROCSUP_PID" -gt 0';
  const env = { MINE: "yes" };
  await using lone = await checked({ type: "command", command, retries: 1 }, { env });
  assertEquals(lone.process.info().health, "unhealthy");
  await Deno.writeTextFile(`${lone.home}/well`, "");
  await checkAgain(lone);
  assertEquals(lone.process.info().health, "healthy");
});

Deno.test("command: a hanging command is killed with everything it forked", async () => {
  const MARK = crypto.randomUUID();
  const command = "sleep 1000 & sleep 1000";
  const health_check = { type: "command", command, timeout: "200ms", retries: 1 };
  await using lone = new LoneProcess({
    health_check: { ...health_check, on_failure: "restart" },
    env: { MARK },
  });
  await lone.process.start();
  await waitFor(() => lone.world.children.length === 2, { what: "another app" });
  assertEquals(lone.process.snapshot.lastReason, "unhealthy: check did not end within 200 ms");
  await lone.process.stop();
  await waitFor(() => livingWith(`MARK=${MARK}`).length === 0, { what: "the checks to be gone" });
});

Deno.test("pre_healthcheck runs before a check, post_healthcheck after it", async () => {
  await using lone = await checked({ type: "command", command: "echo check >>order" }, {
    hooks: { pre_healthcheck: "echo pre >>order", post_healthcheck: "echo post >>order" },
  });
  const order = () => Deno.readTextFileSync(`${lone.home}/order`);
  await waitFor(() => order() === "pre\ncheck\npost\n", { what: "the first round" });
  await checkAgain(lone);
  await waitFor(() => order() === "pre\ncheck\npost\n".repeat(2), { what: "the second round" });
});

Deno.test("failing hooks of a check are recorded, and the check still counts", async () => {
  await using lone = await checked({ type: "command", command: "true" }, {
    hooks: { pre_healthcheck: "exit 3", post_healthcheck: "exit 4" },
  });
  await waitFor(() => lone.notes.length === 2, { what: "the notes" });
  assertEquals(lone.notes, [
    "pre_healthcheck hook failed with exit code 3",
    "post_healthcheck hook failed with exit code 4",
  ]);
  assertEquals(lone.process.info().health, "healthy");
});

Deno.test("hanging post_healthcheck hooks do not pile up", async () => {
  await using lone = await checked({ type: "command", command: "true" }, {
    hooks: { post_healthcheck: "echo begun >>hooks; sleep 1000" },
  });
  await checkAgain(lone, 4);
  const begun = () => Deno.readTextFileSync(`${lone.home}/hooks`);
  await waitFor(() => begun() !== "", { what: "the hook to run" });
  assertEquals(begun(), "begun\n");
});

Deno.test("no check runs after the app is stopped, and a running check is cancelled", async () => {
  const answers = Promise.withResolvers<Response>();
  await using target = new Target(() => answers.promise);
  await using lone = new LoneProcess({
    health_check: { type: "http", url: target.url, timeout: "60s", interval: "1s" },
  });
  await lone.process.start();
  await waitFor(() => target.open === 1, { what: "a check" });
  await lone.process.stop();
  answers.resolve(new Response());
  lone.world.clock.advance(60_000);
  assertEquals([lone.health, lone.world.clock.pending, target.asked.length], [[], 0, 1]);
  assertEquals(lone.process.info().health, "unknown");
});

Deno.test("a port that another process holds does not count as readiness", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  await using target = new Target(() => new Response());
  for (
    const check of [{ type: "http", url: target.url }, {
      type: "tcp",
      tcp_endpoint: target.address,
    }]
  ) {
    await using lone = new LoneProcess({
      wait_ready: true,
      listen_timeout: "3s",
      health_check: { interval: "10s", timeout: "100ms", ...check },
    });
    lone.world.connect = connectToRun;
    void lone.process.start().catch(() => {});
    // The readiness timeout, and the next check, soon.
    for (let n = 0; n < 3; n++) {
      await waitFor(() => lone.world.clock.pending === 2, { what: "the end of a check" });
      lone.world.clock.advance(200);
    }
    assertEquals([lone.state, lone.health], ["starting", []]);
    await lone.process.stop();
  }
});

Deno.test("command: a check that cannot run because the app's folder is gone is a failure", async () => {
  await using lone = await checked({ type: "command", command: "true", retries: 1 });
  assertEquals(lone.health, ["healthy"]);
  await Deno.remove(lone.home, { recursive: true });
  await checkAgain(lone, 2);
  assertEquals(lone.health, ["healthy", "unhealthy"]);
});

Deno.test("a check that lacks resources of the machine does not count against the app", async () => {
  await using lone = new LoneProcess({
    health_check: { type: "command", command: "exit 1", retries: 1, interval: "1s" },
  });
  await lone.process.start();
  const { process: { config }, world } = lone;
  const told: string[] = [];
  let refusals = 3;
  const refusal = Object.assign(new Error("Too many open files"), { code: "EMFILE" });
  const run = {
    ...{ world, config, isReady: true, uptimeMs: 60_000 },
    hookContext: () => ({
      ...{ cwd: "/", env: () => ({}), user: () => undefined },
      prepare: () => refusals-- > 0 ? Promise.reject(refusal) : undefined,
    }),
    note: (text: string) => told.push(text),
    journal: { checked: ({ problem }: { problem: string }) => told.push(problem) },
    healthChanged: (health: string) => told.push(health),
  } as unknown as RunView;
  const monitor = new HealthMonitor(run, { ...config.healthCheck!, onFailure: "none" });
  await waitFor(() => {
    lone.world.clock.advance(1000);
    return told.includes("unhealthy");
  });
  monitor.stop();
  assertEquals(told.slice(0, 3), [
    "check cannot run: Too many open files",
    "check ended with code 1",
    "unhealthy",
  ]);
});

Deno.test("a check that met only other instances says nothing, and is made again soon", async () => {
  await using target = new Target(() => new Response());
  await using lone = new LoneProcess({
    health_check: { type: "http", url: target.url, retries: 1, interval: "30s" },
    ...{ wait_ready: true, listen_timeout: "20s" },
  });
  const { process: { config }, world } = lone;
  const { connect } = world;
  const told: string[] = [];
  let isReady = false;
  const run = {
    ...{ world, config, uptimeMs: 60_000, run: {}, watchedMs: 0, attempt: 1 },
    get isReady() {
      return isReady;
    },
    post: ({ type }: { type: string }) => isReady = type === "became_ready",
    hookContext: () => ({}),
    journal: { checked: ({ problem }: { problem: string }) => told.push(problem || "good") },
    healthChanged: (health: string) => told.push(health),
  } as unknown as RunView;
  let tries = 0;
  const neighbours: typeof connect = () => {
    tries++;
    return Promise.reject(new NotMet("others answer"));
  };
  world.connect = neighbours;
  const monitor = new HealthMonitor(run, { ...config.healthCheck!, onFailure: "none" });
  const again = async (ms = 500) => {
    await checkIsOver(lone);
    world.clock.advance(ms);
    await checkIsOver(lone);
  };
  // The answers of others neither make it ready nor count.
  await again();
  assertEquals([isReady, told.splice(0)], [false, ["others answer", "others answer"]]);
  world.connect = connect;
  await again();
  assertEquals([isReady, told.splice(0), monitor.record.isChecking], [
    true,
    ["good", "healthy"],
    false,
  ]);
  world.connect = neighbours;
  tries = 0;
  for (let n = 0; n < 10; n++) await again();
  // The health stays, but it is not proven by a success from before.
  const { health, failures, goodSince, isChecking } = monitor.record;
  assertEquals([tries, told], [10, []]);
  assertEquals([health, failures, goodSince, isChecking], ["healthy", 0, 60_000, true]);
  world.connect = connect;
  await again();
  assertEquals([told.splice(0), monitor.record.isChecking], [["good"], false]);
  // One that hangs is never met.
  world.connect = neighbours;
  await again(1000);
  await again(20_000);
  assertEquals(told, ["others answer for 20s", "unhealthy"]);
  monitor.stop();
});

Deno.test("a run is not proven while a check is in progress, which may fail", async () => {
  const { promise: failed, resolve: fail } = Promise.withResolvers<void>();
  let record: HealthRecord = { ...UNKNOWN_HEALTH, goodSince: 0, isChecking: true };
  let uptimeMs = 0;
  const proven = proof({
    config: { minUptimeMs: 100, listenTimeoutMs: 1000, healthCheck: {} as HealthCheckConfig },
    clock: systemClock,
    uptimeMs: () => uptimeMs += 100,
    record: () => {
      if (uptimeMs > 500) fail();
      return record;
    },
    problem: () => "no answer",
  }, new AbortController().signal);
  await failed;
  record = UNKNOWN_HEALTH;
  assertEquals(await proven, "not healthy for 100ms within 1s: no answer");
});

Deno.test("sharedCheckProblem() names a check of a shared socket where only Linux tells who answers", () => {
  const app = (keys: Record<string, unknown>) =>
    parseConfig({
      ...{ name: "web", entrypoint: "/bin/true", cwd: "/", sockets: ["127.0.0.1:8080"] },
      ...{ instances: 2, health_check: { type: "http", url: "http://localhost:8080/" }, ...keys },
    });
  const tcp = { type: "tcp", tcp_endpoint: "[::1]:8080" };
  const onMac = (keys: Record<string, unknown>) => sharedCheckProblem(app(keys), "macos");
  assertMatch(onMac({})!, /port 8080: only Linux/);
  assertMatch(onMac({ health_check: tcp })!, /port 8080/);
  assertMatch(onMac({ instances: 1, overlap: true })!, /port 8080/);
  const other = { type: "http", url: "https://localhost/" };
  const fine = [
    { instances: 1 },
    { sockets: [] },
    { health_check: other },
    { health_check: { type: "command", command: "true" } },
  ];
  assertEquals(
    [sharedCheckProblem(app({}), "linux"), ...fine.map(onMac)],
    Array(5).fill(undefined),
  );
});
