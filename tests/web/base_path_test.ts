/** The web surface behind a proxy: base path, forwarded addresses and hosts. */

import { assertEquals, assertMatch } from "@std/assert";
import { SiteNames } from "../../src/web/same_site.ts";
import { TrustedProxies } from "../../src/web/trusted_proxies.ts";
import { waitFor } from "../support/wait_for.ts";
import { signIn } from "../support/web.ts";
import { FakeWeb, TOKEN } from "./fake_backend.ts";
import { hintOf } from "../support/hint_of.ts";
import { type ProcsupError } from "../../src/model/errors.ts";

const BASE = "/procsup";

Deno.test("openServer() serves each path with and without its base path, and no others", async () => {
  await using web = new FakeWeb();
  const server = web.listen({ basePath: BASE });
  const url = `http://127.0.0.1:${server.address.port}`;
  const ask = async (path: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const answer = await fetch(url + path, { redirect: "manual", headers, ...init });
    const text = await answer.text();
    return { status: answer.status, location: answer.headers.get("location"), text };
  };
  for (const base of [BASE, ""]) {
    for (const path of ["/", "/assets/app.css", "/docs/proxy", "/api/v1/processes", "/livez"]) {
      assertEquals((await ask(base + path)).status, 200, base + path);
    }
    const made = await ask(`${base}/api/v1/processes`, { method: "POST", body: '{"name":"x"}' });
    assertMatch(made.location!, /^\/procsup\/api\/v1\/processes\/\w+$/);
    const called = await ask(`${base}/ipc`, { method: "POST", body: '{"action":"list"}' });
    assertEquals(JSON.parse(called.text).data.length, 1);
  }
  const bare = await ask(BASE);
  assertEquals([bare.status, bare.location], [308, `${BASE}/`]);
  for (const path of ["/procsupx/livez", "/procsup/procsup/livez", "/other/livez"]) {
    assertEquals((await ask(path)).status, 404, path);
  }
  const page = (await ask(`${BASE}/`)).text + (await ask(`${BASE}/docs/proxy`)).text;
  assertEquals(page.match(/(?:href|src)="\/[^"]*"/g), null, "absolute links leave the base path");
  const { servers } = JSON.parse((await ask(`${BASE}/openapi.json`)).text);
  assertEquals(servers, [{ url: BASE }]);
  await server.close();
});

Deno.test("a signature is good for its path below the base path, once, and for no other", async () => {
  await using web = new FakeWeb();
  const server = web.listen({ basePath: BASE });
  const url = `http://127.0.0.1:${server.address.port}`;
  const session = await signIn(url + BASE, { token: TOKEN });
  const P = "/api/v1/processes";
  const send = async (path: string, authorization: string, method = "GET", body?: string) => {
    const headers = { authorization, "content-type": "application/json" };
    const answer = await fetch(url + path, { method, headers, ...body && { body } });
    await answer.body?.cancel();
    return answer.status;
  };
  const signed = (method: string, path: string, body?: string) =>
    session.authorization(method, path, body);
  // A proxy may pass the base path on or remove it, but repeat nothing.
  for (const base of [BASE, ""]) {
    const one = await signed("GET", P);
    assertEquals([await send(base + P, one), await send(base + P, one)], [200, 401], base);
    const other = base === "" ? BASE : "";
    const two = await signed("GET", P);
    assertEquals([await send(base + P, two), await send(other + P, two)], [200, 401], base);
  }
  const rows = [
    [`${BASE}${P}/api`, "GET", "", await signed("GET", P)],
    [`${BASE}${P}?x=1`, "GET", "", await signed("GET", P)],
    [`${BASE}${P}/api`, "DELETE", "", await signed("GET", `${P}/api`)],
    [`${BASE}${P}/api/stop`, "POST", '{"force":true}', await signed("POST", `${P}/api/stop`, "{}")],
    [`${BASE}${P}`, "GET", "", await signed("GET", `${BASE}${P}`)],
    [`${BASE}/ipc`, "POST", '{"action":"list"}', await signed("POST", "/ipc", "{}")],
  ] as const;
  for (const [path, method, body, authorization] of rows) {
    assertEquals(await send(path, authorization, method, body), 401, `${method} ${path} ${body}`);
  }
  const socket = await signIn(url + BASE, { token: TOKEN }).then((tab) => tab.socket());
  await waitFor(() => socket.of("process_list").length > 0, { what: "the feed below the path" });
  socket[Symbol.dispose]();
  await server.close();
});

Deno.test("TrustedProxies believes the headers of trusted peers only", () => {
  const proxies = new TrustedProxies(["127.0.0.1", "10.0.0.0/8", "fd00::/8"]);
  const of = (peer: string, forwarded?: string) =>
    proxies.clientOf(peer, { "x-forwarded-for": forwarded });
  const rows = [
    ["127.0.0.1", "203.0.113.7", "203.0.113.7"],
    // What a client wrote itself stands before its own address.
    ["127.0.0.1", "1.1.1.1, 203.0.113.7, 10.1.2.3", "203.0.113.7"],
    ["127.0.0.1", "10.0.0.9, 10.1.2.3", "10.0.0.9"],
    ["::ffff:10.1.1.1", "203.0.113.7", "203.0.113.7"],
    ["fd00::1", "2001:db8::1", "2001:db8::1"],
    ["203.0.113.9", "127.0.0.1", "203.0.113.9"],
    ["127.0.0.1", "unknown", "127.0.0.1"],
    ["127.0.0.1", "", "127.0.0.1"],
    ["local", "203.0.113.7", "local"],
  ] as const;
  for (const [peer, forwarded, client] of rows) {
    assertEquals(of(peer, forwarded), client, `${peer} ${forwarded}`);
  }
  assertEquals(of("127.0.0.1"), "127.0.0.1");
  const host = { host: "127.0.0.1:9615", "x-forwarded-host": "ops.example.com:8443" };
  assertEquals(proxies.hostOf("10.0.0.1", host), "ops.example.com:8443");
  assertEquals(proxies.hostOf("192.0.2.1", host), "127.0.0.1:9615");
});

Deno.test("each client of a proxy has its own limit of failed sign-ins", async () => {
  await using web = new FakeWeb();
  const server = web.listen({ proxies: ["127.0.0.1"] });
  const url = `http://127.0.0.1:${server.address.port}/api/v1/processes`;
  const ask = async (client: string) => {
    const headers = { authorization: "Bearer wrong", "x-forwarded-for": client };
    const answer = await fetch(url, { headers });
    await answer.body?.cancel();
    return answer.status;
  };
  for (let i = 0; i < 10; i++) assertEquals(await ask(`1.1.1.${i}, 203.0.113.7`), 401);
  assertEquals([await ask("203.0.113.7"), await ask("203.0.113.8")], [429, 401]);
  await server.close();
});

Deno.test("SiteNames.check() takes an Origin without a port in Host by its name, and hints at each refusal", () => {
  const names = new SiteNames(["ops.example.com:8443"], 9615);
  const refused = (host: string | undefined, origin?: string, fetchSite?: string) => {
    try {
      names.check({ host, origin, fetchSite }, false);
    } catch (error) {
      return error as ProcsupError;
    }
  };
  const good = [
    ["ops.example.com", "https://ops.example.com:8443"],
    ["OPS.example.com:8443", "https://ops.example.com:8443"],
    ["ops.example.com:1", undefined],
  ] as const;
  for (const [host, origin] of good) assertEquals(refused(host, origin), undefined, `${origin}`);
  const bad = [
    [undefined, undefined, undefined, /no Host/],
    ["evil.com", undefined, undefined, /--allow-host evil\.com$/],
    ["$(id)", undefined, undefined, /--allow-host '\$\(id\)'$/],
    ["ops.example.com:9000", "https://ops.example.com:8443", undefined, /procsup help proxy/],
    ["ops.example.com", "https://evil.com", undefined, /procsup help proxy/],
    ["ops.example.com", "https://ops.example.com.evil.com", undefined, /procsup help proxy/],
    ["ops.example.com", "null", undefined, /procsup help proxy/],
    ["ops.example.com", undefined, "same-site", /program with a token/],
  ] as const;
  for (const [host, origin, fetchSite, words] of bad) {
    const error = refused(host, origin, fetchSite);
    assertMatch(`${error?.message} ${error && hintOf(error)}`, words, `${host} ${origin}`);
    assertEquals(error?.hint === undefined, false);
  }
  // Here browsers send no port themselves.
  const plain = new SiteNames(["ops.example.com"], 80);
  const other = { host: "ops.example.com", origin: "http://ops.example.com:8080" };
  let isRefused = false;
  try {
    plain.check({ ...other, fetchSite: undefined }, false);
  } catch {
    isRefused = true;
  }
  assertEquals(isRefused, true);
});
