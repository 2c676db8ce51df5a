/** The documented contract of the web surface, on a running daemon over TCP. */

import { keepersOf } from "../../src/platform/sockets/port_keeper.ts";
import { processRow } from "../../src/platform/scan/process_table.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { freePort } from "../support/http_load.ts";
import { TestDaemon } from "../support/procsup.ts";
import { waitFor } from "../support/wait_for.ts";
import { signIn, TestWeb, type WebAnswer } from "../support/web.ts";

const web = TestWeb.ofFile();

const P = "/api/v1/processes";
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const STATES = ["starting", "running", "stopping", "stopped", "crashed", "errored", "waiting"];

/** A process over REST: each field, with a check of its value. */
const PROCESS_INFO: Readonly<Record<string, (value: unknown) => boolean>> = {
  id: (value) => /^[0-9a-f]{8}$/.test(value as string),
  numeric_id: Number.isInteger,
  name: isText,
  namespace: isText,
  instance_index: Number.isInteger,
  runtime: isText,
  state: (value) => STATES.includes(value as string),
  pid: Number.isInteger,
  exit_code: Number.isInteger,
  restarts: Number.isInteger,
  created_at: (value) => ISO.test(value as string),
  started_at: (value) => ISO.test(value as string),
  config: (value) => typeof value === "object" && value !== null,
  cpu_percent: Number.isFinite,
  memory_bytes: Number.isInteger,
  mem_percent: Number.isFinite,
  threads: Number.isInteger,
  fds: Number.isInteger,
  tags: Array.isArray,
  uptime: Number.isInteger,
};

/** The exact fields of an item in the feed. */
const FEED_ITEM = [
  ...["id", "numeric_id", "name", "runtime", "state", "pid", "exit_code", "restarts"],
  ...["cpu_percent", "memory_bytes", "mem_percent", "threads", "fds", "uptime"],
];

const METRICS = [
  ...["total_memory", "used_memory", "free_memory", "available_memory", "swap_total", "swap_used"],
  ...["cpu_count", "cpu_percent", "cpu_load_1", "cpu_load_5", "cpu_load_15", "uptime_seconds"],
  ...["process_count", "hostname", "platform", "arch", "daemon"],
];

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function assertProcessInfo(value: Record<string, unknown>): void {
  for (const [field, isRight] of Object.entries(PROCESS_INFO)) {
    assert(isRight(value[field]), `${field}: ${JSON.stringify(value[field])}`);
  }
}

const SCRIPT = "echo one; echo two; echo three; exec sleep 1000";
const CONFIG = { name: "app", runtime: "auto", entrypoint: "/bin/sh", cwd: "/" };

Deno.test("REST keeps its documented contract", async () => {
  const created = await web.ask("POST", P, {
    ...CONFIG,
    ...{ args: ["-c", SCRIPT], env: { KEY: "value" }, restart_policy: "never", max_restarts: 3 },
  });
  assertEquals([created.status, created.body.state], [201, "running"]);
  assertEquals(created.headers.get("location"), `${P}/${created.body.id}`);
  assertProcessInfo(created.body);
  const { config, id, numeric_id } = created.body;
  for (const key of [...Object.keys(CONFIG), "args", "env", "restart_policy", "max_restarts"]) {
    assert(key in config, key);
  }
  const list = await web.ask("GET", P);
  assertEquals([list.status, list.body.length], [200, 1]);
  assertProcessInfo(list.body[0]);
  for (const target of [id, String(numeric_id), "app", id.slice(0, 4)]) {
    const one = await web.ask("GET", `${P}/${target}`);
    assertEquals([one.status, one.body.id], [200, id], target);
    assertProcessInfo(one.body);
  }
  await assertLogs(web);
  await assertVerbs(web, created.body.pid);
  const metrics = await web.ask("GET", "/api/v1/system/metrics");
  assertEquals([metrics.status, Object.keys(metrics.body)], [200, METRICS]);
  assertEquals(metrics.body.daemon.pid, web.daemon.pid);
});

