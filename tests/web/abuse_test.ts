/** Hostile and broken clients against a running daemon. */

import { pathsIn } from "../../src/platform/files/paths.ts";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { waitFor } from "../support/wait_for.ts";
import { TestWeb } from "../support/web.ts";
import { writeAll } from "../../src/protocol/unix_http.ts";

const P = "/api/v1/processes";
const MIB = 1024 * 1024;

const web = TestWeb.ofFile();

function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);
}

Deno.test("web answers malformed bodies with 4xx on REST and IPC, never 500", async () => {
  const deep = "[".repeat(200_000) + "]".repeat(200_000);
  const bodies: [string, number[]][] = [
    ["{", [400]],
    ["\u0000", [400]],
    [deep, [400]],
    [`{"a":${deep}}`, [400]],
    ["5", [422, 400]],
    ["null", [422, 400]],
    ['{"__proto__":{"polluted":1},"name":"a"}', [422, 400]],
    ['{"name":"a","name":5,"entrypoint":"/bin/true","cwd":"/"}', [422, 400]],
    ['{"name":"a","entrypoint":["x"],"cwd":"/"}', [422, 400]],
    ['{"name":"<img src=x onerror=alert(1)>","entrypoint":"/bin/true","cwd":"/"}', [422, 400]],
  ];
  using client = Deno.createHttpClient({
    proxy: { transport: "unix", path: `${web.daemon.home}/procsup.sock` },
  });
  for (const [body, statuses] of bodies) {
    const rest = await web.ask("POST", P, body);
    assert(statuses.includes(rest.status), `${rest.status} ${body.slice(0, 60)} ${rest.text}`);
    const ipc = await fetch("http://procsup/api/start", {
      ...{ client, method: "POST", body },
      headers: { authorization: `Bearer ${web.token}`, "content-type": "application/json" },
    });
    const { success, code } = await ipc.json();
    assert(ipc.status < 500 && !success, `${ipc.status} ${code} ${body.slice(0, 60)}`);
  }
  assertEquals((await web.ask("GET", P)).body, []);
  const accept = { accept: "application/json, text/event-stream" };
  for (const body of ["{", "\u0000", deep, "5", "null", '{"__proto__":{"jsonrpc":"2.0","id":1}}']) {
    const { status } = await web.ask("POST", "/mcp", body, accept);
    assertEquals(status, 400, `mcp ${body.slice(0, 60)}`);
    const ipc = await fetch("http://procsup/ipc", {
      ...{ client, method: "POST", body },
      headers: { authorization: `Bearer ${web.token}`, "content-type": "application/json" },
    });
    assertEquals([ipc.status, (await ipc.json()).code], [400, "bad_request"], body.slice(0, 60));
  }
  using feed = await web.feed();
  const texts = [
    "{",
    "\u0000",
    "[".repeat(60_000),
    '{"type":"subscribe","topics":{"__proto__":[]}}',
  ];
  for (const [i, text] of texts.entries()) {
    feed.send(text);
    await waitFor(() => feed.of("error").length === i + 1, { what: text.slice(0, 60) });
    assertEquals(feed.of("error")[i].code, "bad_request");
  }
  // Object.prototype is unchanged.
  const { body: made } = await web.ask("POST", P, {
    ...{ name: "a", entrypoint: "/bin/sleep", args: ["1000"], cwd: "/" },
  });
  assert(!("polluted" in made || "polluted" in made.config || "jsonrpc" in made), made);
});

Deno.test("web rejects oversized bodies with any framing, and does not buffer them", async () => {
  // The modules that a first request loads do not count.
  const paths = [P, `${P}/app/stop`, "/api/v1/config/reload", "/mcp"];
  for (const path of paths) await web.ask("POST", path, "{}");
  const before = web.memory();
  let most = before;
  const watch = setInterval(() => most = Math.max(most, web.memory()), 20);
  using _watch = { [Symbol.dispose]: () => clearInterval(watch) };
  for (const path of paths) {
    const head = headOf("POST", path, web.token);
    const stated = await web.raw(`${head}Content-Length: 300000000\r\n\r\n{`);
    assertEquals(statusOf(stated), 413, path);
    using endless = await web.connect(`${head}Transfer-Encoding: chunked\r\n\r\n`);
    await assertRefused(endless, path);
  }
  const path = `${web.daemon.home}/procsup.sock`;
  using endless = await Deno.connect({ transport: "unix", path });
  const head = `${headOf("POST", "/ipc", web.token)}Transfer-Encoding: chunked\r\n\r\n`;
  await endless.write(new TextEncoder().encode(head));
  await assertRefused(endless, "the Unix socket");
  assert(most - before < 30 * MIB, `${(most - before) / MIB} MiB`);
});

