import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { type Client, ProtocolError } from "@modelcontextprotocol/client";
import { TestDaemon } from "../support/procsup.ts";
import { waitFor } from "../support/wait_for.ts";
import { onHttp, onStdio, WAYS } from "./clients.ts";

const daemon = TestDaemon.ofFile();

const SLEEP = { entrypoint: "/bin/sleep", args: ["1000"], cwd: "/" };

for (const { name, connect } of WAYS) {
  Deno.test(`every resource is listed, read and completed over ${name}`, async () => {
    await daemon.client.call("start", { name: "web", ...SLEEP, instances: 2 });
    await daemon.startScript("Say_it.now", "echo hello; exec sleep 1000");
    await using connected = await connect(daemon);
    const { client } = connected;

    const { resources } = await client.listResources();
    assertEquals(resources.map(({ uri }) => uri), [
      "apps://list",
      "docs://topics",
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
      "docs://{topic}",
    ]);

    const all = await readJson(client, "apps://list");
    assertEquals(all.length, 3);
    assertEquals((await readJson(client, "apps://web:1")).instance_index, 1);
    assertEquals((await readJson(client, "apps://web%3A1")).instance_index, 1);
    const metrics = await readJson(client, "metrics://Say_it.now");
    assertEquals([metrics.name, metrics.state], ["Say_it.now", "running"]);
    assert(metrics.memory_bytes > 0);
    await waitFor(async () => (await readText(client, "logs://Say_it.now")) === "hello\n");

    const { completion } = await client.complete({
      ref: { type: "ref/resource", uri: "logs://{name}" },
      argument: { name: "name", value: "we" },
    });
    assertEquals(completion.values, ["web:0", "web:1"]);
    assertStringIncludes(await readText(client, "docs://topics"), "docs://restarts Restarts");
    assertStringIncludes(await readText(client, "docs://restarts"), "# Restarts\n");
    for (
      const uri of [
        "apps://nobody",
        "logs://nobody",
        "metrics://web",
        "apps://%zz",
        "docs://x",
        "other://x",
      ]
    ) {
      assertStringIncludes(
        await client.readResource({ uri }).then(() => "worked", String),
        "Error",
      );
    }
  });
}

Deno.test("many resources are listed in pages, and completions stop at the protocol's limit", async () => {
  // A new daemon, whose ids begin with 0: the cursors are ids.
  await using daemon = await TestDaemon.start();
  await daemon.client.call("start", { name: "many", ...SLEEP, instances: 102 });
  await using connected = await onHttp(daemon);
  const { client } = connected;
  const first = await client.listResources({ cursor: "0" });
  assertEquals([first.resources.length, first.resources[0]!.uri], [300, "apps://many:1"]);
  assertEquals(first.nextCursor, "100");
  const { resources } = await client.listResources();
  assertEquals([resources.length, resources.at(-1)!.uri], [308, "logs://many:101"]);
  await assertRejects(() => client.listResources({ cursor: "x" }), ProtocolError, "cursor");
  const { completion } = await client.complete({
    ref: { type: "ref/resource", uri: "apps://{name}" },
    argument: { name: "name", value: "many" },
  });
  assertEquals([completion.values.length, completion.total, completion.hasMore], [100, 102, true]);
});

Deno.test("a stdio client counts as connected only once it gets the daemon's events", async () => {
  await using daemon = await TestDaemon.start();
  Deno.kill(daemon.pid, "SIGSTOP");
  let isConnected = false;
  const connecting = onStdio(daemon.home, { mode: "legacy" }).finally(() => isConnected = true);
  try {
    // It was bound by that name.
    const path = `${daemon.home}/sock.`;
    const connections = () => Deno.readTextFileSync("/proc/net/unix").split(path).length - 2;
    await waitFor(() => connections() > 0, { what: "it to ask the daemon" });
    assert(!isConnected);
  } finally {
    Deno.kill(daemon.pid, "SIGCONT");
    await (await connecting)[Symbol.asyncDispose]();
  }
});

Deno.test("a subscribed 2025 client on stdio is notified of changes", async () => {
  let lists = 0;
  // At once: what was sent before an update has arrived before it.
  const resources = { autoRefresh: false, debounceMs: 0, onChanged: () => void lists++ };
  await using connected = await onStdio(daemon.home, {
    mode: "legacy",
    options: { listChanged: { resources } },
  });
  const { client } = connected;
  const updated: string[] = [];
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    updated.push(params.uri);
  });
  const uris = ["apps://web:1", "metrics://web%3A1", "logs://nobody", "no uri"];
  for (const uri of uris) await client.subscribeResource({ uri });
  await daemon.client.call("start", { name: "web", ...SLEEP, instances: 2 });
  await waitFor(() => updated.length >= 2, { what: "updates of web:1" });
  assertEquals(new Set(updated), new Set(uris.slice(0, 2)));
  const listed = lists;
  assert(listed > 0);

  await client.unsubscribeResource({ uri: "apps://web:1" });
  updated.length = 0;
  await daemon.client.call("restart", "web");
  await waitFor(() => updated.length > 0, { what: "an update" });
  assertEquals([new Set(updated), lists], [new Set(["metrics://web%3A1"]), listed]);

  // Anything may have happened while no client listened.
  updated.length = 0;
  await daemon.kill();
  await daemon.run();
  await waitFor(() => updated.length > 0 && lists > listed, { what: "all notifications" });
});

for (
  const { way, connect } of [
    { way: "stdio", connect: (daemon: TestDaemon) => onStdio(daemon.home) },
    { way: "HTTP", connect: (daemon: TestDaemon) => onHttp(daemon) },
  ]
) {
  Deno.test(`a 2026 client on ${way} is notified of changes while it listens`, async () => {
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
    await daemon.client.call("start", { name: "web", ...SLEEP });
    await waitFor(() => told.includes("list"), { what: "the list" });
    await waitFor(() => told.includes("metrics://web"), { what: "an update" });
    assert(told.includes("apps://list"));
    assert(!told.includes("logs://web"));
    await subscription.close();
  });
}

async function readText(client: Client, uri: string): Promise<string> {
  const { contents: [content] } = await client.readResource({ uri });
  return content !== undefined && "text" in content ? content.text : "";
}

// deno-lint-ignore no-explicit-any
async function readJson(client: Client, uri: string): Promise<any> {
  return JSON.parse(await readText(client, uri));
}
