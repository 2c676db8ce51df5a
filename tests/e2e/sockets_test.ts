/** Shared sockets: instances and the daemon are replaced, and no request fails. */

import { fromFileUrl } from "@std/path";
import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { freePort, type Load, request, startLoad } from "../support/http_load.ts";
import { programWords, TestDaemon } from "../support/procsup.ts";
import { waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

const NODE_SERVER = fromFileUrl(import.meta.resolve("../fixtures/sockets/server.js"));
const EXCLUSIVE_SERVER = fromFileUrl(import.meta.resolve("../fixtures/sockets/exclusive.py"));
const PYTHON_SERVER = fromFileUrl(import.meta.resolve("../fixtures/sockets/server.py"));

function nodeServer(port: number, instances: number) {
  return {
    name: "web",
    entrypoint: NODE_SERVER,
    runtime: "node",
    cwd: "/",
    env: { PORT: String(port) },
    instances,
    sockets: [`127.0.0.1:${port}`],
  };
}

async function pids(daemon: TestDaemon): Promise<string[]> {
  return (await daemon.client.call("list")).map(({ pid }) => String(pid)).sort();
}

/** Waits until each of these has answered a request sent from now on. */
async function servedBy(load: Load, expected: readonly string[]): Promise<void> {
  const seen = new Set<string>();
  load.recent();
  await waitFor(() => {
    for (const pid of load.recent()) seen.add(pid);
    return expected.every((pid) => seen.has(pid));
  }, { what: `all of ${expected} to answer` });
}

/** Restarts the instances one by one, each once the previous one serves. */
async function restartEach(daemon: TestDaemon, load: Load): Promise<void> {
  for (const { name } of await daemon.client.call("list")) {
    await daemon.client.call("restart", name);
    await servedBy(load, [String((await daemon.status(name)).pid)]);
  }
}

Deno.test("sockets keep 4 unmodified Node servers reachable while each is restarted and the daemon is killed", async () => {
  const port = freePort();
  await daemon.client.call("start", nodeServer(port, 4));
  const load = startLoad(port);
  const first = await pids(daemon);
  await servedBy(load, first);
  await restartEach(daemon, load);

  const second = await pids(daemon);
  assertEquals(first.filter((pid) => second.includes(pid)), []);
  await daemon.kill();
  await servedBy(load, second);
  await daemon.run();
  assertEquals(await pids(daemon), second);
  await restartEach(daemon, load);
  await servedBy(load, await pids(daemon));

  const { requests, failures } = await load.stop();
  assertEquals(failures, [], `of ${requests} requests`);
  await daemon.client.call("delete", "web");
  await assertRejects(() => request(port), Deno.errors.ConnectionRefused);
});

Deno.test("sockets that a process no longer uses are closed, also for another address of the same port", async () => {
  const [before, port] = [freePort(), freePort()];
  await daemon.client.call("start", { ...nodeServer(before, 2), min_uptime: "10ms" });
  const moveTo = (address: string) =>
    daemon.client.call("reconfigure", {
      target: "web",
      config: { sockets: [address], env: { PORT: String(port) } },
    });
  await moveTo(`127.0.0.1:${port}`);
  await assertRejects(() => request(before), Deno.errors.ConnectionRefused);
  await moveTo(`:${port}`);
  assert((await pids(daemon)).includes(await request(port)));
  await moveTo(`127.0.0.1:${port}`);
  assert((await pids(daemon)).includes(await request(port)));
});

Deno.test("sockets serve 2 Python servers from descriptor 3 while each is restarted", async () => {
  const port = freePort();
  await daemon.client.call("start", {
    ...nodeServer(port, 2),
    entrypoint: PYTHON_SERVER,
    runtime: "python",
  });
  const load = startLoad(port);
  await servedBy(load, await pids(daemon));
  await restartEach(daemon, load);
  await daemon.kill();
  await daemon.run();
  await restartEach(daemon, load);
  const { requests, failures } = await load.stop();
  assertEquals(failures, [], `of ${requests} requests`);
});

/** Takes its time for one path. */
const SLOW = `
import http from "node:http";
import process from "node:process";
const server = http.createServer((request, response) => {
  setTimeout(() => response.end("done"), request.url === "/slow" ? 500 : 0);
});
server.listen(Number(process.env.PORT), "127.0.0.1");
if (process.env.OWN) process.on("SIGTERM", () => process.exit(7));
`;

for (const runtime of ["node", "deno"]) {
  Deno.test(`sockets of a plain ${runtime} server: a stop lets answers finish, and then ends it by the signal`, async () => {
    const port = freePort();
    const entrypoint = `${daemon.home}/slow.mjs`;
    await Deno.writeTextFile(entrypoint, SLOW);
    const config = { ...nodeServer(port, 1), entrypoint, runtime, stop_timeout: "20s" };
    await daemon.client.call("start", { ...config, wait: true });
    const ask = async (connection: Deno.Conn, path: string) => {
      const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
      await connection.write(new TextEncoder().encode(request));
    };
    const answer = async (connection: Deno.Conn) => {
      const piece = new Uint8Array(4096);
      return new TextDecoder().decode(piece.subarray(0, await connection.read(piece) ?? 0));
    };
    using busy = await Deno.connect({ port, hostname: "127.0.0.1" });
    using kept = await Deno.connect({ port, hostname: "127.0.0.1" });
    await ask(kept, "/");
    assertStringIncludes(await answer(kept), "keep-alive");
    await ask(busy, "/slow");
    const stop = daemon.client.call("stop", { target: "web" });
    assertMatch(await answer(busy), /^HTTP\/1.1 200 OK[^]*Connection: close[^]*done$/i);
    // A request of a connection that was just used is answered, too.
    await ask(kept, "/");
    assertMatch(await answer(kept), /^HTTP\/1.1 200 OK[^]*Connection: close[^]*done$/i);
    await stop;
    const { last_exit } = await daemon.status("web");
    assertEquals(last_exit?.signal, "SIGTERM");

    await daemon.client.call("delete", { target: "web" });
    const env = { ...config.env, OWN: "1" };
    await daemon.client.call("start", { ...config, env, wait: true });
    await daemon.client.call("stop", { target: "web" });
    assertEquals((await daemon.status("web")).last_exit?.code, 7);
  });
}

Deno.test("sockets queue connections while the only instance is restarted or crashes", async () => {
  const port = freePort();
  const { pid } = await daemon.client.call("start", nodeServer(port, 1));
  const load = startLoad(port, 2);
  await servedBy(load, [String(pid)]);
  await daemon.client.call("restart", "web");
  const again = await daemon.status("web");
  await servedBy(load, [String(again.pid)]);
  const { failures } = await load.stop();
  assertEquals(failures, []);

  await daemon.client.call("stop", { target: "web" });
  await assertRejects(() => request(port), Deno.errors.ConnectionRefused);
  await daemon.client.call("restart", "web");
  assertEquals(await request(port), String((await daemon.status("web")).pid));
});

Deno.test("sockets of an app that waits for a restart queue connections for listen_timeout at most", async () => {
  const port = freePort();
  const config = nodeServer(port, 1);
  const limits = { min_uptime: "10ms", restart_delay: "1h", listen_timeout: "2s", wait: true };
  await daemon.client.call("start", { ...config, ...limits });
  const { pid } = await daemon.status("web");
  await request(port);
  Deno.kill(pid, "SIGKILL");
  await waitFor(async () => (await daemon.status("web")).state === "waiting");
  // Queued at first, and not left hanging.
  using connection = await Deno.connect({ port, hostname: "127.0.0.1" });
  await assertRejects(() => connection.read(new Uint8Array(1)), Error);
  await assertRejects(() => request(port), Deno.errors.ConnectionRefused);
  await daemon.client.call("restart", "web");
  assertEquals(await request(port), String((await daemon.status("web")).pid));
});

Deno.test({
  name: "a health check on shared sockets shows that an instance is ready once it accepts itself",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const port = freePort();
    const entrypoint = `${daemon.home}/server.js`;
    await Deno.copyFile(NODE_SERVER, entrypoint);
    await daemon.client.call("start", {
      ...nodeServer(port, 2),
      ...{ entrypoint, overlap: true, wait_ready: true, listen_timeout: "8s" },
      health_check: { type: "http", url: `http://127.0.0.1:${port}/` },
    });
    const first = await pids(daemon);
    await daemon.client.call("reload", "web");
    const second = await pids(daemon);
    assertEquals(first.filter((pid) => second.includes(pid)), []);

    await Deno.writeTextFile(entrypoint, "setInterval(() => {}, 1000)");
    const { results } = await daemon.client.call("reload", "web");
    assertStringIncludes(results[0]!.error!, `port ${port} is answered by another process`);
    assertEquals(await pids(daemon), second);
    assert(second.includes(await request(port)));
  },
});

