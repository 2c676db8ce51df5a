/** `/mcp` on the daemon's web listener: same authentication, same roles. */

import { assertEquals, assertMatch } from "@std/assert";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { actorOf } from "../../src/auth/gatekeeper.ts";
import { TOOL_NAMES } from "../../src/mcp/tool_names.ts";
import { TestDaemon } from "../support/procsup.ts";
import { onStdio, use } from "./clients.ts";

const daemon = TestDaemon.ofFile();

async function connect(url: string, token: string, query = ""): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, {
    versionNegotiation: { mode: "auto" },
  });
  const headers = { authorization: `Bearer ${token}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp${query}`), { requestInit: { headers } }),
  );
  return client;
}

Deno.test("/mcp gives each role its tools", async () => {
  await daemon.startScript("app", "exec sleep 1000");
  const { url } = await daemon.client.call("web_start", { listen: "127.0.0.1:0" });
  const { token } = await daemon.client.call("token");
  const few = await connect(url, token, "?toolsets=jobs");
  const names = (await few.listTools()).tools.map(({ name }) => name);
  assertEquals(names, ["wait_for", "list_jobs", "run_job"]);
  await few.close();
  const headers = { authorization: `Bearer ${token}` };
  const wrong = await fetch(`${url}/mcp?toolsets=job`, { method: "POST", headers, body: "{}" });
  assertEquals([wrong.status, (await wrong.json()).code], [400, "bad_request"]);
  const owner = await connect(url, token);
  assertEquals((await owner.listTools()).tools.length, TOOL_NAMES.length);
  assertEquals((await use(owner, "stop_app", { target: "app" })).results[0].state, "stopped");
  await owner.close();

  for (const [role, tools] of [["read", 10], ["operate", 16]] as const) {
    const made = await daemon.client.call("token_create", { name: role, role });
    const client = await connect(url, made.token);
    assertEquals((await client.listTools()).tools.length, tools, role);
    assertEquals((await use(client, "list_apps")).processes.length, 1);
    await client.close();
  }
});

Deno.test("the record names an agent and its token, over both transports", async () => {
  await daemon.startScript("recorded", "exec sleep 1000");
  const { url } = await daemon.client.call("web_start", { listen: "127.0.0.1:0" });
  const { token } = await daemon.client.call("token_create", { name: "ci", role: "operate" });
  const remote = await connect(url, token);
  await use(remote, "reload_app", { target: "recorded" });
  await remote.close();
  for (const mode of ["legacy", "auto"] as const) {
    await using local = await onStdio(daemon.home, { mode });
    await use(local.client, "reload_app", { target: "recorded" });
  }
  const releases = await daemon.client.call("releases", { target: "recorded" });
  const expected = ["agent test (token ci)", "agent test (owner)", "agent test (owner)"];
  assertEquals(releases.map(({ by }) => by), expected);
  const { events } = await daemon.client.call("events", { target: "recorded", type: "asked" });
  assertEquals(events.map(({ by }) => by), ["owner", ...expected]);
});

Deno.test("actorOf() lets no agent look like another sender", () => {
  const names = ["x (owner)", "a\u202eb\n\u001b[2Jc", "n".repeat(99)];
  assertEquals(names.map((agent) => actorOf({ account: "ci", agent })), [
    "agent x owner (token ci)",
    "agent ab c (token ci)",
    `agent ${"n".repeat(40)}… (token ci)`,
  ]);
});

Deno.test("/mcp rejects requests without a token, from another site or with another host name", async () => {
  const { url } = await daemon.client.call("web_start", { listen: "127.0.0.1:0" });
  const { token } = await daemon.client.call("token");
  const status = async (headers: Record<string, string>) => {
    const response = await fetch(`${url}/mcp`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    });
    await response.body?.cancel();
    return response.status;
  };
  const authorization = `Bearer ${token}`;
  assertEquals(await status({}), 401);
  assertEquals(await status({ authorization: "Bearer wrong" }), 401);
  assertEquals(await status({ authorization, origin: "http://evil.example" }), 403);
  assertEquals(await statusUnder("evil.example", url, authorization), "403");
  assertEquals(await statusUnder(new URL(url).host, url, authorization), "405");
  assertEquals(await status({ authorization }), 200);
});

Deno.test("/mcp answers with the headers of the whole web surface", async () => {
  const { url } = await daemon.client.call("web_start", { listen: "127.0.0.1:0" });
  const { token } = await daemon.client.call("token");
  for (const body of [{ jsonrpc: "2.0", id: 1, method: "ping" }, {}]) {
    const response = await fetch(`${url}/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify(body),
    });
    await response.body?.cancel();
    const { headers } = response;
    assertEquals(
      [headers.get("x-content-type-options"), headers.get("x-frame-options")],
      ["nosniff", "DENY"],
    );
    assertMatch(headers.get("cache-control")!, /no-(store|cache)/);
  }
});

/** The status of a GET with another Host; `fetch` sets the header itself. */
async function statusUnder(host: string, url: string, authorization: string): Promise<string> {
  const { hostname, port } = new URL(url);
  using connection = await Deno.connect({ hostname, port: Number(port) });
  const lines = ["GET /mcp HTTP/1.1", `Host: ${host}`, `Authorization: ${authorization}`, "", ""];
  await connection.write(new TextEncoder().encode(lines.join("\r\n")));
  const bytes = new Uint8Array(64);
  const read = await connection.read(bytes);
  return new TextDecoder().decode(bytes.subarray(0, read ?? 0)).split(" ")[1] ?? "";
}
