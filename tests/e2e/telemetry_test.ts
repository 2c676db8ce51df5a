/** OTLP over HTTP by Deno's own exporter, to a receiver of its JSON form. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { TestDaemon } from "../support/procsup.ts";
import { waitFor } from "../support/wait_for.ts";

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** Every object with this key in a message, at any depth. */
function* withKey(message: unknown, key: string): Generator<Readonly<Record<string, unknown>>> {
  if (typeof message !== "object" || message === null) return;
  if (key in message) yield message as Record<string, unknown>;
  for (const inner of Object.values(message)) yield* withKey(inner, key);
}

function attributesOf(one: unknown): Record<string, unknown> {
  const { attributes } = one as { attributes: readonly Attribute[] };
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

Deno.test("a daemon with OTEL_DENO exports figures and events; its apps do not inherit OTEL_ variables", async () => {
  const got: unknown[] = [];
  await using receiver = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async (request) => {
      got.push(await request.json());
      return Response.json({});
    },
  );
  await using daemon = await TestDaemon.start();
  await daemon.terminate();
  await daemon.run({
    OTEL_DENO: "true",
    OTEL_SERVICE_NAME: "procsup",
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${receiver.addr.port}`,
    OTEL_METRIC_EXPORT_INTERVAL: "200",
    OTEL_BSP_SCHEDULE_DELAY: "200",
  });
  await daemon.startScript("api", "env; exit 7", { restart_policy: "never" }).catch(() => {});
  await daemon.startScript("web", "exec sleep 1000");
  const metric = (name: string) =>
    got.flatMap((message) => [...withKey(message, "gauge"), ...withKey(message, "sum")])
      .findLast((one) => one.name === name);
  const points = (name: string) =>
    [...withKey(metric(name), "timeUnixNano")]
      .map((point) => [attributesOf(point).app, point.asDouble]);
  await waitFor(() => points("procsup_process_up").length === 2);
  assertEquals(points("procsup_process_last_exit_code").at(-1), ["api", 7]);
  const spans = () => got.flatMap((message) => [...withKey(message, "spanId")]);
  await waitFor(() => spans().some((span) => span.name === "crashed"));
  const { app, reason } = attributesOf(spans().find(({ name }) => name === "crashed"));
  assertEquals([app, reason], ["api", "exited with code 7"]);
  const { logs } = await daemon.client.call("logs", { target: "api", lines: 0 });
  assertStringIncludes(logs, "PROCSUP_RUN_ID=");
  assertEquals(logs.split("\n").filter((line) => line.startsWith("OTEL_")), []);
});
