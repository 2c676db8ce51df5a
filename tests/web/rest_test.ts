/** REST by its route table: the verb behind each route, and the answers to mistakes. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { PAGES } from "../../src/docs/pages.ts";
import { ProcsupError } from "../../src/model/errors.ts";
import { FakeWeb } from "./fake_backend.ts";

const P = "/api/v1/processes";

Deno.test("webApp() maps each documented route to its verb", async () => {
  await using web = new FakeWeb();
  const config = { name: "api", entrypoint: "/srv/api.ts", runtime: "deno", cwd: "/srv" };
  const rows: [string, string, unknown, number, unknown, string, unknown][] = [
    ["GET", P, undefined, 200, undefined, "list", undefined],
    ["GET", "/api/v1/tokens", undefined, 200, undefined, "token_list", undefined],
    [
      ...["POST", "/api/v1/tokens", { name: "ci", role: "read" }, 200, undefined] as const,
      ...["token_create", { name: "ci", role: "read" }] as const,
    ],
    ["DELETE", "/api/v1/tokens/ci", undefined, 200, undefined, "token_revoke", { name: "ci" }],
    ["GET", `${P}/api`, undefined, 200, undefined, "status", { target: "api" }],
    ["POST", P, config, 201, undefined, "add", { config, start: true }],
    [
      ...["POST", `${P}/api/stop`, undefined, 200, { status: "stopped" }, "stop"] as const,
      { target: "api", timeout: "5s" },
    ],
    [
      ...["POST", `${P}/api/stop?force=true&timeout=1m`, undefined, 200] as const,
      ...[{ status: "stopped" }, "stop", { target: "api", force: true, timeout: "1m" }] as const,
    ],
    ["POST", `${P}/api/restart`, undefined, 200, { status: "restarted" }, "restart", {
      target: "api",
    }],
    ["POST", `${P}/api/reload`, undefined, 200, { status: "reloaded" }, "reload", {
      target: "api",
    }],
    ["DELETE", `${P}/api`, undefined, 200, { status: "deleted" }, "delete", { target: "api" }],
    ["POST", `${P}/restart`, { target: ["api", "tag:db"], wait: true }, 200, undefined, "restart", {
      ...{ target: ["api", "tag:db"], wait: true },
    }],
    ["POST", `${P}/stop`, { target: ["api"], force: true }, 200, undefined, "stop", {
      ...{ target: ["api"], force: true },
    }],
    ["POST", `${P}/start`, { target: ["api"] }, 200, undefined, "start", { target: ["api"] }],
    ["POST", `${P}/delete`, { target: ["api"] }, 200, undefined, "delete", { target: ["api"] }],
    ["GET", `${P}/api/logs`, undefined, 200, undefined, "logs", {
      ...{ target: "api", lines: 50, stderr: false, timestamps: false },
    }],
    ["GET", "/api/v1/system/metrics", undefined, 200, undefined, "system_metrics", undefined],
  ];
  for (const [method, path, body, status, expected, verb, payload] of rows) {
    const answer = await web.ask(method, path, body === undefined ? {} : { body });
    assertEquals(answer.status, status, `${method} ${path}`);
    if (expected !== undefined) assertEquals(answer.body, expected, `${method} ${path}`);
    assertEquals(web.calls.at(-1), [verb, payload], `${method} ${path}`);
  }
});

Deno.test("webApp() answers a new process with 201 and its location only", async () => {
  await using web = new FakeWeb();
  const { status, headers, body } = await web.ask("POST", P, { body: { name: "api" } });
  assertEquals([status, headers.get("location")], [201, `${P}/1f3a9c00`]);
  assert(!("results" in body));
});

Deno.test("webApp() answers exactly as documented for an unknown process", async () => {
  await using web = new FakeWeb();
  const { status, body: { hint, ...body } } = await web.ask("GET", `${P}/ghost`);
  assertEquals([status, body], [404, { error: "process not found", code: "process_not_found" }]);
  assertStringIncludes(hint.text, 'Nothing matches "ghost"');
});

Deno.test("webApp() rejects invalid requests, and does nothing", async () => {
  await using web = new FakeWeb();
  const rows: [string, string, Parameters<FakeWeb["ask"]>[2], number, string][] = [
    ["POST", `${P}/api/stop?timeout=soon`, {}, 400, "bad_request"],
    ["POST", `${P}/api/stop?timeout=`, {}, 400, "bad_request"],
    ["POST", `${P}/api/stop?timeout=-5s`, {}, 400, "bad_request"],
    ["POST", `${P}/api/stop?force=yes`, {}, 400, "bad_request"],
    ["POST", `${P}/api/stop?forse=true`, {}, 400, "bad_request"],
    ["POST", `${P}/api/stop`, { body: { force: true } }, 400, "bad_request"],
    ["POST", `${P}/api/restart`, { body: { config: {} } }, 400, "bad_request"],
    ["POST", `${P}/restart`, { body: { target: [] } }, 400, "bad_request"],
    ["POST", `${P}/restart`, { body: {} }, 400, "bad_request"],
    ["POST", `${P}/restart?wait=true`, { body: { target: ["api"] } }, 400, "bad_request"],
    ["POST", `${P}/api/scale`, { body: { target: "x", instances: 2 } }, 400, "bad_request"],
    ["GET", `${P}/api/logs?lines=abc`, {}, 400, "bad_request"],
    ["GET", `${P}/api/logs?lines=-1`, {}, 400, "bad_request"],
    ["GET", `${P}/api/logs?lines=10001`, {}, 400, "bad_request"],
    ["GET", `${P}?tial=5`, {}, 400, "bad_request"],
    ["GET", "/ws", {}, 400, "bad_request"],
    ["GET", `${P}/api/logs?tial=5`, {}, 400, "bad_request"],
    ["GET", "/api/v1/events?tial=5", {}, 400, "bad_request"],
    ["GET", `${P}/%E0%A4%A`, {}, 400, "bad_request"],
    ["POST", P, {}, 400, "bad_request"],
    ["POST", P, { body: "{" }, 400, "bad_request"],
    ["POST", P, { body: "[".repeat(200_000) + "]".repeat(200_000) }, 400, "bad_request"],
    ["POST", P, { body: "[]" }, 400, "bad_request"],
    ["POST", P, { body: '"all"' }, 400, "bad_request"],
    ["POST", P, { body: "{}", headers: { "content-type": "text/plain" } }, 415, "not_json"],
    ["POST", `${P}/api/stop`, { headers: { "content-type": "text/plain" } }, 415, "not_json"],
    ["POST", P, { body: `{"name":"${"x".repeat(1024 * 1024)}"}` }, 413, "body_too_large"],
    ["PUT", P, {}, 405, "method_not_allowed"],
    ["OPTIONS", `${P}/api/stop`, {}, 405, "method_not_allowed"],
    ["GET", "/api/v1/nothing", {}, 404, "not_found"],
    ["GET", "/assets/../../etc/passwd", {}, 404, "not_found"],
    ["GET", "/assets/%2e%2e/%2e%2e/etc/passwd", {}, 404, "not_found"],
  ];
  for (const [method, path, init, status, code] of rows) {
    const answer = await web.ask(method, path, init);
    assertEquals([answer.status, answer.body.code], [status, code], `${method} ${path}`);
    assertEquals(Object.keys(answer.body), ["error", "code"]);
  }
  assertEquals(web.calls, []);
});

Deno.test("webApp() lists the methods of a path", async () => {
  await using web = new FakeWeb();
  const allow = async (path: string) => (await web.ask("TRY", path)).headers.get("allow");
  assertEquals(await allow(P), "GET, HEAD, POST");
  assertEquals(await allow(`${P}/api`), "GET, HEAD, DELETE, PATCH, PUT");
  assertEquals(await allow(`${P}/api/stop`), "POST");
});

Deno.test("webApp() answers a process's failure with the code of its error", async () => {
  const failed = { ...{ name: "api", id: "1", state: "errored", pid: 0 }, ok: false };
  await using web = new FakeWeb({
    restart: () => ({
      status: "restarted",
      results: [{ ...failed, error: "No", code: "start_failed" }],
    }),
    stop: () => {
      throw new ProcsupError("closed", "The supervisor is shutting down");
    },
    reload: () => {
      throw new TypeError("secret path");
    },
    flush: () => ({
      status: "flushed",
      results: [{ ...failed, error: "secret path", code: "internal" }],
    }),
  });
  const restarted = await web.ask("POST", `${P}/api/restart`);
  assertEquals([restarted.status, restarted.body], [422, { error: "No", code: "start_failed" }]);
  assertEquals((await web.ask("POST", `${P}/api/stop`)).status, 503);
  for (const verb of ["reload", "flush"]) {
    const internal = await web.ask("POST", `${P}/api/${verb}`);
    assertEquals([internal.status, internal.body.code], [500, "internal"]);
    assert(!internal.body.error.includes("secret"));
  }
});

Deno.test("webApp() does not let a body change a prototype", async () => {
  await using web = new FakeWeb();
  await web.ask("POST", P, { body: '{"__proto__":{"polluted":true},"name":"api"}' });
  assertEquals(({} as Record<string, unknown>).polluted, undefined);
});

Deno.test("webApp() streams events as lines, and as server-sent events for browsers", async () => {
  await using web = new FakeWeb();
  const change = { type: "running", at: new Date(0), id: "1".repeat(36), name: "api" } as const;
  const lines = ["*/*", "text/event-stream;q=0", "text/event-stream;q=0.1, application/x-ndjson"];
  for (const accept of [...lines, "text/event-stream", "text/event-stream, */*;q=0.5"]) {
    const response = await web.app.request("http://localhost/api/v1/events?target=no&target=api", {
      headers: { host: "localhost", accept, authorization: `Bearer ${"f".repeat(64)}` },
    });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    const sse = !lines.includes(accept);
    if (sse) assertEquals((await reader.read()).value, ": connected\n\n");
    const rest = { state: "running", pid: 5, restarts: 0, reason: "", exit: null } as const;
    for (const name of ["other", "api"]) web.publish({ ...change, ...rest, name });
    const text = (await reader.read()).value!;
    const item = JSON.parse(text.replace(/^data: /, ""));
    assertEquals([item.name, item.id, item.at], ["api", "11111111", "1970-01-01T00:00:00.000Z"]);
    assertEquals(text.startsWith("data: "), sse);
    await reader.cancel();
  }
});

