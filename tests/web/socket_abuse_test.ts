/** WebSockets that do not read, or that violate the protocol. */

import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { waitFor } from "../support/wait_for.ts";
import { TestFeed, TestWeb, upgradeRequest } from "../support/web.ts";
import { FakeWeb, OWNER, TOKEN } from "./fake_backend.ts";

const MIB = 1024 * 1024;

const web = TestWeb.ofFile();

Deno.test("web buffers little for WebSockets that do not read the log they requested", async () => {
  await web.daemon.startScript(
    "chatty",
    "while :; do echo 0123456789012345678901234567890123456789; done",
  );
  using healthy = await web.feed();
  const before = web.memory();
  const deaf = await Promise.all(Array.from({ length: 10 }, () => web.connect(web.upgrade())));
  const subscribe = { type: "subscribe", topics: ["logs"], target: "chatty", lines: 1000 };
  for (const connection of deaf) await connection.write(frame(JSON.stringify(subscribe)));
  const count = healthy.got.length;
  await waitFor(() => healthy.got.length > count + 1, { what: "the healthy one to be served" });
  assert(web.memory() - before < 200 * MIB, `${(web.memory() - before) / MIB} MiB`);
  for (const connection of deaf) connection.close();
  await web.daemon.client.call("stop", { target: "chatty", force: true });
});

Deno.test("openServer() drops a WebSocket with a megabyte queued, and serves the others", async () => {
  await using web = new FakeWeb();
  const server = web.listen({ maxClients: 2 });
  const { port } = server.address;
  const url = `ws://127.0.0.1:${port}/ws`;
  const headers = { authorization: `Bearer ${TOKEN}` };
  using healthy = new TestFeed(new WebSocket(url, { headers }));
  await healthy.opened;
  healthy.send(EVENTS);
  const deaf = await Deno.connect({ port });
  const upgrade = upgradeRequest({ host: `127.0.0.1:${port}`, ...headers });
  await deaf.write(Uint8Array.from([...new TextEncoder().encode(upgrade), ...frame(EVENTS)]));
  const news = { type: "event", event: "x".repeat(64 * 1024) };
  await waitFor(() => healthy.of("subscribed").length > 0);
  for (let told = 1; told <= 200; told++) {
    server.publish(news);
    await waitFor(() => healthy.of("event").length === told);
  }
  // It now reads what was in transit; a connected client would read without end.
  let isOver = true;
  const timer = setTimeout(() => (isOver = false, deaf.close()), 10_000);
  const read = new Uint8Array(MIB);
  let taken = 0;
  try {
    for (let size; (size = await deaf.read(read)) !== null;) taken += size;
  } catch {
    // Its connection was reset.
  }
  clearTimeout(timer);
  assert(isOver && taken < 10 * MIB, `${taken} bytes`);
  assertEquals(healthy.closed, undefined);
  await server.close();
});

Deno.test("openServer() takes a place from the client with the most for one with fewer", async () => {
  await using web = new FakeWeb();
  const server = web.listen({ maxClients: 4 });
  const { token: reader } = await web.tokens.create("reader", { role: "read" });
  const url = `http://127.0.0.1:${server.address.port}`;
  const open = async (headers: Record<string, string>) => {
    const feed = new TestFeed(new WebSocket(`${url.replace("http", "ws")}/ws`, { headers }));
    await feed.opened;
    return feed;
  };
  const asReader = { authorization: `Bearer ${reader}` };
  const theirs = await Promise.all([1, 2, 3, 4].map(() => open(asReader)));
  await assertRejects(() => open(asReader));
  const session = await web.session(OWNER, url);
  const ours = [await open({ authorization: `Bearer ${TOKEN}` }), await session.socket()];
  await waitFor(() => ours.every((feed) => feed.of("process_list").length > 0));
  const closed = () => theirs.map((feed) => feed.closed);
  await waitFor(() => closed().filter((code) => code === 1013).length === 2);
  assertEquals(closed().filter((code) => code === undefined).length, 2);
  // Both have two by now: neither displaces the other.
  await assertRejects(() => open({ authorization: `Bearer ${TOKEN}` }));
  await assertRejects(() => open(asReader));
  await server.close();
});

Deno.test("openServer() closes a WebSocket of a browser whose first message is not signed", async () => {
  await using web = new FakeWeb();
  const server = web.listen();
  const origin = `http://127.0.0.1:${server.address.port}`;
  const headers = { origin };
  const session = await web.session(OWNER, origin);
  const used = await session.authorization("GET", "/ws");
  const signed = JSON.stringify({ type: "session", authorization: used });
  const other = await session.authorization("GET", "/api/v1/events");
  const first = await session.socket();
  await waitFor(() => first.of("process_list").length > 0, { what: "the feed to begin" });
  const bearer = JSON.stringify({ type: "session", authorization: `Bearer ${session.id}` });
  const messages = [
    ...["{", '{"type":"session"}', `{"${"€".repeat(40)}":${"€".repeat(40)}}`, bearer],
    JSON.stringify({ type: "session", authorization: other }),
    signed,
    signed,
  ];
  for (const [index, first] of messages.entries()) {
    const feed = new TestFeed(
      new WebSocket(`ws://127.0.0.1:${server.address.port}/ws`, { headers }),
    );
    await feed.opened;
    feed.send(first);
    if (index === messages.length - 2) {
      await waitFor(() => feed.of("process_list").length > 0, { what: "the signed one to open" });
      continue;
    }
    await waitFor(() => feed.closed !== undefined, { what: "the WebSocket to be closed" });
    assertEquals(feed.closed, 1008, first);
  }
  await server.close();
});

