/** The OpenAPI document, checked by a third-party validator. */

import { assert, assertEquals } from "@std/assert";
import { Ajv2020 as Ajv } from "ajv/dist/2020.js";
import { Validator } from "@seriousme/openapi-schema-validator";
import { REST_ROWS } from "../../src/verbs/mod.ts";
import { fakeProcess } from "../cli/fake_daemon.ts";
import { FakeWeb } from "./fake_backend.ts";

Deno.test("openApi() returns a document that a validator accepts, with every route", async () => {
  await using web = new FakeWeb();
  const { status, body } = await web.ask("GET", "/openapi.json");
  assertEquals(status, 200);
  const { valid, errors } = await new Validator().validate(structuredClone(body));
  assert(valid, JSON.stringify(errors, null, 2));
  assertEquals(body.openapi, "3.1.0");
  for (const { row: { method, path } } of REST_ROWS) {
    assert(body.paths[`/api/v1${path}`]?.[method.toLowerCase()] !== undefined, `${method} ${path}`);
  }
});

Deno.test("openApi() has schemas that accept what the daemon accepts", async () => {
  await using web = new FakeWeb();
  const { body } = await web.ask("GET", "/openapi.json");
  const takes = (schema: object, value: unknown) =>
    new Ajv({ strict: false }).validate(schema, value);
  const patch = body.components.schemas.ProcessConfigPatch;
  const removing = { tags: null, env: { A: null }, health_check: { interval: "5s" } };
  assertEquals([takes(patch, removing), takes(patch, { tags: 5 })], [true, false]);
  const { parameters } = body.paths["/api/v1/processes/{id}/stop"].post;
  const { schema } = parameters.find(({ name }: { name: string }) => name === "timeout");
  assertEquals(["own", "5s", 5e9].map((value) => takes(schema, value)), [true, true, false]);
});

Deno.test("openApi() has schemas that accept what the daemon answers after a year", async () => {
  await using web = new FakeWeb();
  const { body: { components: { schemas } } } = await web.ask("GET", "/openapi.json");
  const ajv = new Ajv({ strict: false, validateFormats: false });
  const yearNs = 365 * 86_400 * 1e9;
  const range = { since: "2026-01-01T00:00:00Z", until: "2027-01-01T00:00:00Z", step: yearNs };
  for (
    const [schema, value] of [
      [schemas.ProcessInfo, { ...fakeProcess(), uptime: yearNs }],
      [schemas.LogCounts, { ...range, counted_since: range.since, counts: [] }],
      [schemas.MetricsHistory, { ...range, series: [] }],
    ]
  ) assert(ajv.validate(schema, value), ajv.errorsText());
  const { uptime } = schemas.ProcessInfo.properties;
  assertEquals(uptime, { type: "integer", description: "Nanoseconds since its start" });
});

Deno.test("openApi() describes the session as the server answers it, and what needs no token", async () => {
  await using web = new FakeWeb();
  const { body: { paths } } = await web.ask("GET", "/openapi.json");
  const path = "/api/v1/session";
  const { get, post, delete: signOut } = paths[path];
  const takes = (schema: object, value: unknown) =>
    new Ajv({ strict: false }).validate(schema, value);
  const schemaOf = ({ content }: { content: Record<string, { schema: object }> }) =>
    content["application/json"]!.schema;

  const signIn = schemaOf(post.requestBody);
  const { id: key } = await web.session();
  const bodies = [{ key }, { key, code: "abc" }, { code: "abc" }, { key, code: 5 }];
  assertEquals(bodies.map((body) => takes(signIn, body)), [true, true, false, false]);
  const shown = await web.ask("GET", path);
  assertEquals([shown.status, takes(schemaOf(get.responses[200]), shown.body)], [200, true]);
  const opened = await web.ask("POST", path, { body: { key } });
  const signedIn = schemaOf(post.responses[201]);
  assertEquals([opened.status, takes(signedIn, opened.body)], [201, true]);
  assert(!takes(signedIn, shown.body), "an answer without the daemon's key");
  const ended = await web.ask("DELETE", path);
  assert(takes(schemaOf(signOut.responses[200]), ended.body));

  const open = [paths["/livez"], paths["/api/v1/ping"]].map(({ get }) => get.security);
  assertEquals([open, post.security], [[[], []], [{ bearer: [] }, {}]]);
  assertEquals(paths["/api/v1/processes"].get.security, undefined);
  for (const stream of ["events", "logs"]) {
    const { content } = paths[`/api/v1/${stream}`].get.responses[200];
    assertEquals(Object.keys(content), ["application/x-ndjson", "text/event-stream"]);
  }
});

Deno.test("openApi() defines every schema that it references", async () => {
  await using web = new FakeWeb();
  const { body } = await web.ask("GET", "/openapi.json");
  const names = [...JSON.stringify(body).matchAll(/"#\/components\/schemas\/(\w+)"/g)];
  assert(names.length > 10);
  for (const [, name] of names) assert(name! in body.components.schemas, name);
});

Deno.test("metricsText() writes the Prometheus format, with base units and escaped labels", async () => {
  await using web = new FakeWeb();
  const { status, headers, body } = await web.ask("GET", "/metrics");
  assertEquals(status, 200);
  assertEquals(headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  const labels = 'app="api",name="api",namespace="default",id="1f3a9c00"';
  for (
    const line of [
      `procsup_process_up{${labels}} 1`,
      `procsup_process_uptime_seconds{${labels}} 7980`,
      `procsup_process_cpu_usage_ratio{${labels}} 0.0123`,
      `procsup_process_cpu_seconds_total{${labels}} 12.5`,
      'procsup_alert_firing{app=".host",name=".host",when="load > \\"8\\""} 1',
      "# TYPE procsup_process_restarts_total counter",
      'procsup_processes{state="errored"} 0',
      'procsup_releases_total{result="rolled_back"} 0',
      "procsup_daemon_resident_memory_bytes 1",
    ]
  ) assert(body.split("\n").includes(line), `${line}\n${body}`);
});
