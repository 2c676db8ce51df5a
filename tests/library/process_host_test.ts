/** The common interface of `Manager` and `Client`: one program runs with both. */

import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { Client } from "../../src/client.ts";
import { hintText, Manager, ProcessHost, ProcsupError, StartFailedError } from "../../src/mod.ts";
import { TestDaemon } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";
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
      await t.step("lines of later processes", () => laterLines(host));
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
      '"app" did not reach "running" within 20ms: app is stopped',
    );
    assertEquals(late.code, "timeout");
    const added = await host.add(sleeper("later"));
    assertEquals([added.state, added.pid], ["stopped", 0]);
    await added.start();
    await added.remove();
    assertEquals([added.state, added.pid, added.info.ready], ["stopped", 0, false]);
    const idle = await host.add(sleeper("idle"));
    const never = { for: "running", timeout: "30s" } as const;
    const deleted = assertRejects(() => idle.wait(never), ProcsupError, '"idle" was deleted');
    await idle.remove();
    await deleted;
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

async function laterLines(host: ProcessHost): Promise<void> {
  // Each instance now prints its number, and "later" once the folder has that file.
  await using folder = tempHome();
  const says = (name: string, tag: string) => {
    const script = `echo up $PROCSUP_INSTANCE; while [ ! -e later ]; do sleep 0.02; done; ` +
      `echo later; exec sleep 1000`;
    return shell(name, script, { cwd: folder.path, tags: [tag] });
  };
  await host.start(says("evt", "t1"));
  const seen = new Map<string, string[]>();
  const ended: string[] = [];
  const stop = new AbortController();
  const followed = ["all", "evt", "tag:t1"].map(async (target) => {
    const lines: string[] = [];
    seen.set(target, lines);
    const stream = host.lines(target, { follow: true, signal: stop.signal });
    for await (const { name, line } of stream) lines.push(`${name} ${line}`);
    ended.push(target);
  });
  const reached = (target: string, ...expected: string[]) =>
    waitFor(() => assertEquals(seen.get(target)!.toSorted(), expected) ?? true, {
      what: `the lines of ${target}`,
    });
  for (const target of seen.keys()) await reached(target, "evt up 0");
  await host.scale("evt", 2);
  await host.start(says("other", "t1"));
  await host.start(says("untagged", "t2"));
  const instances = ["evt up 0", "evt:1 up 1"];
  for (const target of seen.keys()) {
    const others = target === "evt" ? [] : ["other up 0", "untagged up 0"];
    await reached(target, ...instances, ...others.slice(0, target === "all" ? 2 : 1));
  }
  await Deno.writeTextFile(`${folder.path}/later`, "");
  // The first instance now has another name.
  await reached("evt", "evt up 0", "evt:0 later", "evt:1 later", "evt:1 up 1");
  await host.remove("evt");
  await waitFor(() => ended.includes("evt"));
  await host.remove("other");
  await host.remove("untagged");
  await waitFor(() => ended.includes("tag:t1"));
  // The stream of all continues with new lines of an existing app.
  await host.start(says("other", "t2"));
  await waitFor(() => seen.get("all")!.filter((text) => text === "other up 0").length === 2);
  assertEquals(ended.toSorted(), ["evt", "tag:t1"]);
  stop.abort();
  await Promise.all(followed);
  await host.remove("other");
}