Deno.test("openServer() keeps at most 64 WebSockets of browsers that sign nothing, for seconds", async () => {
  await using web = new FakeWeb();
  const server = web.listen();
  const headers = { origin: `http://127.0.0.1:${server.address.port}` };
  const url = `ws://127.0.0.1:${server.address.port}/ws`;
  const feeds = Array.from({ length: 65 }, () => new TestFeed(new WebSocket(url, { headers })));
  await Promise.allSettled(feeds.map(({ opened }) => opened));
  await waitFor(() => feeds.every(({ closed }) => closed !== undefined));
  assertEquals(feeds.filter(({ closed }) => closed === 1008).length, 64);
  await server.close();
});

Deno.test("openServer() passes on changes after it fell behind, and asks for none once closed", async () => {
  await using web = new FakeWeb();
  const server = web.listen();
  const headers = { authorization: `Bearer ${TOKEN}` };
  const feed = new TestFeed(new WebSocket(`ws://127.0.0.1:${server.address.port}/ws`, { headers }));
  await feed.opened;
  feed.send(EVENTS);
  await waitFor(() => feed.of("subscribed").length > 0);
  web.endChanges();
  await waitFor(() => web.changesOver !== undefined, { what: "another stream of events" });
  web.publish({
    ...{ type: "crashed", at: new Date(0), id: "1f3a9c00-0000", name: "api", state: "crashed" },
    ...{ pid: 0, restarts: 0, reason: "exited with code 1", exit: null },
  });
  await waitFor(() => feed.of("event").length === 1);
  await server.close();
  assert(web.changesOver!.aborted);
});

const EVENTS = '{"type":"subscribe","topics":["events"]}';

Deno.test("web closes WebSockets that violate the protocol with the right code, and no others", async () => {
  using healthy = await web.feed();
  const codeAfter = async (bytes: Uint8Array<ArrayBuffer>) => {
    using connection = await web.connect(web.upgrade());
    await connection.write(bytes).catch(() => 0);
    const all = new Uint8Array(await new Response(connection.readable).arrayBuffer());
    return closeCode(all);
  };
  assertEquals(await codeAfter(frame("x".repeat(65 * 1024))), 1009);
  assertEquals(await codeAfter(Uint8Array.of(0x81, 0xff, 0, 0, 0, 0xff, 0, 0, 0, 0)), 1009);
  assertEquals(await codeAfter(frame(Uint8Array.of(0xff, 0xfe))), 1007);
  const flood = Array.from({ length: 60 }, () => [...frame('{"type":"ping"}')]).flat();
  assertEquals(await codeAfter(Uint8Array.from(flood)), 1008);
  // A fragmented message that is too large, bytes, a missing mask, and a reserved bit.
  const part = frame("x".repeat(40_000));
  const parts = [part, part].map((bytes, i) => bytes.with(0, i));
  assertEquals(await codeAfter(Uint8Array.from([...parts[1]!, ...parts[0]!])), 1009);
  assertEquals(await codeAfter(frame("{}").with(0, 0x82)), 1003);
  assertEquals(await codeAfter(Uint8Array.of(0x81, 2, 0x7b, 0x7d)), 1002);
  assertEquals(await codeAfter(frame("{}").with(0, 0xc1)), 1002);
  assertEquals(healthy.closed, undefined);
});

/** A masked text frame. */
function frame(payload: string | Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = typeof payload === "string" ? new TextEncoder().encode(payload) : payload;
  const size = bytes.length;
  const length = size < 126
    ? [size]
    : size < 65_536
    ? [126, size >> 8, size & 255]
    : [127, 0, 0, 0, 0, 0, size >> 16, size >> 8 & 255, size & 255];
  length[0]! |= 0x80;
  // A mask of zeros leaves the payload unchanged.
  return Uint8Array.from([0x81, ...length, 0, 0, 0, 0, ...bytes]);
}

/** The code in the close frame, which is sent last. */
function closeCode(bytes: Uint8Array): number | undefined {
  for (let at = bytes.length - 4; at >= 0; at--) {
    if (bytes[at] !== 0x88) continue;
    if (bytes[at + 1]! === bytes.length - at - 2) return bytes[at + 2]! << 8 | bytes[at + 3]!;
  }
  return undefined;
}

Deno.test("web accepts 256 WebSockets, and none without a token", async () => {
  await using web = await TestWeb.start();
  assertEquals(statusOf(await web.raw(web.upgrade({ authorization: "" }))), 401);
  const clients = await Promise.all(
    Array.from({ length: 256 }, async () => {
      const connection = await web.connect(web.upgrade());
      await connection.read(new Uint8Array(4096));
      return connection;
    }),
  );
  const refused = await web.raw(web.upgrade());
  assertEquals(statusOf(refused), 503);
  assertMatch(refused, /"code":"too_many_clients"/);
  for (const connection of clients) connection.close();
  await waitFor(async () => {
    using connection = await web.connect(web.upgrade());
    const bytes = new Uint8Array(12);
    await connection.read(bytes);
    return new TextDecoder().decode(bytes) === "HTTP/1.1 101";
  }, { what: "room for another one" });
});

function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);
}