Deno.test("webApp() ends a stream of events with the daemon's last event", async () => {
  await using web = new FakeWeb();
  const notice = { type: "upgrading", at: "now", from: "1.0.0", to: "2.0.0" } as const;
  for (const [accept, before] of [["*/*", ""], ["text/event-stream", ": connected\n\ndata: "]]) {
    const response = await web.app.request("http://localhost/api/v1/events", {
      headers: { host: "localhost", accept: accept!, authorization: `Bearer ${"f".repeat(64)}` },
    });
    web.backend.shutdownNotice.say(notice);
    assertEquals((await response.text()).trimEnd(), before + JSON.stringify(notice));
  }
});

Deno.test("webApp() streams log lines as lines, and as server-sent events for browsers", async () => {
  await using web = new FakeWeb();
  const lines = await web.ask("GET", "/api/v1/logs?target=api");
  assertEquals(lines.headers.get("content-type"), "application/x-ndjson");
  const items = lines.body.trimEnd().split("\n").map((text: string) => JSON.parse(text));
  assertEquals(items.map(({ line }: { line: string }) => line), ["<b>", "one\u2028still one"]);
  const accept = { headers: { accept: "text/event-stream" } };
  const events = await web.ask("GET", "/api/v1/logs?target=api", accept);
  const blocks = [": connected", ...items.map((item: unknown) => `data: ${JSON.stringify(item)}`)];
  assertEquals(events.body, blocks.map((block) => `${block}\n\n`).join(""));
});

Deno.test("webApp() serves the documentation without a token, with links between its pages", async () => {
  await using web = new FakeWeb();
  const get = (path: string) => web.ask("GET", path, { token: "" });
  assertStringIncludes((await get("/docs")).body, '<a href="./docs/restarts">Restarts</a>');
  const { headers, body } = await get("/docs/restarts");
  assertEquals(headers.get("content-type"), "text/html; charset=utf-8");
  assertStringIncludes(body, "<pre># Restarts\n");
  assertStringIncludes(body, '<a href="../docs/health">readiness</a>');
  assertEquals((await get("/docs/constructor")).status, 404);
  for (const topic of Object.keys(PAGES)) {
    const { body } = await get(`/docs/${topic}`);
    assert(!/\]\(/.test(body), `${topic}: a link is shown as Markdown`);
  }
});
