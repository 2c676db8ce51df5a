/** HTTP on a Unix socket: framing, rejected requests, and the limits on connections. */

import { assertEquals, assertMatch } from "@std/assert";
import { type Handler, UnixServer } from "../../src/daemon/unix_server.ts";
import { accept } from "../../src/platform/sockets/accept.ts";
import { sleep } from "../../src/platform/clock.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";
import type { VerbContext } from "../../src/daemon/verb_context.ts";
import { ipcApp } from "../../src/daemon/ipc_server.ts";

/** A server, and requests to it as text. */
function scene(handler: Handler, most = 8) {
  const home = tempHome();
  const path = `${home.path}/s`;
  const server = new UnixServer(Deno.listen({ transport: "unix", path }), handler, {
    most,
    warn() {},
  });
  const connect = async (text: string) => {
    const connection = await Deno.connect({ transport: "unix", path });
    await connection.write(new TextEncoder().encode(text));
    return connection;
  };
  const ask = async (text: string) => {
    const connection = await connect(text);
    return await new Response(connection.readable).text();
  };
  const end = async () => {
    await server.close();
    await home[Symbol.asyncDispose]();
  };
  return { connect, ask, [Symbol.asyncDispose]: end };
}

const echo: Handler = async (request) =>
  Response.json([request.method, new URL(request.url).pathname, await request.text()]);

Deno.test("UnixServer reads requests with any framing", async () => {
  await using server = scene(echo);
  const rows = [
    ["GET /a HTTP/1.1\r\n\r\n", '["GET","/a",""]'],
    ["GET http://any/a HTTP/1.0\r\nhost: any\r\n\r\n", '["GET","/a",""]'],
    ["POST /a HTTP/1.1\nContent-Length: 3\n\nabc and more", '["POST","/a","abc"]'],
    [
      "POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nab\r\n1\r\nc\r\n0\r\n\r\n",
      '["POST","/a","abc"]',
    ],
  ] as const;
  for (const [request, answer] of rows) {
    const [head, body] = (await server.ask(request)).split("\r\n\r\n");
    assertMatch(head!, /^HTTP\/1\.1 200 \r\n[^]*connection: close\r\ncontent-length: \d+$/);
    assertEquals(body, answer, request);
  }
});

Deno.test("UnixServer rejects malformed requests, and never passes on a truncated body", async () => {
  const seen: string[] = [];
  await using server = scene(async (request) => {
    seen.push(await request.text());
    return new Response("done");
  });
  const rows = [
    "\r\n\r\n",
    "GET / HTTP/2\r\n\r\n",
    "GET a HTTP/1.1\r\n\r\n",
    "GET / HTTP/1.1\r\nno header\r\n\r\n",
    `GET / HTTP/1.1\r\n${"a: b\r\n".repeat(200)}\r\n`,
    "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
  ];
  for (const request of rows) assertMatch(await server.ask(request), /^HTTP\/1\.1 400 /, request);
  const brokenOff = [
    "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n1",
    "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n1\r\n",
    "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n1\r\nzz\r\n",
  ];
  for (const request of brokenOff) {
    const connection = await server.connect(request);
    await connection.closeWrite();
    assertEquals(await new Response(connection.readable).text(), "", request);
  }
  assertEquals(seen, []);
});

Deno.test("a malformed chunk is a bad request for the verbs of the socket", async () => {
  // The body is read before the token is checked: nothing else of the daemon is needed.
  const app = ipcApp({} as VerbContext);
  await using server = scene((request) => app.fetch(request));
  for (const chunk of ["zz\r\n", "1\r\nabc\r\n", `${"1".repeat(2000)}\r\n`]) {
    const head = "POST /ipc HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    const answer = await server.ask(head + chunk);
    assertMatch(answer, /^HTTP\/1\.1 400 [^]*"code":"bad_request"/, chunk);
  }
});

Deno.test("UnixServer queues connections when full, and then closes idle ones", async () => {
  let [now, most] = [0, 0];
  await using server = scene(async () => {
    most = Math.max(most, ++now);
    await sleep(2);
    now--;
    return new Response("done");
  }, 4);
  const silent = await Promise.all([1, 2, 3, 4, 5, 6].map(() => server.connect("GET /")));
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => server.ask("GET / HTTP/1.1\r\n\r\n")),
  );
  assertEquals(answers.every((answer) => answer.endsWith("done")), true);
  assertEquals([now, most <= 4], [0, true]);
  for (const connection of silent) connection.close();
});

Deno.test("UnixServer reserves places for requests beside streams, and notices when a client leaves", async () => {
  let open = 0;
  await using server = scene((request) => {
    if (!request.url.endsWith("/stream")) return new Response("done");
    const body = new ReadableStream({ start: () => void open++, cancel: () => void open-- });
    return new Response(body, { headers: { "content-type": "application/x-ndjson" } });
  }, 4);
  const stream = "GET /stream HTTP/1.1\r\n\r\n";
  const streams = await Promise.all([1, 2, 3].map(() => server.connect(stream)));
  await waitFor(() => open === 3);
  assertMatch(await server.ask(stream), /^HTTP\/1\.1 503 [^]*"code":"too_many_clients"/);
  assertMatch(await server.ask("GET / HTTP/1.1\r\n\r\n"), /done$/);
  for (const connection of streams) connection.close();
  await waitFor(() => open === 0);
});

Deno.test("accept() continues after connections that could not be accepted", async () => {
  const outcomes = ["a", new Error("Too many open files"), new Error("Too many open files"), "b"];
  const taken: string[] = [];
  const warned: string[] = [];
  let full = 0;
  await accept<string>({
    accept() {
      const next = outcomes.shift() ?? new Deno.errors.BadResource("closed");
      return typeof next === "string" ? Promise.resolve(next) : Promise.reject(next);
    },
  }, {
    take: (connection) => taken.push(connection),
    full: () => full++,
    warn: (message) => warned.push(message),
  });
  assertEquals([taken, full], [["a", "b"], 2]);
  assertEquals(warned, ["Cannot take connections: Too many open files"]);
});