async function assertLogs(web: TestWeb): Promise<void> {
  const path = `${web.daemon.home}/apps/app/stdout.log`;
  await waitFor(() => Deno.readTextFileSync(path) === "one\ntwo\nthree\n");
  const usual = await web.ask("GET", `${P}/app/logs`);
  assertEquals([usual.status, usual.body], [200, { logs: "one\ntwo\nthree\n", path, lines: "50" }]);
  const last = await web.ask("GET", `${P}/app/logs?lines=2`);
  assertEquals(last.body, { logs: "two\nthree\n", path, lines: "2" });
  const stream = (query: string) => web.ask("GET", `/api/v1/logs?${query}`);
  const texts = ({ text }: WebAnswer) =>
    text.trimEnd().split("\n").map((line) => JSON.parse(line).line);
  assertEquals(texts(await stream("target=app&lines=2&stdout=true")), ["two", "three"]);
  for (const [query, field] of [["follow=yes", "follow"], ["lines=-1", "lines"]]) {
    const refused = await stream(`target=app&${query}`);
    assertEquals([refused.status, refused.body.code], [400, "bad_request"]);
    assertStringIncludes(refused.body.error, `Invalid "${field}"`);
  }
}

async function assertVerbs(web: TestWeb, first: number): Promise<void> {
  let pid = first;
  const rows: [string, string, string, string | undefined][] = [
    ["POST", "/restart", "restarted", "running"],
    ["POST", "/reload", "reloaded", "running"],
    ["POST", "/stop", "stopped", "stopped"],
    ["POST", "/stop?force=true&timeout=1s", "stopped", "stopped"],
    ["POST", "/start", "started", "running"],
    ["DELETE", "", "deleted", undefined],
  ];
  for (const [method, path, status, state] of rows) {
    const answer = await web.ask(method, `${P}/app${path}`);
    // In addition, the result for each process.
    const { results: _, ...body } = answer.body;
    assertEquals([answer.status, body], [200, { status }], path);
    assertEquals("results" in answer.body, path === "/start");
    const now = (await web.ask("GET", P)).body[0];
    assertEquals(now?.state, state, path);
    if (state === "running") assert(now.pid > 0 && now.pid !== pid, `${path} begins a new run`);
    pid = now?.pid;
  }
  const gone = await web.ask("GET", `${P}/app`);
  const { hint, ...body } = gone.body;
  assertEquals([gone.status, body], [404, {
    error: "process not found",
    code: "process_not_found",
  }]);
  assertStringIncludes(hint.text, 'Nothing matches "app"');
}

Deno.test("REST stops with a grace period of five seconds, or the requested one", async () => {
  await web.daemon.startScript("stubborn", `trap '' TERM; echo up; while :; do sleep 0.1; done`, {
    stop_timeout: "1h",
  });
  // Until its trap is set, SIGTERM ends it at once.
  const up = (times: number) =>
    waitFor(() =>
      Deno.readTextFileSync(`${web.daemon.home}/apps/stubborn/stdout.log`) === "up\n".repeat(times)
    );
  await up(1);
  assertEquals((await web.ask("POST", `${P}/stubborn/stop?timeout=300ms`)).status, 200);
  await web.ask("POST", `${P}/stubborn/start`);
  await up(2);
  assertEquals((await web.ask("POST", `${P}/stubborn/stop`)).status, 200);
});

Deno.test("REST reports mistakes in the same words as the command line", async () => {
  await web.daemon.startScript("app", "exec sleep 1000");
  const rows: [string, string, unknown, number, string[]][] = [
    ["GET", `${P}/ghost`, undefined, 404, ["status", "ghost"]],
    ["POST", P, { name: "app", entrypoint: "/bin/true", cwd: "/" }, 409, [
      ...["start", "/bin/true", "--name", "app"],
    ]],
    ["POST", P, { name: "x", entrypoint: "/no/such", cwd: "/" }, 422, [
      ...["start", "/no/such", "--name", "x"],
    ]],
    ["POST", `${P}/app/signal`, { signal: "SIGFOO" }, 400, ["signal", "SIGFOO", "app"]],
  ];
  for (const [method, path, body, status, args] of rows) {
    const answer = await web.ask(method, path, body);
    const keys = Object.keys(answer.body).filter((key) => !["hint", "field"].includes(key));
    assertEquals([answer.status, keys], [status, ["error", "code"]], path);
    const { stderr } = await web.daemon.cli(...args);
    const said = /^error: (.*)$/m.exec(stderr)![1]!;
    assertEquals(said.toLowerCase(), answer.body.error.toLowerCase());
  }
});

