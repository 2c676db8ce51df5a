/** MCP on standard input and output, for one client, until it closes the input. */

import process from "node:process";
import type { JSONRPCMessage, McpServer } from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import type { Call, Changes } from "./call.ts";
import { type Notifier, watchChanges } from "./change_watch.ts";
import { createServer } from "./server.ts";
import { messagesOf, OpenRequests } from "./stdio_input.ts";
import { type Grant, grantedTools } from "./tool_names.ts";

/** Time within which a working daemon opens its event stream. */
const LISTENING_MS = 1_000;

export interface StdioOptions extends Grant {
  /** Folder that relative paths of `start_app` are resolved against. */
  readonly cwd?: string;
  readonly changes: Changes;
  /** Called with errors outside of the protocol. */
  readonly onError?: (error: Error) => void;
}

/** Keeps track of which requests were answered. */
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

/** Serves until the client closes the input and all its requests are answered. */
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
    // Subscribers must not miss changes, but a hanging daemon delays clients only this long.
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
  // Wait until the last output is written.
  await new Promise((written) => process.stdout.write("", written));
}

/** Resolves when a promise settles, or after `ms`. */
function within(promise: Promise<void>, ms: number): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  return Promise.race([promise, over]).finally(() => clearTimeout(timer));
}

/** Notifies the server that the client uses, in the way of its protocol version. */
class ClientNotifier implements Notifier {
  #server: McpServer | undefined;
  /** Undefined for clients of 2026 and later: the transport keeps their subscriptions. */
  #subscribed: Set<string> | undefined;
  #open = false;

  /** Switches to a new server: a client that probes the protocol creates two in a row. */
  follow(server: McpServer, modern: boolean): void {
    this.#server = server;
    this.#open = modern;
    this.#subscribed = modern ? undefined : keptSubscriptions(server);
    // A client of 2025 must finish its handshake first.
    if (!modern) server.server.oninitialized = () => this.#open = true;
  }

  resourcesChanged(): void {
    if (this.#open && this.#server?.isConnected()) this.#server.sendResourceListChanged();
  }

  resourceUpdated(uri: string): void {
    if (!this.#open || !this.#server?.isConnected()) return;
    if (this.#subscribed?.has(uri) === false) return;
    // The client may go away meanwhile.
    this.#server.server.sendResourceUpdated({ uri }).catch(() => {});
  }
}

/** Keeps the subscriptions of a 2025 client: at most one for each resource that could exist. */
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