async function jobs(host: ProcessHost): Promise<void> {
  const job = { binary: "/bin/sh", args: ["-c", "echo one; echo two; echo no >&2; exit 3"] };
  const failed = { code: 3, stdout: "one\ntwo", stderr: "no" };
  assertEquals(await host.run(job), failed);
  // The log holds output of an earlier job with that name.
  assertEquals(await Promise.all([host.run(job), host.run({ ...job, name: "mine" })]), [
    failed,
    failed,
  ]);
  // Over 1 MiB, in a long line, a short one and an empty one.
  const many = await host.run(
    shell("many", "head -c 1500000 /dev/zero | tr '\\0' x; echo; echo y; echo"),
  );
  assertEquals(many.stdout === `${"x".repeat(1_500_000)}\ny\n`, true, `${many.stdout.length}`);
  const long = await host.run({ command: "sh -c 'head -c 200000 /dev/zero | tr \\\\0 x'" });
  assertEquals(long.stdout.length, 200_000);
  const wide = await host.run({
    binary: "/bin/sh",
    args: ["-c", "i=0; while [ $i -lt 4000 ]; do printf '%0300d─\\n' $((i += 1)); done"],
  });
  assertEquals(wide.stdout.split("\n").length, 4000);
  const log = { stdout: "/tmp/procsup-job.log" };
  assertEquals(await codeOf(host.run({ ...job, log })), "invalid_config");
  assertEquals(await codeOf(host.run({ command: ["ls"] } as never)), "invalid_config");
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
  assertEquals(await codeOf(host.start("all")), "process_not_found");
  const job = await host.add({ ...sleeper("job"), cron: "0 0 1 1 *", namespace: "jobs" });
  assertEquals(await codeOf(host.start("ns:jobs")), "process_not_found");
  await job.remove();
  const defaults = { env: { A: "1" }, minUptime: "50ms", cwd: "/" };
  const command = "sleep 1000";
  const { db, web } = await host.apply({
    defaults,
    processes: {
      web: { command, dependsOn: ["db"], env: { B: "$A ${A} $$" } },
      db: { command },
    },
  }, { wait: true });
  assertEquals([db.state, web.state], ["running", "running"]);
  assertEquals(Object.keys(web.info.config.env).sort(), ["A", "B"]);
  const shown = await host.run({ command: "sh -c 'echo \"$B\"'", env: { B: "$A ${A} $$" } });
  assertEquals(shown.stdout, "$A ${A} $$");
  const folder = await Deno.makeTempDir({ prefix: "procsup-$$-" });
  await Deno.symlink("/bin/sleep", `${folder}/sleep`);
  // `binary` is another name of `entrypoint`.
  const odd = { ...defaults, binary: `${folder}/sleep`, args: ["1000"] };
  const { odd: { info } } = await host.apply({ processes: { odd } }, { wait: true });
  assertEquals(info.config.entrypoint, `${folder}/sleep`);
  await host.remove("odd");
  await Deno.remove(folder, { recursive: true });
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
  }, { wait: true });
  assertEquals(up.state, "running");
  // Parts of a program may ask for the same process at once, also while a start still waits.
  const waiting = host.ensure(
    { ...sleeper("waits"), waitReady: true, healthCheck: { type: "command", command: "false" } },
    { wait: true },
  ).catch((error) => error);
  const shared = await Promise.all([1, 2, 3].map(async () => {
    const { id, pid } = await host.ensure(sleeper("shared"));
    assert(pid > 0);
    return id;
  }));
  assertEquals(new Set(shared).size, 1);
  // Nor does a change that waits hold up others.
  const changing = host.ensure(
    { ...sleeper("waits"), waitReady: true, healthCheck: { type: "command", command: "exit 1" } },
    { wait: true },
  ).catch((error) => error);
  await host.remove((await host.ensure(sleeper("other"))).name);
  await host.remove("shared");
  await host.remove("waits");
  assert(await changing instanceof ProcsupError);
  assert(await waiting instanceof ProcsupError);
  // Nothing changes when any entry is invalid.
  const wrong = { processes: { new: { command }, bad: { command, instances: -1 } } };
  assertEquals(await codeOf(host.apply(wrong)), "invalid_config");
  assertEquals((await host.list()).map(({ name }) => name).sort(), ["db", "web"]);
  await host.remove("all");
}

