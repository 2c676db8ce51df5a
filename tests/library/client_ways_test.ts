/** `./client` returns the same results and errors over both transports. */

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { setTimeout as delay } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import {
  AmbiguousTargetError,
  Client,
  type LineOptions,
  ProcsupError,
  StartFailedError,
} from "../../src/client.ts";
import { TestDaemon } from "../support/procsup.ts";
import { waitFor } from "../support/wait_for.ts";
import { cleanTest } from "./support.ts";

const APP = { name: "app", binary: "/bin/sh", args: ["-c", "echo hi; echo no >&2; exec sleep 99"] };
/** Saves the test a wait of a second. */
const SOON = { cwd: "/", minUptime: "200ms", restartPolicy: "never" } as const;

/** The result of a call, or everything in the error it throws, without ids and times. */
async function outcome(act: () => unknown): Promise<string> {
  const data = await Promise.resolve().then(act).catch((error) => ({
    is: error.constructor.name,
    message: error.message,
    ...error,
    cause: undefined,
  }));
  return (JSON.stringify(data) ?? "nothing").replace(
    /\b[0-9a-f]{8}\b|\d{4}-\d\d-\d\dT[\d:.]+Z|\b\d{3,}\b/g,
    "#",
  );
}

/** A log as text. */
async function textOf(client: Client, options: LineOptions, target = "app:0"): Promise<string> {
  const lines = await Array.fromAsync(client.lines(target, options));
  return lines.map(({ line }) => line).join("\n");
}

/** Runs garbage collection, also for objects that collected ones held. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  for (let round = 0; round < 4; round++) {
    collect();
    await delay(20);
  }
}

type Act = (client: Client) => unknown;
type Undo = () => Promise<unknown>;

interface Scene extends AsyncDisposable {
  readonly daemon: TestDaemon;
  readonly socket: Client;
  readonly web: Client;
  /** Succeeds over both transports with the same result, which it returns; `undo` follows each. */
  works(act: Act, undo?: Undo): Promise<string>;
  /** Fails over both transports with the same error, which it returns; `undo` follows each. */
  fails(act: Act, undo?: Undo): Promise<string>;
}

async function scene(): Promise<Scene> {
  const daemon = await TestDaemon.start();
  const { url } = await daemon.client.call("web_start", { listen: "127.0.0.1:0" });
  const socket = new Client({ home: daemon.home });
  const web = new Client({ url, token: (await daemon.client.call("token")).token });
  const same = async (act: Act, undo: Undo = () => Promise.resolve()) => {
    const first = await outcome(() => act(socket));
    await undo().catch(() => {});
    assertEquals(await outcome(() => act(web)), first, String(act));
    await undo().catch(() => {});
    return { first, hasFailed: first.startsWith('{"is":') };
  };
  return {
    ...{ daemon, socket, web },
    async works(act, undo) {
      const { first, hasFailed } = await same(act, undo);
      assert(!hasFailed, `${act}: ${first}`);
      return first;
    },
    async fails(act, undo) {
      const { first, hasFailed } = await same(act, undo);
      assert(hasFailed, `${act}: ${first}`);
      return first;
    },
    [Symbol.asyncDispose]: () => daemon[Symbol.asyncDispose](),
  };
}

