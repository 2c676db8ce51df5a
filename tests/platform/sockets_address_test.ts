import { assert, assertEquals, assertThrows } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import { C } from "../../src/platform/libc.ts";
import { isSockaddr, parseSockets, toSockaddr } from "../../src/platform/sockets/sockets.ts";

Deno.test("parseSockets() normalizes every address", () => {
  const texts = (...sockets: string[]) => parseSockets(sockets).map(({ text }) => text);
  assertEquals(texts("127.0.0.1:8080", "localhost:81", ":82", "*:83", "84"), [
    "127.0.0.1:8080",
    "127.0.0.1:81",
    ":82",
    ":83",
    ":84",
  ]);
  assertEquals(
    texts("[::1]:1", "[0:0::1]:2", "[2001:DB8::0:5]:3", "[::]:4", "[::ffff:1.2.3.4]:5"),
    [
      "[::1]:1",
      "[::1]:2",
      "[2001:db8::5]:3",
      "[::]:4",
      "[::ffff:102:304]:5",
    ],
  );
});

Deno.test("parseSockets() rejects anything but an address with a port", () => {
  const bad = ["", "web", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "1.2.3:80"];
  bad.push("256.1.1.1:80", "::1:80", "[::1]", "[::1]:x", "[::g]:80", "example.com:80", "[a]/:80");
  bad.push("[1.2.3.4]:80", "[]:80", "127.0.0.1:80 ", "/run/app.sock", "127.0.0.1:1e3");
  for (const text of bad) {
    const error = assertThrows(() => parseSockets([text]), ProcsupError, JSON.stringify(text));
    assertEquals(error.code, "invalid_config");
  }
  assertThrows(() => parseSockets([":80", "*:80"]), ProcsupError, "it is listed twice");
  const many = Array.from({ length: 17 }, (_, i) => `:${i + 1}`);
  assertThrows(() => parseSockets(many), ProcsupError, "at most 16 are possible");
});

Deno.test("isSockaddr() recognizes an address in the kernel's form", () => {
  const all = parseSockets([":80", "127.0.0.1:80", "[::1]:80", "[::]:81", "10.0.0.1:80"]);
  const family = (length: number | undefined) => length === 4 ? C.AF_INET : C.AF_INET6;
  for (const address of all) {
    const sockaddr = toSockaddr(address, family(address.bytes?.length));
    assertEquals(all.filter((one) => isSockaddr(one, sockaddr)), [address]);
  }
  assert(isSockaddr(all[0]!, toSockaddr(all[0]!, C.AF_INET)), "where there is no IPv6");
  assert(!isSockaddr(all[0]!, new Uint8Array(28)));
});
