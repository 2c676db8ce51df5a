/** Tokens for some apps and for some time: other apps do not exist for them, on any surface. */

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Gatekeeper, SignInRateLimit } from "../../src/auth/gatekeeper.ts";
import { NamedTokens } from "../../src/auth/named_tokens.ts";
import { Sessions } from "../../src/auth/sessions.ts";
import { ProcsupError } from "../../src/model/errors.ts";
import { pathsIn } from "../../src/platform/files/paths.ts";
import { newKeyPair, publicText } from "../../src/protocol/session_signature.ts";
import { REST_ROWS } from "../../src/verbs/mod.ts";
import { FakeClock } from "../support/fake_clock.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";
import { TestFeed, TestWeb } from "../support/web.ts";

const HIDDEN = "hiddenapp";

interface Limited extends AsyncDisposable {
  readonly web: TestWeb;
  readonly authorization: string;
  ask(method: string, path: string, body?: unknown): ReturnType<TestWeb["ask"]>;
}

/** A daemon with the app `cart` in the namespace `shop`, another app, and a token for `shop`. */
async function limited(): Promise<Limited> {
  const web = await TestWeb.start();
  const { client } = web.daemon;
  const script = (text: string) => ({ entrypoint: "/bin/sh", args: ["-c", text], cwd: "/" });
  const app = { ...script("echo hello; exec sleep 1000"), min_uptime: "10ms" };
  await client.call("add", { config: { ...app, name: "cart", namespace: "shop" }, wait: true });
  const config = { ...app, ...script(`echo ${HIDDEN}; exec sleep 1000`), name: HIDDEN };
  await client.call("add", {
    config: { ...config, tags: ["web"], namespace: "other" },
    wait: true,
  });
  const hook = { url: "http://127.0.0.1:8099/", only: [HIDDEN] };
  const { token: owner } = await client.call("token");
  const set = await web.ask("PATCH", "/api/v1/webhooks/hook", hook, {
    authorization: `Bearer ${owner}`,
  });
  assertEquals(set.status, 200);
  const grant = { name: "ci", role: "operate", only: ["ns:shop", "tag:none"] } as const;
  const { token } = await client.call("token_create", grant);
  const authorization = `Bearer ${token}`;
  return {
    web,
    authorization,
    ask: (method, path, body) => web.ask(method, path, body, { authorization }),
    [Symbol.asyncDispose]: () => web[Symbol.asyncDispose](),
  };
}

Deno.test("no route names an app that the token is not for", async () => {
  await using scene = await limited();
  const { web, ask } = scene;
  const hidden = await web.daemon.status(HIDDEN);
  const answers = new Map<string, string>();
  for (const { row: { method, path } } of REST_ROWS) {
    if (method !== "GET") continue;
    for (const target of ["cart", "all", "shop:*", "ns:other", "tag:web", HIDDEN, hidden.id]) {
      const at = `/api/v1${path.replace(/\{\w+\}/, encodeURIComponent(target))}`;
      for (const query of ["", `?target=${encodeURIComponent(target)}`]) {
        answers.set(`${at}${query}`, (await ask("GET", `${at}${query}`)).text);
      }
    }
  }
  for (const path of ["/metrics", "/openapi.json"]) {
    answers.set(path, (await ask("GET", path)).text);
  }
  for (const stream of ["events", "logs"]) {
    const path = `/api/v1/${stream}?target=${HIDDEN}`;
    answers.set(path, (await ask("GET", path)).text);
  }
  answers.set("logs", (await ask("GET", "/api/v1/logs?target=all")).text);
  for (const [path, text] of answers) {
    const asked = [HIDDEN, hidden.id].some((word) => path.includes(word));
    const shown = asked
      ? text.replaceAll(`"${HIDDEN}"`, "").replaceAll(`\\"${HIDDEN}\\"`, "")
      : text;
    assert(!shown.includes(HIDDEN) && (asked || !shown.includes(hidden.id)), `${path}: ${text}`);
  }
  assertEquals((await ask("GET", "/api/v1/processes")).body.length, 1);
  assertEquals((await ask("GET", "/api/v1/system/metrics")).body.process_count, 1);
  assertEquals((await ask("GET", "/api/v1/webhooks")).body, []);
  assertStringIncludes(answers.get("logs")!, "hello");
});

