import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Client, SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { denoDir, isAlive, programWords, TestDaemon } from "../support/procsup.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";
import { onStdio, refusal, serveMcp, use } from "./clients.ts";

const daemon = TestDaemon.ofFile();

Deno.test("procsup mcp finds the daemon by HOME alone", async () => {
  await using daemon = await TestDaemon.start();
  await using user = tempHome();
  await Deno.symlink(daemon.home, `${user.path}/.procsup`);
  const [command, ...args] = programWords();
  const transport = new StdioClientTransport({
    command: command!,
    args: [...args, "mcp"],
    env: { HOME: user.path, DENO_DIR: denoDir() },
    cwd: "/",
  });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  assertEquals(await use(client, "list_apps"), { processes: [] });
  await client.close();
});

Deno.test("procsup mcp reports that no daemon answers, and works once one does", async () => {
  await using daemon = await TestDaemon.start();
  await daemon.terminate();
  await using connected = await onStdio(daemon.home);
  const { client } = connected;
  assertMatch(
    await refusal(client, "list_apps"),
    /daemon_unreachable[^]*procsup daemon --detach \(a terminal command/,
  );
  assertStringIncludes(
    await client.readResource({ uri: "apps://list" }).then(() => "worked", String),
    "No daemon answers",
  );
  await daemon.run();
  assertEquals(await use(client, "list_apps"), { processes: [] });
  await daemon.kill();
  assertStringIncludes(await refusal(client, "get_status", { target: "x" }), "daemon_unreachable");
});

const INITIALIZE = initialize("2025-06-18");

function initialize(protocolVersion: string): string {
  const clientInfo = { name: "test", version: "1" };
  const params = { protocolVersion, capabilities: {}, clientInfo };
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
}

/** A bridge whose input the test writes and closes. */
function bareBridge(home: string) {
  const [command, ...args] = programWords();
  const bridge = new Deno.Command(command!, {
    args: [...args, "mcp", "--home", home],
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const input = bridge.stdin.getWriter();
  const output = bridge.stdout.pipeThrough(new TextDecoderStream()).getReader();
  return { bridge, input, output };
}

Deno.test("every protocol version of the SDK can be negotiated, over both transports", async () => {
  await using server = serveMcp(daemon);
  assert(SUPPORTED_PROTOCOL_VERSIONS.includes("2024-11-05"));
  await Promise.all(SUPPORTED_PROTOCOL_VERSIONS.map(async (version) => {
    const { bridge, input, output } = bareBridge(daemon.home);
    await input.write(new TextEncoder().encode(`${initialize(version)}\n`));
    const { value } = await output.read();
    assertEquals(JSON.parse(value!).result.protocolVersion, version);
    await input.close();
    await bridge.status;
    await output.cancel();
    const response = await fetch(server.url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: initialize(version),
    });
    assertStringIncludes(await response.text(), `"protocolVersion":"${version}"`);
  }));
});

Deno.test("procsup mcp exits when its input ends, and writes only protocol messages", async () => {
  const { bridge, input, output } = bareBridge(daemon.home);
  await input.write(new TextEncoder().encode(`${INITIALIZE}\n`));
  const { value } = await output.read();
  const answer = JSON.parse(value!);
  assertEquals([answer.id, answer.result.protocolVersion], [1, "2025-06-18"]);
  await input.close();
  assertEquals((await bridge.status).code, 0);
  assertEquals((await output.read()).done, true);
});

Deno.test("procsup mcp answers every request before its input ended, including the last line", async () => {
  await daemon.startScript("app", "exec sleep 1000");
  const call = (id: number, name: string, args: object) =>
    JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } });
  const cancelled = {
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: 3 },
  };
  const { bridge, input, output } = bareBridge(daemon.home);
  const lines = [
    INITIALIZE,
    call(2, "list_apps", {}),
    call(3, "restart_app", { target: "app" }),
    JSON.stringify(cancelled),
    call(4, "restart_app", { target: "app" }),
  ];
  await input.write(new TextEncoder().encode(lines.join("\n")));
  await input.close();
  let text = "";
  for (let read = await output.read(); !read.done; read = await output.read()) text += read.value;
  const answers = text.trimEnd().split("\n").map((line) => JSON.parse(line));
  const ids = answers.map(({ id, result }) => [id, result?.isError ?? false]);
  assertEquals(ids.filter(([id]) => id !== 3), [[1, false], [2, false], [4, false]]);
  assertEquals((await bridge.status).code, 0);
});