Deno.test("web answers pipelined requests in order on one connection", async () => {
  const head = `Host: localhost\r\nAuthorization: Bearer ${web.token}\r\n`;
  const paths = [P, "/livez", `${P}/nobody`, P];
  const requests = paths.map((path) => `GET ${path} HTTP/1.1\r\n${head}`);
  using connection = await web.connect("");
  const bytes = new Uint8Array(64 * 1024);
  const statuses: number[] = [];
  for (const request of requests) {
    await connection.write(new TextEncoder().encode(`${request}\r\n`));
    const size = await connection.read(bytes);
    statuses.push(statusOf(new TextDecoder().decode(bytes.subarray(0, size ?? 0))));
  }
  assertEquals(statuses, [200, 200, 404, 200]);
  // All at once, as HTTP/1.1 permits.
  const all = await web.raw(`${requests.join("\r\n")}Connection: close\r\n\r\n`);
  assertEquals(all.match(/HTTP\/1\.1 \d+/g)?.map(statusOf), statuses);
});

Deno.test("web logs nothing about truncated bodies and methods that it does not have", async () => {
  const log = () => Deno.readTextFileSync(`${web.daemon.home}/daemon.log`);
  const before = log().length;
  for (const path of [P, "/mcp", "/api/v1/session"]) {
    const head = `${headOf("POST", path, web.token)}Connection: close\r\n`;
    for (const rest of ["Content-Length: 9\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n1\r\n{"]) {
      const connection = await web.connect(`${head}${rest}`);
      await connection.closeWrite();
      await new Response(connection.readable).text();
    }
    for (const method of ["TRACE", "PROPFIND"]) {
      const answer = await web.raw(`${headOf(method, path, web.token)}Connection: close\r\n\r\n`);
      assertEquals(statusOf(answer), 405, `${method} ${path}`);
    }
  }
  const logged = log().slice(before);
  assert(!logged.includes('"warning"'), logged);
});

function headOf(method: string, path: string, token: string): string {
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n` +
    "Content-Type: application/json\r\n";
}

/** Sends an endless body for as long as it is accepted. */
async function assertRefused(connection: Deno.Conn, what: string): Promise<void> {
  const chunk = new TextEncoder().encode(`10000\r\n${" ".repeat(0x10000)}\r\n`);
  const answer = new Response(connection.readable).text().catch(() => "");
  let sent = 0;
  let isReset = false;
  try {
    for (; sent < 300 * MIB; sent += chunk.length) await writeAll(connection, chunk);
  } catch {
    isReset = true;
  }
  const text = await answer;
  // A client whose connection is reset while it writes may not read the answer.
  if (!isReset || text !== "") assertEquals(statusOf(text), 413, what);
  assert(sent < 30 * MIB, `${what}: ${sent} bytes were taken`);
}

Deno.test("web closes half-open and idle connections in time, and serves others meanwhile", async () => {
  const host = "Host: localhost\r\n";
  const openings = ["", "GET /livez HTTP/1.1\r\nX-A: ", `GET /livez HTTP/1.1\r\n${host}\r\n`];
  const stalled = `POST ${P} HTTP/1.1\r\n${host}Content-Length: 100\r\n\r\n{`;
  const slow = await Promise.all(
    Array.from({ length: 600 }, (_, i) => web.connect([...openings, stalled][i % 4]!)),
  );
  let open = slow.length;
  const ends = slow.map(async (connection) => {
    await connection.readable.pipeTo(new WritableStream()).catch(() => {});
    open--;
  });
  await waitFor(async () => {
    assertEquals((await web.ask("GET", P)).status, 200);
    return open === 0;
  }, { what: "all slow connections to be closed" });
  await Promise.all(ends);
});

Deno.test("web answers 403 to foreign hosts and origins on REST, WebSocket and MCP", async () => {
  const auth = `Authorization: Bearer ${web.token}\r\nConnection: close\r\n`;
  const json = "Content-Type: application/json\r\nContent-Length: 2\r\n";
  const get = (headers: string) => web.raw(`GET ${P} HTTP/1.1\r\n${auth}${headers}\r\n`);
  const post = (path: string, headers: string) =>
    web.raw(`POST ${path} HTTP/1.1\r\n${auth}${json}${headers}\r\n{}`);
  const port = web.port;
  for (const host of ["localhost", `127.0.0.1:${port}`, `[::1]:${port}`, "LocalHost"]) {
    assertEquals(statusOf(await get(`Host: ${host}\r\n`)), 200, host);
  }
  const bad = ["Host: evil.com", "Host: 127.0.0.1.evil.com", "Host: localhost.", "Host:", "X: y"];
  for (const host of bad) {
    assertEquals(statusOf(await get(`${host}\r\n`)), 403, host);
    assertEquals(statusOf(await post("/mcp", `${host}\r\n`)), 403, `mcp ${host}`);
  }
  const absolute = `GET http://evil.com${P} HTTP/1.1\r\n${auth}Host: evil.com\r\n\r\n`;
  assertEquals(statusOf(await web.raw(absolute)), 403);
  for (const origin of ["http://evil.com", "null", `http://localhost:${port + 1}`]) {
    const headers = `Host: localhost:${port}\r\nOrigin: ${origin}\r\n`;
    assertEquals(statusOf(await get(headers)), 403, origin);
    assertEquals(statusOf(await post(P, headers)), 403, origin);
    assertEquals(statusOf(await post("/mcp", headers)), 403, origin);
    assertEquals(statusOf(await web.raw(web.upgrade({ origin }))), 403, origin);
  }
  for (const host of ["evil.com", ""]) {
    assertEquals(statusOf(await web.raw(web.upgrade({ host }))), 403, `ws ${host}`);
  }
});