Deno.test("acting on another app fails as if it did not exist, and a group is its part of it", async () => {
  await using scene = await limited();
  const { web, ask } = scene;
  const hidden = await web.daemon.status(HIDDEN);
  const missing = "nobodyhere";
  for (const target of [HIDDEN, hidden.id, String(hidden.numeric_id), "ns:other", "tag:web"]) {
    for (const verb of ["stop", "restart", "start", "flush", "reload"]) {
      const path = (name: string) => `/api/v1/processes/${encodeURIComponent(name)}/${verb}`;
      const [answer, other] = [await ask("POST", path(target)), await ask("POST", path(missing))];
      assertEquals(answer.status, 404, `${verb} ${target}`);
      assertEquals(answer.text.replaceAll(target, missing), other.text);
    }
  }
  assertEquals((await ask("POST", "/api/v1/save")).status, 403);
  assertEquals((await ask("POST", "/api/v1/processes/all/restart")).status, 200);
  assertEquals((await web.daemon.status(HIDDEN)).pid, hidden.pid);

  const call = async (action: string, payload?: unknown) =>
    (await ask("POST", "/ipc", { action, payload })).body;
  assertEquals((await call("stop", HIDDEN)).code, "process_not_found");
  assertEquals((await call("list")).data.length, 1);

  // The same by the socket, where a named token works too.
  const socket = pathsIn(web.daemon.home).socket;
  const token = scene.authorization.split(" ")[1]!;
  const ipc = async (verb: string, payload: unknown) => {
    using connection = await Deno.connect({ transport: "unix", path: socket });
    const body = JSON.stringify({ action: verb, payload });
    const head = `POST /ipc HTTP/1.1\r\nauthorization: Bearer ${token}\r\n` +
      `content-length: ${body.length}\r\n\r\n`;
    await connection.write(new TextEncoder().encode(head + body));
    return (await new Response(connection.readable).text()).split("\r\n\r\n")[1]!;
  };
  assertStringIncludes(await ipc("stop", HIDDEN), "process_not_found");
  assertEquals(JSON.parse(await ipc("list", undefined)).data.length, 1);
  assertStringIncludes(await ipc("token_create", { name: "x" }), "forbidden");

  // The journal names who asked.
  const { events } = await web.daemon.client.call("events", { target: "cart", type: "asked" });
  assertEquals(events.map(({ by, reason }) => [by, reason]).at(-1), ["token ci", "restart"]);
  const all = await web.daemon.client.call("events", { target: HIDDEN, type: "asked" });
  assertEquals(all.events.map(({ by, reason }) => [by, reason]), [["owner", "add"]]);
  const cli = await web.daemon.cli("events", "cart");
  assertStringIncludes(cli.stdout, "asked  restart  by token ci");
});

