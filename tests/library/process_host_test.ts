/** What `Manager` and `Client` have in common, with each of them: one program for both. */

import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { Client } from "../../src/client.ts";
import { Manager, ProcessHost, ProcsupError, StartFailedError } from "../../src/mod.ts";
import { TestDaemon } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";
import { codeOf, shell, sleeper } from "./support.ts";

interface Opened extends AsyncDisposable {
  readonly host: ProcessHost;
}

const HOSTS: Readonly<Record<string, () => Promise<Opened>>> = {
  async Manager() {
    const home = tempHome();
    const host = await Manager.open({ logDir: home.path });
    return {
      host,
      async [Symbol.asyncDispose]() {
        await host.close();
        await home[Symbol.asyncDispose]();
      },
    };
  },
  async "Client over the socket"() {
    const daemon = await TestDaemon.start();
    return {
      host: new Client({ home: daemon.home }),
      [Symbol.asyncDispose]: () => daemon[Symbol.asyncDispose](),
    };
  },
  async "Client over a URL"() {
    const daemon = await TestDaemon.start();
    const { url } = await daemon.client.call("web_start", { listen: "127.0.0.1:0" });
    const { token } = await daemon.client.call("token");
    return {
      host: new Client({ url, token }),
      [Symbol.asyncDispose]: () => daemon[Symbol.asyncDispose](),
    };
  },
};

for (const [name, open] of Object.entries(HOSTS)) {
  Deno.test({
    name: `${name} starts processes as handles, runs jobs and applies configurations`,
    sanitizeOps: true,
    sanitizeResources: true,
    async fn(t) {
      await using opened = await open();
      const { host } = opened;
      await t.step("a handle", () => handle(host));
      await t.step("an instance", () => instance(host));
      await t.step("lines", () => lines(host));
      await t.step("jobs", () => jobs(host));
      await t.step("configurations", () => configurations(host));
      await t.step("words", () => words(host));
      assertEquals(await host.list(), []);
    },
  });
}

async function handle(host: ProcessHost): Promise<void> {
  let pid: number;
  {
    await using app = await host.start(sleeper("app", { minUptime: "50ms" }), { wait: true });
    assertEquals([app.name, app.state, app.info.config.args.at(-1)], [
      "app",
      "running",
      "exec sleep 1000",
    ]);
    pid = app.pid;
    await app.restart();
    assert(app.pid !== pid && app.pid > 0);
    const stopped = app.wait({ for: "stopped", timeout: "1000h" });
    await app.stop({ force: true });
    assertEquals((await stopped).state, "stopped");
    assertEquals([app.state, app.info.lastExit?.signal], ["stopped", "SIGKILL"]);
    await app.start();
    assertEquals((await app.wait({ for: "running" })).pid, app.pid);
    assertEquals((await host.get("app")).id, app.id);
    await app.stop("1s");
    const late = await assertRejects(
      () => app.wait({ for: "running", timeout: "20ms" }),
      ProcsupError,
      '"app" did not reach "running" within 20ms',
    );
    assertEquals(late.code, "timeout");
    const added = await host.add(sleeper("later"));
    assertEquals([added.state, added.pid], ["stopped", 0]);
    await added.start();
    await added.remove();
    await added[Symbol.asyncDispose]();
  }
  assertEquals(await host.list(), []);
}

async function instance(host: ProcessHost): Promise<void> {
  await using web = await host.start(sleeper("web", { instances: 2 }));
  const one = await host.get("web:1");
  assertEquals([web.name, one.name], ["web", "web:1"]);
  const states = async () => (await host.list()).map(({ name, state }) => `${name} ${state}`);
  await one.stop();
  assertEquals(await states(), ["web:0 running", "web:1 stopped"]);
}

async function lines(host: ProcessHost): Promise<void> {
  await using app = await host.start(
    shell("app", "echo out; sleep 0.2; echo err >&2; exec sleep 1000"),
  );
  const seen: string[] = [];
  for await (const { name, stream, line, at } of app.lines({ follow: true })) {
    assert(at instanceof Date);
    seen.push(`${name} ${stream} ${line}`);
    if (stream === "stderr") break;
  }
  assertEquals(seen, ["app stdout out", "app stderr err"]);
  const last = await Array.fromAsync(host.lines("app", { tail: 1, stream: "stdout" }));
  assertEquals(last.map(({ line }) => line), ["out"]);
  assertEquals(await Array.fromAsync(app.lines({ follow: true, signal: AbortSignal.abort() })), []);
  const followed = app.lines({ follow: true }).getReader();
  await followed.read();
  await app.remove();
  assertEquals((await followed.read()).value?.line, "err");
  assertEquals((await followed.read()).done, true);
}