cleanTest("Client's verbs do the same over both transports", async () => {
  await using given = await scene();
  const { socket, works, fails } = given;
  const remove = () => socket.remove("new");
  const isNamed = await works(
    async (c) => (await c.start({ ...APP, ...SOON, name: "new" })).name,
    remove,
  );
  assertEquals(isNamed, '"new"');
  await socket.start({ ...APP, ...SOON, instances: 2 });
  await waitFor(async () => (await textOf(socket, { stream: "stderr" })) === "no");

  await works((c) => c.scale("app", "+1"), () => socket.scale("app", 2));
  await works((c) => c.signal("app", "SIGCONT"));
  await works((c) => c.reload("app"));
  await works((c) => c.rollingReload("app", { batchSize: "100%", waitReady: false }));
  await works((c) => c.wait("app", { for: "running" }).then((all) => all.length));
  await works((c) => c.start("app").then(({ name }) => name));
  await works((c) => c.stop("app", { timeout: 2e9 }), () => socket.start("app"));
  await works((c) => c.why("app:0").then((why) => Object.keys(why)));
  await works((c) => c.releases("app"));
  await works((c) => c.history("app:0").then(({ name }) => name));
  const changed = await works(
    (c) => c.reconfigure("app", { tags: ["new"], stopTimeout: "9s", maxMemory: null }),
    () => socket.reconfigure("app", { tags: null, stopTimeout: null }),
  );
  assert(changed.includes('"status":"changed"'), changed);
  await works((c) => c.cronList());
  await works((c) => c.systemMetrics().then((metrics) => Object.keys(metrics)));
  await works((c) => c.systemInfo().then(({ home }) => home));
  await works((c) => c.ports());
  const figures = await works((c) => c.metricsHistory().then(({ series }) => series[0]!.name));
  assertEquals(figures, "null", "without a target those of the host");
  await works((c) => c.metricsHistory("app", { fields: ["cpuPercent", "up"] }).then(() => "done"));
  assertEquals(await works((c) => textOf(c, { tail: 1, grep: "h.*", since: "1h" })), '"hi"');
  const streams = [{}, { stream: "stderr" }, { grep: "hi", invert: true }, {
    until: new Date(0),
  }] as const;
  for (const query of streams) {
    // The times are estimates until the daemon has read the log, so their order is too.
    const found = await works(async (c) => {
      const all = await Array.fromAsync(c.lines("app", query));
      return all.map(({ name, stream, line }) => `${name} ${stream} ${line}`).sort();
    });
    assertEquals(found === "[]", "until" in query, found);
  }
  await works((c) => c.flush("app"));
  const unscheduled = await fails((c) => c.cronRun("app:0"));
  assertStringIncludes(unscheduled, 'The key cron or cronRestart gives a schedule"');
  await works((c) => c.save());
  await socket.remove("app");
  assert((await fails((c) => c.save())).includes("wrong_state"));
  await works((c) => c.save({ allowEmpty: true }));
});

