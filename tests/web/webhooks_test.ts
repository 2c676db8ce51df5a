/** Webhooks over REST: the verb behind each route, roles, and OpenAPI. */

import { assert, assertEquals } from "@std/assert";
import { Validator } from "@seriousme/openapi-schema-validator";
import { ProcsupError } from "../../src/model/errors.ts";
import type { WebhookJson, WebhookTestJson } from "../../src/protocol/wire.ts";
import { documentSchemas } from "../../src/web/openapi.ts";
import { type Answers, FakeWeb } from "./fake_backend.ts";

const W = "/api/v1/webhooks";

const RESULT: WebhookTestJson = {
  ...{ name: "on call", at: new Date(0).toISOString() },
  ...{ ok: false, status: 500, error: "it answered 500" },
};

const WEBHOOK: WebhookJson = {
  ...{ name: "on call", url: "https://hooks.example.com/…", events: ["crash"], only: ["all"] },
  ...{ format: "standard", signed: true, queued: 1, delivered: 2, failed: 3, dropped: 4 },
  last: { at: RESULT.at, ok: true, status: 204, error: "" },
};

const ANSWERS: Answers = {
  webhook_list: () => [WEBHOOK],
  webhook_set: ({ name, format }: { name: string; format: WebhookJson["format"] }) => ({
    ...{ ...WEBHOOK, name, format },
  }),
  webhook_delete: () => ({ status: "deleted" }),
  webhook_test: (payload: { name?: string }) => {
    if (payload.name === undefined) return [RESULT, { ...RESULT, name: "other" }];
    if (payload.name === RESULT.name) return [RESULT];
    throw new ProcsupError("not_found", `No webhook "${payload.name}": there are on call`);
  },
};

Deno.test("webApp() maps each webhook route to its verb", async () => {
  await using web = new FakeWeb(ANSWERS);
  const list = await web.ask("GET", W);
  assertEquals([list.status, list.body], [200, [WEBHOOK]]);
  const all = await web.ask("POST", `${W}/test`);
  assertEquals([all.status, all.body.length], [200, 2]);
  const one = await web.ask("POST", `${W}/on%20call/test`);
  assertEquals([one.status, one.body], [200, RESULT]);
  const set = await web.ask("PATCH", `${W}/chat`, { body: { format: "slack", only: null } });
  assertEquals([set.status, set.body], [200, { ...WEBHOOK, name: "chat", format: "slack" }]);
  assertEquals((await web.ask("DELETE", `${W}/chat`)).body, { status: "deleted" });
  assertEquals(web.calls, [
    ["webhook_list", undefined],
    ["webhook_test", {}],
    ["webhook_test", { name: "on call" }],
    ["webhook_set", { name: "chat", format: "slack", only: null }],
    ["webhook_delete", { name: "chat" }],
  ]);
});

Deno.test("webApp() lets the daemon answer a change of a webhook called test, whose path is also a route", async () => {
  const why = "POST /webhooks/test means all webhooks; use another name";
  await using web = new FakeWeb({
    ...ANSWERS,
    webhook_set: () => {
      throw new ProcsupError("invalid_config", why);
    },
  });
  const set = await web.ask("PATCH", `${W}/test`, { body: { format: "slack" } });
  assertEquals([set.status, set.body.error], [422, why]);
  assertEquals((await web.ask("DELETE", `${W}/test`)).status, 200);
  const { status, headers } = await web.ask("GET", `${W}/test`);
  assertEquals([status, headers.get("allow")], [405, "POST, PATCH, DELETE"]);
});

Deno.test("webApp() rejects unknown webhook names, methods and parameters", async () => {
  await using web = new FakeWeb(ANSWERS);
  const rows = [
    ["POST", `${W}/test/test`, {}, 404, "not_found"],
    ["POST", `${W}/%E0%A4%A/test`, {}, 400, "bad_request"],
    ["POST", `${W}/on%20call/test?wait=true`, {}, 400, "bad_request"],
    ["GET", `${W}/test`, {}, 405, "method_not_allowed"],
    ["POST", W, {}, 405, "method_not_allowed"],
    ["GET", `${W}/on%20call`, {}, 405, "method_not_allowed"],
  ] as const;
  for (const [method, path, init, status, code] of rows) {
    const answer = await web.ask(method, path, init);
    assertEquals([answer.status, answer.body.code], [status, code], `${method} ${path}`);
  }
  const { body } = await web.ask("POST", `${W}/ghost/test`);
  assertEquals(body.error, 'No webhook "ghost": there are on call');
});

Deno.test("webApp() lets every role read webhooks, but only an admin send something", async () => {
  await using web = new FakeWeb(ANSWERS);
  for (const role of ["read", "operate", "admin"] as const) {
    const { token } = await web.tokens.create(`a-${role}`, { role });
    const statusOf = async (method: string, path: string) =>
      (await web.ask(method, path, { token })).status;
    const tested = role === "admin" ? 200 : 403;
    assertEquals(
      [
        await statusOf("GET", W),
        await statusOf("POST", `${W}/test`),
        await statusOf("POST", `${W}/on%20call/test`),
      ],
      [200, tested, tested],
      role,
    );
  }
  assertEquals((await web.ask("GET", W, { token: "" })).status, 401);
});

Deno.test("openApi() has the webhook routes, with schemas that match their answers", async () => {
  await using web = new FakeWeb(ANSWERS);
  const { body } = await web.ask("GET", "/openapi.json");
  const { valid, errors } = await new Validator().validate(structuredClone(body));
  assert(valid, JSON.stringify(errors, null, 2));
  const one = body.paths[`${W}/{name}/test`].post;
  assertEquals(one.parameters.map(({ name }: { name: string }) => name), ["name"]);
  // deno-lint-ignore no-explicit-any
  const schemas = documentSchemas() as Record<string, any>;
  const keys = (schema: { properties: object }) => Object.keys(schema.properties).sort();
  assertEquals(keys(schemas.WebhookList.items), Object.keys(WEBHOOK).sort());
  assertEquals(keys(schemas.WebhookTest), Object.keys(RESULT).sort());
  assertEquals(schemas.WebhookTests.items, schemas.WebhookTest);
});