async function jobs(host: ProcessHost): Promise<void> {
  const job = { binary: "/bin/sh", args: ["-c", "echo one; echo two; echo no >&2; exit 3"] };
  const failed = { code: 3, stdout: "one\ntwo", stderr: "no" };
  assertEquals(await host.run(job), failed);
  // The log holds what an earlier job of the name wrote.
  assertEquals(await Promise.all([host.run(job), host.run({ ...job, name: "mine" })]), [
    failed,
    failed,
  ]);
  const long = await host.run({ command: "sh -c 'head -c 200000 /dev/zero | tr \\\\0 x'" });
  assertEquals(long.stdout.length, 200_000);
  const wide = await host.run({
    binary: "/bin/sh",
    args: ["-c", "i=0; while [ $i -lt 4000 ]; do printf '%0300d─\\n' $((i += 1)); done"],
  });
  assertEquals(wide.stdout.split("\n").length, 4000);
  const log = { stdout: "/tmp/procsup-job.log" };
  assertEquals(await codeOf(host.run({ ...job, log })), "invalid_config");
  const killed = await host.run({ binary: "/bin/sh", args: ["-c", "kill -9 $$"] });
  assertEquals(killed.code, 137);
  await assertRejects(
    () => host.run({ script: "/no/such/script.sh" }),
    ProcsupError,
    '"/no/such/script.sh"',
  );
  const sleep = { command: "sleep 1000" };
  assertEquals(await codeOf(host.run(sleep, { timeout: "50ms" })), "timeout");
  const reason = await assertRejects(() => host.run(sleep, { signal: AbortSignal.timeout(50) }));
  assertEquals((reason as Error).name, "TimeoutError");
}

async function configurations(host: ProcessHost): Promise<void> {
  const defaults = { env: { A: "1" }, minUptime: "50ms", cwd: "/" };
  const command = "sleep 1000";
  const { db, web } = await host.apply({
    defaults,
    processes: {
      web: { command, dependsOn: ["db"], env: { B: "$A ${A} $$" } },
      db: { command },
    },
  });
  assertEquals([db.state, web.state], ["running", "running"]);
  assertEquals(Object.keys(web.info.config.env).sort(), ["A", "B"]);
  const shown = await host.run({ command: "sh -c 'echo \"$B\"'", env: { B: "$A ${A} $$" } });
  assertEquals(shown.stdout, "$A ${A} $$");
  const pids = [db.pid, web.pid];
  await web.stop();
  const again = await host.apply({ defaults, processes: { db: { command } } });
  assertEquals([again.db.pid, again.db.id], [pids[0], db.id]);
  assertEquals((await web.inspect()).state, "stopped");

  const same = await host.ensure({ ...defaults, name: "db", command });
  assertEquals(same.pid, pids[0]);
  const other = await host.ensure({ ...defaults, name: "db", command: "sleep 1001" });
  assert(other.pid !== pids[0] && other.pid > 0);
  const up = await host.ensure({
    ...defaults,
    name: "web",
    command,
    dependsOn: ["db"],
    env: { A: "1", B: "$A ${A} $$" },
  });
  assertEquals(up.state, "running");
  // Nothing is touched when any entry is wrong.
  const wrong = { processes: { new: { command }, bad: { command, instances: -1 } } };
  assertEquals(await codeOf(host.apply(wrong)), "invalid_config");
  assertEquals((await host.list()).map(({ name }) => name).sort(), ["db", "web"]);
  await host.remove("all");
}

async function words(host: ProcessHost): Promise<void> {
  const told = async (config: object) => {
    const error = await assertRejects(() => host.start({ ...sleeper("x"), ...config }));
    const { message, hint = "", field = "" } = error as ProcsupError;
    return [message, hint, field] as const;
  };
  assertEquals(await told({ maxRestrts: 3 }), [
    'Unknown key "maxRestrts": did you mean "maxRestarts"?',
    "",
    "maxRestrts",
  ]);
  assertEquals(
    (await told({ healthCheck: { grasePeriod: 1 } }))[0],
    'Unknown key "healthCheck.grasePeriod": did you mean "gracePeriod"?',
  );
  const [message, , field] = await told({ maxRestarts: -1 });
  assertMatch(message, /^Invalid "maxRestarts" -1: /);
  assertEquals(field, "maxRestarts");
  await host.start(sleeper("x"));
  const misspelt: [() => Promise<unknown>, string][] = [
    [() => host.stop("x", { forse: true } as object), 'Unknown key "forse": did you mean "force"?'],
    [() => host.start("x", { wiat: true } as object), 'Unknown key "wiat": did you mean "wait"?'],
    [
      () => host.run({ command: "true" }, { timeot: "1s" } as object),
      'Unknown key "timeot": did you mean "timeout"?',
    ],
    [
      () => Array.fromAsync(host.lines("x", { tial: 1 } as object)),
      'Unknown key "tial": did you mean "tail"?',
    ],
    [
      () => Array.fromAsync(host.lines("x", { stream: "both" } as object)),
      'Invalid "stream" "both": expected "stdout" or "stderr"',
    ],
  ];
  for (const [act, message] of misspelt) {
    // Some throw at once, others reject.
    const error = await assertRejects(async () => await act(), ProcsupError);
    assertEquals([error.message, error.code], [message, "bad_request"]);
  }
  const [, taken] = await told({});
  assertEquals(taken, 'Choose another name, or run: restart("x")');
  const gone = await assertRejects(async () => await host.inspect("nothing"), ProcsupError);
  assertEquals(gone.hint, 'Nothing matches "nothing"; list() shows all processes');
  await host.remove("x");
  const dies = shell("x", "echo max_restarts >&2; exit 3", { restartPolicy: "never" });
  const failed = await assertRejects(() => host.start(dies, { wait: true }), StartFailedError);
  assertEquals(failed.lastOutput, ["max_restarts"]);
  assert(failed.message.endsWith("it said last:\n  max_restarts"), failed.message);
  await host.remove("x");
}