async function words(host: ProcessHost): Promise<void> {
  const told = async (config: object) => {
    const error = await assertRejects(() => host.start({ ...sleeper("x"), ...config }));
    const { message, hint, field = "" } = error as ProcsupError;
    return [message, hint && hintText(hint), field] as const;
  };
  assertEquals(await told({ maxRestrts: 3 }), [
    'Unknown key "maxRestrts": did you mean "maxRestarts"?',
    undefined,
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
      () => host.start(sleeper("y"), { wiat: true } as object),
      'Unknown key "wiat": did you mean "wait"?',
    ],
    [() => host.restart("x", { wiat: 1 } as object), 'Unknown key "wiat": did you mean "wait"?'],
    [() => host.reload("x", { wiat: 1 } as object), 'Unknown key "wiat": did you mean "wait"?'],
    [() => host.scale("x", 2, { wait2: 1 } as object), 'Unknown key "wait2": did you mean "wait"?'],
    [() => host.wait("x", { four: "exit" } as object), 'Unknown key "four": did you mean "for"?'],
    [
      () => host.rollingReload("x", { batchsize: 2 } as object),
      'Unknown key "batchsize": did you mean "batchSize"?',
    ],
    [
      () => host.save({ allowempty: true } as object),
      'Unknown key "allowempty": did you mean "allowEmpty"?',
    ],
    [
      () => host.apply({ processes: {} }, { wiat: true } as object),
      'Unknown key "wiat": did you mean "wait"?',
    ],
    [() => host.remove("x", { force: true } as object), 'Unknown key "force"'],
    [() => host.add(sleeper("y"), { start: true } as object), 'Unknown key "start"'],
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
    [
      () => Array.fromAsync(host.lines("x", { tail: -1 })),
      'Invalid "tail" -1: expected a number of lines, 0 for all',
    ],
    [
      () => Array.fromAsync(host.lines("x", { follow: true, until: "1h" })),
      'Invalid "until": it cannot be used with "follow"',
    ],
  ];
  const misread: [() => Promise<unknown>, string][] = [
    [
      () => host.stop("x", { force: "no" } as never),
      'Invalid "force" "no": expected true or false',
    ],
    [() => host.start("x", { wait: 1 } as never), 'Invalid "wait" 1: expected true or false'],
    [
      () => host.rollingReload("x", { rollbackOnFailure: null } as never),
      'Invalid "rollbackOnFailure" null: expected true or false',
    ],
    [
      () => Array.fromAsync(host.lines("x", { follow: "no" } as never)),
      'Invalid "follow" "no": expected true or false',
    ],
    [
      () => Array.fromAsync(host.lines("x", { ignoreCase: true })),
      'Invalid "ignoreCase": it needs "grep"',
    ],
    [
      () => Array.fromAsync(host.lines("x", { level: "loud" } as never)),
      'Invalid "level" "loud": expected one of debug, info, warn, error',
    ],
    [() => host.remove("x", { signal: 5 } as never), 'Invalid "signal" 5: expected an AbortSignal'],
    [() => host.send("x", 5 as never), 'Invalid "text" 5: expected a text'],
    [() => host.send("x", ""), 'Invalid "text" "": expected a text'],
    [async () => await host.inspect(""), 'Invalid target "": expected a name or an id'],
    [() => host.stop(0 as never), "Invalid target 0: expected a name or an id"],
    [
      () => host.rollingReload("x", { batchSize: 9 }),
      'Invalid "batchSize" 9: expected a number from 1 to 1, or a part such as "25%"',
    ],
    [() => host.stop("x", 7.2e12), 'Invalid timeout "2h": at most one hour is possible'],
  ];
  for (const [act, message] of [...misspelt, ...misread]) {
    // Some calls throw, others reject.
    const error = await assertRejects(async () => await act(), ProcsupError);
    assertEquals([error.message, error.code], [message, "bad_request"]);
  }
  const late = host.wait("x", { for: "stopped", timeout: 1e6 });
  await assertRejects(() => late, ProcsupError, '"x" did not reach "stopped" within 1ms');
  const unheld: [unknown, string, string][] = [
    [{ env: { A: new Date(0) } }, 'Invalid "env.A"', "env.A"],
    [{ env: new Map() }, 'Invalid "env" [object Map]: JSON cannot hold it', "env"],
    [{ args: [5n] }, 'Invalid "args.0" 5n: JSON cannot hold it', "args.0"],
  ];
  for (const [part, message, field] of unheld) {
    const [said, , at] = await told(part as object);
    assert(said.startsWith(message), said);
    assertEquals(at, field);
  }
  const unusable: [(given: never) => Promise<unknown>, unknown, string][] = [
    [(given) => host.ensure(given), { command: "true" }, '"name"'],
    [(given) => host.ensure(given), undefined, "Invalid configuration undefined"],
    [(given) => host.apply(given), { processes: { "a b": {} } }, 'nvalid "name" "a b": must'],
    [(given) => host.run(given), undefined, "Invalid configuration undefined"],
    [(given) => host.run(given), "true", 'Invalid configuration "true": expected an object'],
    [(given) => host.run(given), { command: "true", instances: 2 }, "run() takes no instances"],
    [
      (given) => host.run(given),
      { command: "true", cron_restart: "@daily" },
      "takes no cronRestart",
    ],
  ];
  for (const [act, given, message] of unusable) {
    const error = await assertRejects(async () => await act(given as never), ProcsupError, message);
    assertEquals([error.code, error.message.includes("/config")], ["invalid_config", false]);
  }
  const [, taken] = await told({});
  assertEquals(taken, 'Choose another name, or restart it: restart("x")');
  const gone = await assertRejects(async () => await host.inspect("nothing"), ProcsupError);
  assertEquals(hintText(gone.hint!), 'Nothing matches "nothing"; see all processes: list()');
  await host.remove("x");
  const dies = shell("x", "echo max_restarts >&2; exit 3", { restartPolicy: "never" });
  const failed = await assertRejects(() => host.start(dies, { wait: true }), StartFailedError);
  assertEquals(failed.lastOutput, ["max_restarts"]);
  assert(failed.message.endsWith("its last output:\n  max_restarts"), failed.message);
  await host.remove("x");
}