Deno.test({
  name:
    "a health check on shared sockets passes although an older instance accepts its connections",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const port = freePort();
    await daemon.client.call("start", {
      ...nodeServer(port, 2),
      ...{ entrypoint: EXCLUSIVE_SERVER, runtime: "python", overlap: true, wait_ready: true },
      health_check: { type: "http", url: `http://127.0.0.1:${port}/` },
    });
    const first = await pids(daemon);
    const { results } = await daemon.client.call("reload", "web");
    assertEquals(results.map(({ error }) => error), [undefined, undefined]);
    assertEquals((await pids(daemon)).filter((pid) => first.includes(pid)), []);
  },
});

Deno.test("start names the address that another process listens on", async () => {
  using listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const { port } = listener.addr;
  await daemon.client.call("start", nodeServer(port, 1)).catch(() => {});
  const { state, last_reason } = await daemon.status("web");
  assertEquals([state, last_reason], [
    "errored",
    `socket "127.0.0.1:${port}" cannot be opened: the address is in use by another process`,
  ]);
});

Deno.test("start rejects a socket that another process has, and an invalid one", async () => {
  const port = freePort();
  await daemon.client.call("start", nodeServer(port, 1));
  const start = (sockets: string[]) =>
    daemon.client.call("start", { ...nodeServer(port, 1), name: "other", sockets });
  for (
    const [sockets, message] of [
      [[`localhost:${port}`], `socket "127.0.0.1:${port}" belongs to "web"`],
      [["127.0.0.1:0"], "expected a port from 1 to 65535"],
      [["web"], 'expected "address:port"'],
      [["example.com:80"], "expected an IP address"],
      [["[::1]:8080", "[0::1]:8080"], '"[::1]:8080": it is listed twice'],
    ] as const
  ) {
    const error = await assertRejects(() => start([...sockets]));
    assertStringIncludes((error as Error).message, message);
  }
  assertEquals((await daemon.client.call("list")).length, 1);
});

