import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Client, Resource } from "@modelcontextprotocol/client";
import { TestDaemon } from "../support/procsup.ts";
import { waitFor } from "../support/wait_for.ts";
import { onHttp, onStdio, WAYS } from "./clients.ts";

const SLEEP = { entrypoint: "/bin/sleep", args: ["1000"], cwd: "/" };

for (const { name, connect } of WAYS) {
  Deno.test(`every resource is listed, read and completed over ${name}`, async () => {
    await using daemon = await TestDaemon.start();
    await daemon.client.call("start", { name: "web", ...SLEEP, instances: 2 });
    await daemon.startScript("Say_it.now", "echo hello; exec sleep 1000");
    await using connected = await connect(daemon);
    const { client } = connected;

    const { resources } = await client.listResources();
    assertEquals(resources.map(({ uri }) => uri), [
      "apps://list",
      ...["web:0", "web:1", "Say_it.now"].flatMap((app) =>
        ["apps", "metrics", "logs"].map((scheme) => `${scheme}://${app}`)
      ),
    ]);
    for (const { description } of resources) assert(description);
    const { resourceTemplates } = await client.listResourceTemplates();
    assertEquals(resourceTemplates.map(({ uriTemplate }) => uriTemplate), [
      "apps://{name}",
      "metrics://{name}",
      "logs://{name}",
    ]);

    const all = await readJson(client, "apps://list");
    assertEquals(all.length, 3);
    assertEquals((await readJson(client, "apps://web:1")).instance_index, 1);
    const metrics = await readJson(client, "metrics://Say_it.now");
    assertEquals([metrics.name, metrics.state], ["Say_it.now", "running"]);
    assert(metrics.memory_bytes > 0);
    await waitFor(async () => (await readText(client, "logs://Say_it.now")) === "hello\n");

    const { completion } = await client.complete({
      ref: { type: "ref/resource", uri: "logs://{name}" },
      argument: { name: "name", value: "we" },
    });
    assertEquals(completion.values, ["web:0", "web:1"]);
    for (const uri of ["apps://nobody", "logs://nobody", "metrics://web", "other://x"]) {
      assertStringIncludes(
        await client.readResource({ uri }).then(() => "worked", String),
        "Error",
      );
    }
  });
}

Deno.test("a 2025 client on stdio is told of changes when it has subscribed", async () => {
  await using daemon = await TestDaemon.start();
  const lists: (Resource[] | null)[] = [];
  await using connected = await onStdio(daemon.home, {
    mode: "legacy",
    options: { listChanged: { resources: { onChanged: (_, items) => lists.push(items) } } },
  });
  const { client } = connected;
  const updated: string[] = [];
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    updated.push(params.uri);
  });
  await client.subscribeResource({ uri: "apps://web" });
  await startUntilTold(daemon, () => lists.length > 0);
  await waitFor(() => lists.at(-1)?.some(({ uri }) => uri === "apps://web"), { what: "the list" });
  await waitFor(() => updated.includes("apps://web"), { what: "an update of apps://web" });
  assertEquals(new Set(updated), new Set(["apps://web"]));
  await client.unsubscribeResource({ uri: "apps://web" });
});

for (
  const { way, connect } of [
    { way: "stdio", connect: (daemon: TestDaemon) => onStdio(daemon.home) },
    { way: "HTTP", connect: (daemon: TestDaemon) => onHttp(daemon) },
  ]
) {
  Deno.test(`a 2026 client on ${way} is told of changes while it listens`, async () => {
    await using daemon = await TestDaemon.start();
    await using connected = await connect(daemon);
    const { client } = connected;
    const told: string[] = [];
    client.setNotificationHandler("notifications/resources/list_changed", () => {
      told.push("list");
    });
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
      told.push(params.uri);
    });
    const subscription = await client.listen({
      resourcesListChanged: true,
      resourceSubscriptions: ["apps://list", "metrics://web"],
    });
    await startUntilTold(daemon, () => told.includes("list"));
    await waitFor(() => told.includes("metrics://web"), { what: "an update" });
    assert(told.includes("apps://list"));
    assert(!told.includes("logs://web"));
    await subscription.close();
  });
}

/** The bridge listens to the daemon a moment after its client is connected: news are made until one arrives. */
async function startUntilTold(daemon: TestDaemon, told: () => boolean): Promise<void> {
  await daemon.client.call("start", { name: "web", ...SLEEP });
  for (let made = 0; made < 20 && !told(); made++) {
    await daemon.client.call("start", { name: `other${made}`, ...SLEEP });
    await waitFor(told, { timeoutMs: 500 }).catch(() => {});
  }
  await daemon.client.call("restart", "web");
}

async function readText(client: Client, uri: string): Promise<string> {
  const { contents: [content] } = await client.readResource({ uri });
  return content !== undefined && "text" in content ? content.text : "";
}

// deno-lint-ignore no-explicit-any
async function readJson(client: Client, uri: string): Promise<any> {
  return JSON.parse(await readText(client, uri));
}