Deno.test("procsup mcp answers each invalid line, and each message of a batch", async () => {
  const { bridge, input, output } = bareBridge(daemon.home);
  const ping = (id: unknown) => ({ jsonrpc: "2.0", id, method: "ping" });
  const lines = [
    INITIALIZE,
    "not json",
    "",
    "[]",
    JSON.stringify(ping(1.5)),
    JSON.stringify({ id: 5, method: "ping" }),
    JSON.stringify([ping("a"), 7, ping(6)]),
    `${JSON.stringify(ping(8))}\r`,
  ];
  // In chunks that end in the middle of lines.
  const bytes = new TextEncoder().encode(`${lines.join("\n")}\n`);
  for (let at = 0; at < bytes.length; at += 100) await input.write(bytes.subarray(at, at + 100));
  let text = "";
  await waitFor(async () => {
    text += (await output.read()).value ?? "";
    return text.split("\n").length > 9;
  });
  const answers = text.trimEnd().split("\n").map((line) => JSON.parse(line));
  const told = answers.map(({ id, error }) => `${id} ${error?.code ?? "ok"}`);
  assertEquals(told.toSorted(), [
    "1 ok",
    "5 -32600",
    "6 ok",
    "8 ok",
    "a ok",
    "null -32600",
    "null -32600",
    "null -32600",
    "null -32700",
  ]);
  await input.close();
  await bridge.status;
  await output.cancel();
});

Deno.test("procsup mcp exits when a message is too large", async () => {
  const { bridge, input, output } = bareBridge(daemon.home);
  const piece = new Uint8Array(1024 * 1024).fill(120);
  for (let sent = 0; sent < 11; sent++) await input.write(piece).catch(() => {});
  assertEquals((await bridge.status).code, 0);
  await output.cancel();
  await input.abort().catch(() => {});
});

Deno.test("procsup mcp exits when its input ends at once, or in the middle of a message", async () => {
  const codes = await Promise.all(
    ["", `${INITIALIZE}\n`, INITIALIZE.slice(0, 20)].map(async (text) => {
      const { bridge, input, output } = bareBridge(daemon.home);
      await input.write(new TextEncoder().encode(text));
      await input.close();
      const { code } = await bridge.status;
      await output.cancel();
      return code;
    }),
  );
  assertEquals(codes, [0, 0, 0]);
});

Deno.test("a verb is completed even if its client disconnects meanwhile", async () => {
  await daemon.startScript("slow", "trap 'sleep 1; exit 0' TERM; while :; do sleep 0.1; done");
  const { pid } = await daemon.status("slow");
  const { bridge, input, output } = bareBridge(daemon.home);
  const params = { name: "stop_app", arguments: { target: "slow" } };
  const call = JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/call", params });
  await input.write(new TextEncoder().encode(`${INITIALIZE}\n${call}\n`));
  await waitFor(async () => (await daemon.status("slow")).state === "stopping");
  bridge.kill("SIGKILL");
  await bridge.status;
  await Promise.all([input.abort().catch(() => {}), output.cancel()]);
  await waitFor(async () => (await daemon.status("slow")).state === "stopped");
  assert(!isAlive(pid));
});

Deno.test("/mcp rejects invalid requests", async () => {
  await using server = serveMcp(daemon);
  const post = async (body: string, headers: Record<string, string> = {}) => {
    const response = await fetch(server.url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers,
      },
      body,
    });
    await response.body?.cancel();
    return response.status;
  };
  assertEquals(await post("{"), 400);
  assertEquals(await post("{}", { "content-type": "text/plain" }), 415);
  assertEquals(await post(`"${"x".repeat(1_100_000)}"`), 413);
  const get = await fetch(server.url);
  await get.body?.cancel();
  assertEquals(get.status, 405);
  const call = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
  assertEquals(await post(JSON.stringify(call)), 200);
  assertEquals(await post(JSON.stringify(call), { "mcp-protocol-version": "1999-01-01" }), 400);
});

Deno.test("the daemon loads the SDK only at the first request", async () => {
  const root = import.meta.resolve("../../src/daemon/daemon.ts");
  const info = await new Deno.Command(Deno.execPath(), { args: ["info", "--json", root] }).output();
  const { modules } = JSON.parse(new TextDecoder().decode(info.stdout));
  // deno-lint-ignore no-explicit-any
  const bySpecifier = new Map<string, any>(modules.map((one: any) => [one.specifier, one]));
  const eager = new Set([root]);
  for (const specifier of eager) {
    for (const { code, isDynamic } of bySpecifier.get(specifier)?.dependencies ?? []) {
      if (code !== undefined && !isDynamic) eager.add(code.specifier);
    }
  }
  assertEquals([...eager].filter((specifier) => /modelcontextprotocol/.test(specifier)), []);
  assert(eager.size > 100, `${eager.size} modules`);
});