Deno.test("streams of a limited token have its apps only, also those that come later", async () => {
  await using scene = await limited();
  const { web, authorization } = scene;
  const { client } = web.daemon;
  const socket = new WebSocket(`${web.url.replace("http", "ws")}/ws`, {
    headers: { authorization },
  });
  using feed = new TestFeed(socket);
  await feed.opened;
  feed.send({ type: "subscribe", topics: ["events", "logs", "system_metrics"], target: "all" });
  feed.send({ type: "open_log", id: 1, target: ["all"] });
  feed.send({ type: "open_log", id: 2, target: [HIDDEN] });
  feed.send({ type: "attach", id: 3, target: HIDDEN });
  await waitFor(() => feed.of("subscribed").length > 1, { what: "the subscription" });
  const streams = await Promise.all(["/events", "/logs?follow=true"].map(async (path) => {
    const { body } = await fetch(`${web.url}/api/v1${path}`, { headers: { authorization } });
    let text = "";
    const reading = body!.pipeThrough(new TextDecoderStream())
      .pipeTo(new WritableStream({ write: (part) => void (text += part) })).catch(() => {});
    return { text: () => text, reading };
  }));
  await client.call("restart", HIDDEN);
  const later = { entrypoint: "/bin/sh", args: ["-c", "echo later; exec sleep 1000"], cwd: "/" };
  const config = { ...later, name: "later", namespace: "shop", min_uptime: "10ms" };
  await client.call("add", { config, wait: true });
  await client.call("delete", "later");
  const has = (text: string, ...words: string[]) => words.every((word) => text.includes(word));
  await waitFor(() => has(streams[0]!.text(), "later", "deleted"), { what: "the events" });
  await waitFor(() => has(streams[1]!.text(), "hello", "later"), { what: "the logs" });
  await waitFor(() => has(feed.texts.join(), "later", "deleted"), { what: "the WebSocket" });
  const refused = feed.of("error").map(({ id, code }) => `${id} ${code}`).sort();
  assertEquals(refused, ["2 process_not_found", "3 process_not_found"]);
  const all = [
    ...feed.texts.filter((text) => !has(text, "not_found")),
    ...streams.map((it) => it.text()),
  ];
  for (const text of all) assert(!text.includes(HIDDEN), text);

  // What it opened ends with the token.
  await client.call("token_revoke", { name: "ci" });
  await waitFor(() => feed.closed !== undefined, { what: "the WebSocket to close" });
  await Promise.all(streams.map(({ reading }) => reading));
});

Deno.test("an agent with a limited token has no other apps", async () => {
  await using scene = await limited();
  const { web, ask } = scene;
  const tool = async (name: string, args: unknown) => {
    const params = { name, arguments: args };
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
    const accept = "application/json, text/event-stream";
    const { authorization } = scene;
    return (await web.ask("POST", "/mcp", message, { authorization, accept })).text;
  };
  assertStringIncludes(await tool("list_apps", {}), "cart");
  for (const name of ["get_status", "get_logs", "stop_app", "get_events"]) {
    assertStringIncludes(await tool(name, { target: HIDDEN }), "process_not_found", name);
  }
  for (const name of ["list_apps", "search_logs", "get_events"]) {
    assert(!(await tool(name, {})).includes(HIDDEN), name);
  }
  assertEquals((await ask("GET", "/api/v1/processes/cart")).status, 200);
});

Deno.test("a token expires with its sessions and streams, and frees its name", async () => {
  await using home = tempHome();
  const clock = new FakeClock();
  const tokens = new NamedTokens(`${home.path}/tokens.json`, () => {}, clock);
  const sessions = new Sessions(clock);
  const gatekeeper = new Gatekeeper({
    ...{ isOwner: () => false, tokens, sessions, clock },
    attempts: new SignInRateLimit(clock),
  });
  const { token, expires_at } = await tokens.create("ci", { role: "read", expires: "1h" });
  assertEquals(Date.parse(expires_at!), clock.now() + 3_600_000);
  const sender = { authorization: `Bearer ${token}`, address: "a" };
  const principal = await gatekeeper.identify(sender);
  let ended = 0;
  gatekeeper.whenRevoked(principal, () => ended++);
  const key = await publicText(await newKeyPair());
  gatekeeper.whenRevoked(await gatekeeper.openSession(principal, key), () => ended++);
  await assertRejects(() => tokens.create("ci", { role: "read" }), ProcsupError, "exists already");
  clock.advance(3_600_001);
  assertEquals(ended, 2);
  await assertRejects(() => gatekeeper.identify(sender), ProcsupError, "missing or wrong");
  assertEquals(clock.pending, 0);
  await tokens.create("ci", { role: "read" });
  for (const expires of ["0s", "yesterday", "2020-01-01", "soon", "-1d"]) {
    await assertRejects(() => tokens.create("b", { role: "read", expires }), ProcsupError, expires);
  }
  for (const word of ["all", "ns:", "a b", "0", ""]) {
    const create = tokens.create("b", { role: "read", only: [word] });
    await assertRejects(() => create, ProcsupError, `Invalid "only"`);
  }
  const boss = tokens.create("b", { role: "admin", only: ["ns:shop"] });
  await assertRejects(() => boss, ProcsupError, "can run any command");
});