Deno.test("sockets reach a Node server through every address, but none of its children", async () => {
  const port = freePort();
  const script = `
    const { execFileSync } = require("child_process");
    const child = "require('net').createServer().listen(" + process.env.PORT + ")" +
      ".on('error', (e) => console.log(e.code)).on('listening', () => { console.log('listens'); process.exit() })";
    const said = execFileSync(process.execPath, ["-e", child]).toString().trim();
    const open = Object.keys(process.env).filter((key) => /^(PROCSUP_SOCKETS|NODE_OPTIONS)$/.test(key));
    require("http").createServer((_, r) => r.end(said + " " + open)).listen(process.env.PORT);`;
  await Deno.writeTextFile(`${daemon.home}/all.js`, script);
  await daemon.client.call("start", {
    ...nodeServer(port, 1),
    entrypoint: `${daemon.home}/all.js`,
    sockets: [`127.0.0.1:${port}`, `[::1]:${port}`],
  });
  assertEquals(await request(port), "EADDRINUSE ");
  assertEquals(await request(port, "::1"), "EADDRINUSE ");
});

Deno.test("sockets are inherited by no hook, and by no other process", async () => {
  const port = freePort();
  const listed = `${daemon.home}/hook`;
  const hooks = { post_start: `ls -l /proc/self/fd >${listed}.new; mv ${listed}.new ${listed}` };
  await daemon.client.call("start", { ...nodeServer(port, 1), hooks });
  await waitFor(() => Deno.readTextFileSync(listed), { what: "the hook" });
  assert(!Deno.readTextFileSync(listed).includes("socket:"), Deno.readTextFileSync(listed));
  const { pid } = await daemon.startScript("other", "exec sleep 1000");
  const links = [...Deno.readDirSync(`/proc/${pid}/fd`)].map(({ name }) =>
    Deno.readLinkSync(`/proc/${pid}/fd/${name}`)
  );
  assert(!links.some((link) => link.startsWith("socket:")), String(links));
});

