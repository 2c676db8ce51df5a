import { assertEquals, assertThrows } from "@std/assert";
import { freePort } from "../support/http_load.ts";
import { ProcsupError } from "../../src/model/errors.ts";
import {
  closeSocket,
  openListener,
  parseSockets,
  type SocketAddress,
  type SocketCalls,
  SocketPool,
  takeListeners,
} from "../../src/platform/sockets/sockets.ts";

/** A kernel in which some addresses are in use, and no process hands over its sockets. */
class FakeCalls implements SocketCalls {
  readonly log: string[] = [];
  readonly inUse = new Set<string>();
  #next = 10;

  open({ text }: { text: string }, beside = false): number {
    if (this.inUse.has(text) && !beside) throw new ProcsupError("start_failed", `${text} in use`);
    this.log.push(`${beside ? "beside" : "open"} ${text}`);
    return this.#next++;
  }

  take(): Map<SocketAddress, number> {
    return new Map<SocketAddress, number>();
  }

  close(fd: number): void {
    this.log.push(`close ${fd}`);
  }
}

const api = { owner: "api", addresses: parseSockets(["127.0.0.1:80", ":81"]) };
const web = { owner: "web", addresses: parseSockets([":81"]) };

Deno.test("SocketPool opens each socket once and closes it when its owner is removed", () => {
  const calls = new FakeCalls();
  const pool = new SocketPool(calls);
  assertEquals(pool.descriptors(api), [10, 11]);
  assertEquals(pool.descriptors(api), [10, 11]);
  assertThrows(() => pool.descriptors(web), ProcsupError, 'socket ":81" belongs to "api"');
  pool.drop("web", new Set());
  pool.drop("api", new Set());
  assertEquals(pool.descriptors(web), [12]);
  pool.close();
  assertEquals(calls.log, [
    "open 127.0.0.1:80",
    "open :81",
    "close 10",
    "close 11",
    "open :81",
    "close 12",
  ]);
});

Deno.test("SocketPool opens a socket beside one that it may not take over, for its owner alone", () => {
  const calls = new FakeCalls();
  const pool = new SocketPool(calls);
  calls.inUse.add(":81");
  assertThrows(() => pool.descriptors(web), ProcsupError, ":81 in use");
  assertEquals(pool.recover(web, [1, 2]), [":81"]);
  assertEquals(pool.recover(web, [3]), [], "said once");
  assertThrows(() => pool.descriptors({ ...web, owner: "api" }), ProcsupError, ":81 in use");
  assertEquals(pool.descriptors(web), [10]);
  assertEquals(calls.log, ["beside :81"]);
});

const linuxOnly = { ignore: Deno.build.os !== "linux" };

Deno.test("openListener() rejects a port in use, unless the listener may be ours", () => {
  const [address] = parseSockets([`127.0.0.1:${freePort()}`]);
  const fd = openListener(address!);
  const again = assertThrows(() => openListener(address!), ProcsupError, "in use by another");
  assertEquals(again.code, "start_failed");
  const beside = openListener(address!, true);
  for (const one of [fd, beside]) closeSocket(one);
});

Deno.test(
  "closeSocket() frees an address that a process being forked still holds",
  linuxOnly,
  () => {
    const addresses = parseSockets([`127.0.0.1:${freePort()}`]);
    const fd = openListener(addresses[0]!);
    const [copy] = takeListeners(Deno.pid, addresses).values();
    closeSocket(fd);
    assertThrows(() => openListener(addresses[0]!), ProcsupError, "in use by another");
    closeSocket(copy!, true);
    const other = openListener(addresses[0]!);
    const [held] = takeListeners(Deno.pid, addresses).values();
    closeSocket(other, true);
    const next = openListener(addresses[0]!);
    for (const one of [held!, next]) closeSocket(one);
  },
);

Deno.test("openListener() shares no port with a stranger that uses SO_REUSEPORT", () => {
  const [address] = parseSockets([`127.0.0.1:${freePort()}`]);
  const stranger = openListener(address!, true);
  assertThrows(() => openListener(address!), ProcsupError, "in use by another process");
  closeSocket(stranger);
});

Deno.test("openListener() reports what is wrong with an address", () => {
  const [foreign] = parseSockets(["192.0.2.1:8080"]);
  assertThrows(() => openListener(foreign!), ProcsupError, "this machine has no such address");
});

Deno.test("openListener() on every interface serves IPv4 and IPv6", async () => {
  const port = freePort();
  const [address] = parseSockets([`:${port}`]);
  const fd = openListener(address!);
  for (const hostname of ["127.0.0.1", "::1"]) (await Deno.connect({ port, hostname })).close();
  closeSocket(fd);
});

Deno.test(
  "takeListeners() finds the listening sockets of a process by address",
  linuxOnly,
  () => {
    const addresses = parseSockets([`127.0.0.1:${freePort()}`, `[::1]:${freePort()}`]);
    const fds = addresses.map((address) => openListener(address));
    const other = parseSockets([`127.0.0.1:${addresses[1]!.port}`])[0]!;
    const taken = takeListeners(Deno.pid, [other, addresses[1]!, addresses[0]!]);
    assertEquals(new Set(taken.keys()), new Set(addresses));
    assertEquals(takeListeners(2 ** 22 + 1, addresses).size, 0, "no such process");
    for (const fd of [...fds, ...taken.values()]) closeSocket(fd);
  },
);