cleanTest("Client's errors carry the same information over both transports", async () => {
  await using given = await scene();
  const { socket, web, fails } = given;
  const dying = { minUptime: "30s", args: ["-c", "echo no room >&2; exit 3"] };
  const dies = { ...APP, ...SOON, ...dying, name: "dies" };
  await fails((c) => c.start(dies, { wait: true }), () => socket.remove("dies"));
  const second = '[ "$PROCSUP_INSTANCE" = 1 ] && exit 3; exec sleep 99';
  const half = { ...APP, ...SOON, args: ["-c", second], name: "half", instances: 2 };
  const told = await fails((c) => c.start(half, { wait: true }), () => socket.remove("half"));
  assertStringIncludes(told, "half:1");
  await socket.start(half);
  assertStringIncludes(await fails((c) => c.start("half", { wait: true })), "half:1");
  await socket.remove("half");
  const failed = await assertRejects(() => web.start(dies, { wait: true }), StartFailedError);
  assertEquals([failed.state, failed.lastOutput], ["crashed", ["no room"]]);
  await fails((c) => c.restart("dies", { wait: true }));
  await fails((c) => c.start("dies", { wait: true }));
  await socket.start({ ...APP, ...SOON, instances: 2, tags: ["50%", "a/b", "ü"] });
  const many = await assertRejects(() => web.inspect("app"), AmbiguousTargetError);
  assertEquals(many.matches, ["app:0", "app:1"]);
  const targets = [
    "app",
    "tag:50%",
    "tag:a/b",
    "tag:ü",
    "ap",
    "",
    ".",
    "..",
    "../list",
    "a?b#c",
    "😀",
    "\ud800",
  ];
  for (const target of targets) await fails((c) => c.inspect(target));
  for (const target of ["..", ""]) await fails((c) => textOf(c, {}, target));
  const soon = await fails((c) => c.stop("app", { timeout: "soon" }));
  assertStringIncludes(soon, 'Invalid \\"timeout\\" \\"soon\\": expected a number with a unit');
  await fails((c) => textOf(c, { tail: -1 }));
  const tooMany = await fails((c) => textOf(c, { tail: 10_001 }));
  assertStringIncludes(tooMany, 'Invalid \\"tail\\" #: expected a number of lines up to #');
  await fails((c) => textOf(c, { since: new Date(NaN) }));
  await fails((c) => textOf(c, { grep: "(" }));
  await fails((c) => textOf(c, { follow: true, until: "1s" }));
  await fails((c) => c.events({ target: "nobody" }));
  await fails((c) => c.wait("app", { for: "stopped", timeout: 2e7 }));
  await fails((c) => c.reconfigure("app", { env: { KEY: "***" } }));
  await fails((c) => c.rollingReload("app", { batchSize: 9 }));
  const nowhere = { minUptime: "30s", args: ["-c", "echo nowhere >&2; exit 1"] };
  await fails((c) => c.reconfigure("app", nowhere));
  // The exit code of the failed run, not of the restored one.
  const back = await assertRejects(() => socket.reconfigure("app", nowhere), StartFailedError);
  assertEquals([back.state, back.lastOutput], ["running", ["nowhere"]]);
  for (
    const part of [{ target: "app" }, { wait: true }, { nme: 1 }, { maxRestarts: 5n }, {
      nice: NaN,
    }]
  ) {
    const told = await fails((c) => c.start({ ...dies, ...part } as never));
    assert(told.includes("invalid_config"), told);
  }
  await fails((c) => c.list({ signal: AbortSignal.abort(new Error("not now")) }));
  await fails((c) => c.wait("app", { for: "stopped", signal: AbortSignal.timeout(20) }));
});

cleanTest("a process's own stop timeout applies over both transports", async () => {
  await using given = await scene();
  const { socket, works } = given;
  // It exits by itself before the default timeout.
  const deaf = "trap 'sleep 3; exit 0' TERM; echo up; while :; do sleep 0.02; done";
  const config = {
    name: "deaf",
    binary: "/bin/sh",
    args: ["-c", deaf],
    cwd: "/",
    stopTimeout: "100ms",
  };
  const signal = await works(async (client) => {
    await socket.start({ ...config, readyLog: "up" }, { wait: true });
    await client.stop("deaf");
    return (await client.inspect("deaf")).lastExit?.signal;
  }, () => socket.remove("deaf"));
  assertEquals(signal, '"SIGKILL"');
});

cleanTest(
  "Client's streams end on abort, on cancel, and with closed when the daemon shuts down",
  async () => {
    await using given = await scene();
    const { daemon, socket, web } = given;
    await socket.start({ ...APP, cwd: "/" });
    const open = (client: Client, signal: AbortSignal): Promise<ReadableStream<unknown>>[] => [
      client.events({ signal }),
      Promise.resolve(client.lines("app", { follow: true, newOnly: true, signal })),
    ];
    for (const client of [socket, web]) {
      const enough = new AbortController();
      const streams = await Promise.all(open(client, enough.signal));
      const all = Promise.all(streams.map((stream) => Array.fromAsync(stream)));
      enough.abort(new Error("enough"));
      assertEquals(await all, [[], []]);
      // Nothing may stay open after an unread or cancelled stream.
      for (const stream of await Promise.all(open(client, new AbortController().signal))) {
        const reader = stream.getReader();
        const read = reader.read();
        await reader.cancel();
        assertEquals((await read).done, true);
      }
      for await (const { line } of client.lines("app", { follow: true })) {
        assert(["hi", "no"].includes(line));
        break;
      }
    }
    const signal = new AbortController().signal;
    const streams = await Promise.all([socket, web].flatMap((client) => open(client, signal)));
    await Promise.all([socket, web].map((client) => client.ping()));
    const ends = streams.map((stream) => outcome(() => Array.fromAsync(stream)));
    await daemon.terminate();
    for (const end of await Promise.all(ends)) assert(end.includes('"code":"closed"'), end);
  },
);