Deno.test("web accepts no simple request that a form on another page could send", async () => {
  await web.daemon.startScript("app", "exec sleep 1000");
  const { pid } = await web.daemon.status("app");
  const body = JSON.stringify({ name: "x", entrypoint: "/bin/true", cwd: "/" });
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
    const headers = { "content-type": type };
    assertEquals((await web.ask("POST", P, body, headers)).status, 415, type);
    assertEquals((await web.ask("POST", `${P}/app/stop`, "", headers)).status, 415, type);
    assertEquals((await web.ask("POST", "/mcp", body, headers)).status, 415, `mcp ${type}`);
  }
  const [app, ...others] = (await web.ask("GET", P)).body;
  assertEquals([app.pid, others], [pid, []]);
});

Deno.test("web answers 429 to guesses, local and remote, and 200 to the right token meanwhile", async () => {
  await using web = await TestWeb.start();
  const near = web.token.slice(0, -1) + (web.token.endsWith("0") ? "1" : "0");
  const far = (web.token.startsWith("0") ? "1" : "0") + web.token.slice(1);
  const counts = new Map<number, number>();
  for (let i = 0; i < 1000; i++) {
    const authorization = `Bearer ${[near, far][i % 2]}`;
    const { status } = await web.ask("GET", P, undefined, { authorization });
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  assertEquals(counts.get(401), 10);
  assertEquals(counts.get(429), 990);
  const refused = await web.raw(web.upgrade({ authorization: `Bearer ${near}` }));
  assertMatch(refused, /^HTTP\/1\.1 429 [^]*\r\nretry-after: \d\d?\r\n/);
  assertEquals((await web.ask("GET", P)).status, 200);
});

Deno.test("web answers clients that offer another protocol in HTTP/1.1", async () => {
  const offer =
    "Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n";
  const head = `Host: localhost\r\nAuthorization: Bearer ${web.token}\r\n${offer}`;
  assertEquals(statusOf(await web.raw(`GET ${P} HTTP/1.1\r\n${head}\r\n`)), 200);
  const body = "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
  assertEquals(statusOf(await web.raw(`POST ${P} HTTP/1.1\r\n${head}${body}`)), 422);
});

Deno.test("web and socket leave nothing open after HEAD of a stream", async () => {
  await web.daemon.startScript("app", "exec sleep 1000");
  const { home, pid } = web.daemon;
  const descriptors = () => [...Deno.readDirSync(`/proc/${pid}/fd`)].length;
  const socket = async (path: string) => {
    using connection = await Deno.connect({ transport: "unix", path: pathsIn(home).socket });
    const head = `HEAD ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${web.token}\r\n`;
    await connection.write(new TextEncoder().encode(`${head}Connection: close\r\n\r\n`));
    return (await new Response(connection.readable).text()).split(" ")[1];
  };
  const ask = async () => [
    (await web.ask("HEAD", "/api/v1/logs?target=app&follow=true")).status,
    (await web.ask("HEAD", "/api/v1/events")).status,
    await socket("/logs?target=app&follow=true"),
    await socket("/events"),
  ];
  assertEquals(await ask(), [200, 200, "200", "200"]);
  const before = descriptors();
  for (let i = 0; i < 10; i++) await ask();
  await waitFor(() => descriptors() <= before + 3, { what: "the streams to be closed" });
});

Deno.test("web takes a large body only from a known sender", async () => {
  const ask = (authorization: string, path: string) =>
    web.ask("POST", path, { code: "x".repeat(5000), key: "" }, { authorization });
  assertEquals((await ask("", "/api/v1/session")).body.error, "The body is larger than 4 KiB");
  assertEquals((await ask(`Bearer ${web.token}`, P)).status, 422);
});
