/** MCP on standard input and output: one client, for as long as it keeps the input open. */

import process from "node:process";
import type { JSONRPCMessage, McpServer } from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import type { Call, Changes } from "./call.ts";
import { type Notifier, watchChanges } from "./change_watch.ts";
import { createServer } from "./server.ts";
import { messagesOf, OpenRequests } from "./stdio_input.ts";
import { type Grant, grantedTools } from "./tool_names.ts";

/** Time in which a daemon that works has opened its stream of news. */
const LISTENING_MS = 1_000;

/** How the bridge serves. */
export interface StdioOptions extends Grant {
  /** Where relative paths of `start_app` are looked for. */
  readonly cwd?: string;
  readonly changes: Changes;
  /** Gets what goes wrong beside the protocol. */
  readonly onError?: (error: Error) => void;
}

/** Tells which requests are answered. */
class Transport extends StdioServerTransport {
  readonly #open: OpenRequests;

  constructor(open: OpenRequests) {
    super(messagesOf(process.stdin, open, (line) => process.stdout.write(line)));
    this.#open = open;
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    await super.send(message);
    if (!("method" in message)) this.#open.answered(message.id);
  }
}

/** Serves until the client closes the input, and answers what it asked before. */
export async function serveOnStdio(call: Call, options: StdioOptions): Promise<void> {
  const { cwd, changes, onError } = options;
  const ended = Promise.withResolvers<void>();
  const stop = new AbortController();
  const notifier = new ClientNotifier();
  const granted = grantedTools(options);
  const transport = new Transport(new OpenRequests());
  const names = async () => (await call("list")).map(({ name }) => name);
  const watch = watchChanges({ changes, names }, notifier, stop.signal);
  const handle = serveStdio(async ({ era }) => {
    // A subscriber misses nothing; a daemon that hangs delays clients only this long.
    await within(watch.listening, LISTENING_MS);
    const server = createServer(call, { granted, cwd, tells: true, onError });
    notifier.follow(server, era === "modern");
    return server;
  }, { transport, ...(onError === undefined ? {} : { onerror: onError }) });
  const onclose = transport.onclose;
  transport.onclose = () => {
    onclose?.();
    ended.resolve();
  };
  await ended.promise;
  stop.abort();
  await watch.ended;
  await handle.close();
  // What was written last is on its way.
  await new Promise((written) => process.stdout.write("", written));
}

/** When a promise is settled, or that time is over. */
function within(promise: Promise<void>, ms: number): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  return Promise.race([promise, over]).finally(() => clearTimeout(timer));
}

/** Passes news on to the server that the client talks to, as the protocol of its time wants it. */
class ClientNotifier implements Notifier {
  #server: McpServer | undefined;
  /** Undefined with clients of 2026 and later: their subscriptions are kept by the transport. */
  #subscribed: Set<string> | undefined;
  #open = false;

  /** Turns to a new server; a client that probes the protocol makes two in a row. */
  follow(server: McpServer, modern: boolean): void {
    this.#server = server;
    this.#open = modern;
    this.#subscribed = modern ? undefined : keptSubscriptions(server);
    // No news before a client of 2025 has finished its handshake.
    if (!modern) server.server.oninitialized = () => this.#open = true;
  }

  resourcesChanged(): void {
    if (this.#open && this.#server?.isConnected()) this.#server.sendResourceListChanged();
  }

  resourceUpdated(uri: string): void {
    if (!this.#open || !this.#server?.isConnected()) return;
    if (this.#subscribed?.has(uri) === false) return;
    // A client that goes away meanwhile wants no news.
    this.#server.server.sendResourceUpdated({ uri }).catch(() => {});
  }
}

/** Takes a 2025 client's subscriptions; at most as many as it could have resources. */
function keptSubscriptions({ server }: McpServer): Set<string> {
  const uris = new Set<string>();
  server.setRequestHandler("resources/subscribe", ({ params: { uri } }) => {
    if (uris.size < MAX_SUBSCRIPTIONS) uris.add(uri);
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    uris.delete(uri);
    return {};
  });
  return uris;
}

const MAX_SUBSCRIPTIONS = 30_000;