cleanTest(
  "Client's streams by URL end on abort and on cancel after garbage collection",
  async () => {
    await using given = await scene();
    const enough = new AbortController();
    const told = await given.web.events({ signal: enough.signal });
    const cancelled = (await given.web.events()).getReader();
    await collectGarbage();
    let items: readonly unknown[] | undefined;
    void Array.fromAsync(told).then((all) => items = all);
    enough.abort();
    await waitFor(() => items !== undefined);
    assertEquals(items, []);
    // The sanitizer finds what is left open.
    await cancelled.cancel();
  },
);

cleanTest(
  "Client reports a server that is not a daemon, and accepts a URL with a path",
  async () => {
    await using given = await scene();
    const { url } = await given.daemon.client.call("web_status");
    const { token } = await given.daemon.client.call("token");
    const page = { "content-type": "text/html" };
    const pages: Readonly<Record<string, () => Response>> = {
      down: () => new Response("<h1>Bad gateway</h1>", { status: 502, headers: page }),
      login: () => new Response("<h1>Sign in</h1>", { headers: page }),
      moved: () => new Response(null, { status: 301, headers: { location: "https://there/" } }),
    };
    await using server = Deno.serve({ port: 0, onListen() {} }, async (request) => {
      const { pathname } = new URL(request.url);
      const [, folder = "", path = ""] = /^\/(\w+)(\/.*)$/.exec(pathname) ?? [];
      if (folder !== "proxied") return pages[folder]!();
      const { method, headers, body } = request;
      return await fetch(`${url}${path}`, { method, headers, body });
    });
    const below = (folder: string) =>
      new Client({ url: `http://127.0.0.1:${server.addr.port}/${folder}/`, token });
    assertEquals((await below("proxied").start({ ...APP, cwd: "/" })).name, "app");
    const says: Readonly<Record<string, string>> = {
      down: "HTTP 502 with text/html",
      login: "HTTP 200 with text/html",
      moved: "HTTP 301",
    };
    for (const [folder, what] of Object.entries(says)) {
      const client = below(folder);
      const acts = [
        () => client.list(),
        () => client.start(APP),
        () => client.stop("app"),
        () => client.events(),
      ];
      for (const act of acts) {
        const error = await assertRejects(act as () => Promise<unknown>, ProcsupError, what);
        assertEquals((error as ProcsupError).code, "daemon_unreachable");
      }
    }
  },
);

Deno.test("Client rejects an invalid home, URL or token", () => {
  const refused = (options: unknown) => {
    try {
      new Client(options as { url: string; token: string });
    } catch (error) {
      assert(error instanceof ProcsupError && error.code === "bad_request");
      return error.message;
    }
  };
  const token = "secret";
  const expected = 'expected one such as "http://127.0.0.1:9615"';
  assertEquals(refused({ url: "localhost", token }), `Invalid "url" "localhost": ${expected}`);
  assertEquals(refused({ url: undefined, token }), `Invalid "url" undefined: ${expected}`);
  assertEquals(refused({ url: "ftp://x", token }), `Invalid "url" "ftp://x": ${expected}`);
  assertEquals(refused({ url: "http://u:p@x", token }), 'Invalid "url": it holds a user');
  assertEquals(refused({ url: "http://x/?token=1", token }), 'Invalid "url": it holds a query');
  for (const home of ["", 5]) {
    const said = `Invalid "home" ${JSON.stringify(home)}: expected the path of a directory`;
    assertEquals(refused({ home }), said);
  }
  for (const bad of [undefined, "", "two words", "line\n", "ü"]) {
    assertEquals(
      refused({ url: "http://x", token: bad }),
      'Invalid "token": expected one word, as "procsup token" prints it',
    );
  }
});