const isRoot = Deno.build.os === "linux" && Deno.uid() === 0;

Deno.test("sockets of another user's Node servers serve, and are taken over by the next daemon", {
  ignore: !isRoot,
}, async () => {
  const port = freePort();
  // Other users cannot enter this folder, so the file is outside it.
  const folder = await Deno.makeTempDir({ dir: "/tmp" });
  await Deno.chmod(folder, 0o755);
  await Deno.copyFile(NODE_SERVER, `${folder}/server.js`);
  const config = { ...nodeServer(port, 2), entrypoint: `${folder}/server.js`, uid: "nobody" };
  await daemon.client.call("start", config);
  const load = startLoad(port, 4);
  await servedBy(load, await pids(daemon));
  await daemon.kill();
  await daemon.run();
  await restartEach(daemon, load);
  const { failures } = await load.stop();
  assertEquals(failures, []);
  await Deno.remove(folder, { recursive: true });
});

Deno.test(
  "sockets that cannot be taken over are opened again, and served by old and new instances",
  {
    ignore: !isRoot,
  },
  async () => {
    const port = freePort();
    await daemon.client.call("start", nodeServer(port, 3));
    const clients = 8;
    const load = startLoad(port, clients);
    await servedBy(load, await pids(daemon));
    await daemon.kill();
    // Without the right to trace, it cannot copy descriptors of the first daemon's apps.
    await using _weak = await weakDaemon(daemon);
    await servedBy(load, await pids(daemon));
    assertStringIncludes(
      await Deno.readTextFile(`${daemon.home}/daemon.log`),
      `socket 127.0.0.1:${port} cannot be taken over`,
    );
    for (const { name } of await daemon.client.call("list")) {
      await daemon.client.call("restart", name);
      await servedBy(load, await pids(daemon));
    }
    const { failures } = await load.stop();
    // Connections in the old socket's queue are lost with its last instance: one per client.
    assert(failures.length <= clients, `${failures.length}: ${failures[0]}`);
  },
);

/** A daemon without CAP_SYS_PTRACE in the home of a killed one. */
async function weakDaemon(daemon: TestDaemon): Promise<AsyncDisposable> {
  const process = new Deno.Command("setpriv", {
    args: ["--bounding-set=-sys_ptrace", "--", ...programWords(), "daemon"],
    env: { PROCSUP_HOME: daemon.home },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  await waitFor(() => daemon.answers(), { what: "the daemon to answer" });
  return {
    async [Symbol.asyncDispose]() {
      // It is still running if the test has failed.
      await daemon.client.call("shutdown").catch(() => {});
      await process.status;
    },
  };
}

Deno.test("sockets serve an app that uses Node's cluster, and one that names no host", async () => {
  const port = freePort();
  await Deno.writeTextFile(
    `${daemon.home}/cluster.js`,
    `const cluster = require("cluster");
     if (cluster.isPrimary) { cluster.fork(); cluster.fork(); }
     else require("http").createServer((_, r) => r.end("worker")).listen({ port: ${port} });`,
  );
  await daemon.client.call("start", {
    ...nodeServer(port, 1),
    entrypoint: `${daemon.home}/cluster.js`,
    sockets: [`:${port}`],
  });
  assertEquals(await request(port), "worker");
  assertEquals(await request(port, "::1"), "worker");
});