Deno.test("REST is the same on the Unix socket", async () => {
  using client = Deno.createHttpClient({
    proxy: { transport: "unix", path: `${web.daemon.home}/procsup.sock` },
  });
  const ask = async (path: string, authorization = `Bearer ${web.token}`) => {
    const response = await fetch(`http://procsup${path}`, { client, headers: { authorization } });
    return [response.status, await response.json()] as const;
  };
  assertEquals(await ask(P), [200, []]);
  assertEquals((await ask(P, ""))[0], 401);
  assertEquals((await ask("/openapi.json"))[1].openapi, "3.1.0");
});

Deno.test("REST changes the configuration, scales, explains and signals", async () => {
  const script = "trap 'echo usr1' USR1; while :; do sleep 1000 & wait; done";
  await web.daemon.startScript("app", script, { env: { KEY: "old" } });
  const changed = await web.ask("PATCH", `${P}/app`, { tags: ["blue"], env: { KEY: "new" } });
  assertEquals([changed.status, changed.body.status], [200, "reloaded"]);
  assertEquals((await web.ask("GET", `${P}/app`)).body.tags, ["blue"]);
  const bad = await web.ask("PATCH", `${P}/app`, { entrypoint: "/no/such" });
  assertEquals([bad.status, bad.body.code], [422, "invalid_config"]);
  assertEquals((await web.ask("POST", `${P}/app/signal`, { signal: "USR1" })).status, 200);
  await waitFor(async () => (await web.ask("GET", `${P}/app/logs`)).body.logs === "usr1\n");
  const metrics = `${web.daemon.home}/state/metrics`;
  Deno.mkdirSync(metrics, { recursive: true });
  Deno.writeTextFileSync(`${metrics}/app.ring`, "");
  assertEquals((await web.ask("POST", `${P}/app/scale`, { instances: 2 })).status, 200);
  assert(Deno.statSync(`${metrics}/app:0.ring`).isFile, "the history goes along with the name");
  assertEquals((await web.ask("GET", P)).body.length, 2);
  const why = await web.ask("GET", `${P}/app:1/why`);
  assertMatch(why.body.reasons[0], /app:1 is running/);
  assertEquals((await web.ask("POST", "/api/v1/save")).body, { status: "saved", count: 2 });
});

Deno.test("WebSocket sends the documented list on connect and at once after every change", async () => {
  await web.daemon.startScript("app", "exec sleep 1000", { restart_policy: "never" });
  const before = Math.floor(Date.now() / 1000);
  using feed = await web.feed();
  await waitFor(() => feed.got.length === 1);
  const { type, processes, timestamp, ...rest } = feed.got[0];
  assertEquals([type, rest, Object.keys(processes[0])], ["process_list", {}, FEED_ITEM]);
  assert(Number.isInteger(timestamp) && timestamp >= before && timestamp <= Date.now() / 1000);
  Deno.kill(processes[0].pid, "SIGKILL");
  await waitFor(() => feed.got.at(-1).processes[0].state === "crashed");
  const count = feed.got.length;
  await waitFor(() => feed.got.length > count, { what: "the two-second list" });
  assertEquals(new Set(feed.got.map((message) => message.type)), new Set(["process_list"]));
});

Deno.test("WebSocket sends events, logs and system metrics on request", async () => {
  await web.daemon.startScript("app", "while read line; do :; done; echo hi; exec sleep 1000");
  using feed = await web.feed();
  feed.send({
    type: "subscribe",
    topics: ["events", "logs", "system_metrics"],
    target: "app",
    lines: 5,
  });
  await waitFor(() => feed.of("log").length > 0 && feed.of("system_metrics").length > 0);
  const [line] = feed.of("log")[0].lines;
  assertEquals([line.name, line.stream, line.line], ["app", "stdout", "hi"]);
  assertEquals(Object.keys(feed.of("system_metrics")[0].metrics), METRICS);
  await web.ask("POST", `${P}/app/stop`);
  await waitFor(() => feed.of("event").some(({ event }) => event.state === "stopped"));
});

