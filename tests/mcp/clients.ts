/** The SDK's client, connected to procsup in the ways that agents use. */

import {
  type CallToolResult,
  Client,
  type ClientOptions,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { ProcessChange } from "../../src/model/process_info.ts";
import { httpServer, type McpHttpOptions } from "../../src/mcp/http_server.ts";
import { ndjson } from "../../src/protocol/streams.ts";
import { programWords, type TestDaemon } from "../support/procsup.ts";

/** The client's protocol: that of 2025, or negotiated. */
export type Mode = "legacy" | "auto";

/** A connected client. */
export interface TestClient extends AsyncDisposable {
  readonly client: Client;
}

/** The four ways to connect a client. */
export const WAYS: readonly {
  readonly name: string;
  readonly connect: (daemon: TestDaemon, options?: ClientOptions) => Promise<TestClient>;
}[] = (["legacy", "auto"] as const).flatMap((mode) => [
  {
    name: `stdio, ${mode}`,
    connect: (daemon, options) => onStdio(daemon.home, { mode, options }),
  },
  { name: `HTTP, ${mode}`, connect: (daemon, options) => onHttp(daemon, { mode, options }) },
]);

/** What a client is connected to. */
export interface Connecting {
  readonly mode?: Mode;
  readonly options?: ClientOptions | undefined;
  /** Arguments of `procsup mcp`. */
  readonly args?: readonly string[];
  readonly serving?: McpHttpOptions;
}

function newClient({ mode = "auto", options }: Connecting): Client {
  return new Client({ name: "test", version: "1" }, { ...options, versionNegotiation: { mode } });
}

/** A client of `procsup mcp`. */
export async function onStdio(home: string, connecting: Connecting = {}): Promise<TestClient> {
  const client = newClient(connecting);
  const [command, ...words] = programWords();
  const args = [...words, "mcp", "--home", home, ...connecting.args ?? []];
  await client.connect(new StdioClientTransport({ command: command!, args }));
  return { client, [Symbol.asyncDispose]: () => client.close() };
}

/** A client of `/mcp`, and of the daemon behind it. */
export async function onHttp(
  daemon: TestDaemon,
  connecting: Connecting = {},
): Promise<TestClient> {
  const server = serveMcp(daemon, connecting.serving);
  const client = newClient(connecting);
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
  return {
    client,
    async [Symbol.asyncDispose]() {
      await client.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** `/mcp` on its own port. */
export function serveMcp(
  { client }: TestDaemon,
  options: McpHttpOptions = {},
): AsyncDisposable & { url: string } {
  const handler = httpServer((verb, payload, how) => client.call(verb, payload, how), {
    changes: async (signal) => {
      const stream = await client.stream("/events", signal);
      return changesOf(stream);
    },
    ...options,
  });
  const stop = new AbortController();
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {}, signal: stop.signal },
    (request) => handler(request),
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}/mcp`,
    async [Symbol.asyncDispose]() {
      // Not shutdown(): it waits for connections, and Deno's fetch may keep one open for ever if it
      // is aborted just as a chunk arrives.
      stop.abort();
      await server.finished;
    },
  };
}

async function* changesOf(stream: ReadableStream<Uint8Array>) {
  for await (const { value } of ndjson<ProcessChange>(stream, false)) yield value;
}

/** The structured answer of a successful tool; the text must contain it too. */
export async function use(
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
  // deno-lint-ignore no-explicit-any
): Promise<any> {
  const result = await client.callTool({ name, arguments: args });
  if (result.isError) throw new Error(`${name} failed: ${textOf(result)}`);
  const text = textOf(result);
  if (text !== JSON.stringify(result.structuredContent)) throw new Error(`${name}: other text`);
  return result.structuredContent;
}

/** The text of a failed tool. */
export async function refusal(
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
): Promise<string> {
  const result = await client.callTool({ name, arguments: args });
  if (!result.isError) throw new Error(`${name} worked`);
  return textOf(result);
}

function textOf({ content }: CallToolResult): string {
  const [first] = content;
  return first?.type === "text" ? first.text : "";
}