Deno.test("web_start listens once, is restored by the next daemon, and is undone by web_stop", async () => {
  await using daemon = await TestDaemon.start();
  const { client } = daemon;
  const listen = `127.0.0.1:${freePort()}`;
  assertEquals((await client.call("web_status")).status, "stopped");
  const url = `http://${listen}`;
  assertEquals(await client.call("web_start", { listen }), {
    status: "started",
    addr: listen,
    url,
  });
  assertEquals(await client.call("web_start", {}), {
    status: "already_running",
    addr: listen,
    url,
  });
  await daemon.kill();
  await daemon.run();
  const lives = () => fetch(`${url}/livez`).then((response) => response.text());
  await waitFor(async () => await lives() === "ok\n");
  await client.call("web_stop");
  await daemon.terminate();
  await daemon.run();
  assertEquals((await client.call("web_status")).status, "stopped");
});

Deno.test("web_start rejects a taken port, and public addresses", async () => {
  await using daemon = await TestDaemon.start();
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { stderr, code } = await daemon.cli(
    "web",
    "start",
    "--listen",
    `127.0.0.1:${taken.addr.port}`,
  );
  assertEquals(code, 6);
  assertMatch(stderr, /Cannot listen on "127.0.0.1:\d+": another program listens there/);
  const open = await daemon.cli("web", "start", "--listen", "0.0.0.0:0");
  assertEquals(open.code, 7);
  assertMatch(open.stderr, /other machines can reach it\n {2}hint: .*--allow-remote/);
  const nonsense = await daemon.cli("web", "start", "--listen", "nowhere");
  assertEquals(nonsense.code, 2);
  assertEquals((await daemon.cli("web", "status")).code, 3);
});

Deno.test("procsup web prints a link that signs a browser in, and can create and revoke tokens", async () => {
  await using daemon = await TestDaemon.start();
  const { stdout, stderr } = await daemon.cli("web", "--listen", "127.0.0.1:0");
  assertMatch(stdout, /^http:\/\/127\.0\.0\.1:\d+\/#\/login\?code=[0-9a-f]{64}\n$/);
  assertMatch(stderr, /once/);
  const { origin, hash } = new URL(stdout);
  const list = await (await signIn(origin, { link: hash })).fetch(P);
  assertEquals([list.status, await list.json()], [200, []]);

  const made = await daemon.cli("token", "create", "ci", "--role", "read");
  const authorization = `Bearer ${made.stdout.trim()}`;
  const status = async (method: string) => {
    const answer = await fetch(`${origin}${P}`, { method, headers: { authorization } });
    await answer.body?.cancel();
    return answer.status;
  };
  assertEquals([await status("GET"), await status("POST")], [200, 403]);
  await daemon.cli("token", "revoke", "ci");
  assertEquals(await status("GET"), 401);
});

Deno.test({
  name: "no other program can take the port of the web listener between two daemons",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using daemon = await TestDaemon.start();
    const { addr } = await daemon.client.call("web_start", { listen: "127.0.0.1:0" });
    const [hostname, port] = [addr.split(":")[0]!, Number(addr.split(":")[1])];
    const isFree = () => {
      try {
        Deno.listen({ hostname, port }).close();
        return true;
      } catch (error) {
        if (error instanceof Deno.errors.AddrInUse) return false;
        throw error;
      }
    };
    const answers = async () => {
      const answer = await fetch(`http://${addr}/livez`).catch(() => undefined);
      await answer?.body?.cancel();
      return answer?.status === 200;
    };
    for (const end of ["kill", "release"] as const) {
      if (end === "kill") await daemon.kill();
      else {
        const { pid } = daemon;
        await daemon.client.call("release", {});
        await waitFor(() => processRow(pid) === undefined, { what: "the daemon to end" });
      }
      assertEquals(isFree(), false, end);
      await daemon.run();
      await waitFor(answers, { what: "the next daemon to listen" });
    }
    assertEquals(keepersOf(daemon.home).length, 1);
    await daemon.client.call("web_stop");
    assertEquals([isFree(), keepersOf(daemon.home)], [true, []]);
  },
});
