/**
 * MCP on standard input and output, for one client, until it closes the input. The SDK's transport
 * ignores invalid messages: they are answered here. Batches (protocol 2025-03-26) are split.
 */

import {
  JSONRPC_VERSION,
  type JSONRPCMessage,
  type McpServer,
  parseJSONRPCMessage,
  ProtocolErrorCode,
  STDIO_DEFAULT_MAX_BUFFER_SIZE,
} from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import process from "node:process";
import { type Readable, Transform } from "node:stream";
import { type Changes, type Notifier, watchChanges } from "./change_watch.ts";
import { createServer } from "./server.ts";
import { type Grant, grantedTools } from "./tool_names.ts";
import type { Call } from "./tools.ts";

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
    const server = createServer(call, { granted, cwd, notifies: true, onError });
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

/** Requests that were not answered yet. */
class OpenRequests {
  readonly #ids = new Set<unknown>();
  #none = Promise.withResolvers<void>();

  received({ id, method, params }: Message): void {
    if (method === "notifications/cancelled") this.answered(params?.requestId);
    // A subscription stays open as long as the connection.
    else if (id !== undefined && method !== undefined && method !== "subscriptions/listen") {
      this.#ids.add(id);
    }
  }

  answered(id: unknown): void {
    if (this.#ids.delete(id) && this.#ids.size === 0) {
      this.#none.resolve();
      this.#none = Promise.withResolvers();
    }
  }

  async allAnswered(): Promise<void> {
    if (this.#ids.size > 0) await this.#none.promise;
  }
}

interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: { readonly requestId?: unknown };
}

/**
 * The messages of `input`, one per line. `answer` receives a response line for each invalid one. The
 * stream ends after all requests are answered: at its end the transport drops the others.
 */
function messagesOf(
  input: Readable,
  open: OpenRequests,
  answer: (line: string) => void,
): Readable {
  let pieces: Uint8Array[] = [];
  let size = 0;
  const take = (line: readonly Uint8Array[]) => {
    for (const message of sorted(textOf(line), answer)) {
      open.received(message);
      messages.push(`${JSON.stringify(message)}\n`);
    }
  };
  const messages = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      let from = 0;
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
        take([...pieces, chunk.subarray(from, end)]);
        pieces = [];
        size = 0;
        from = end + 1;
      }
      pieces.push(chunk.subarray(from));
      size += chunk.length - from;
      // Pass the oversized line on, so that the transport fails.
      if (size > STDIO_DEFAULT_MAX_BUFFER_SIZE) this.push(Buffer.concat(pieces.splice(0)));
      done();
    },
    flush(done) {
      take(pieces);
      open.allAnswered().then(() => done());
    },
  });
  input.on("error", (error) => messages.destroy(error));
  return input.pipe(messages);
}

/** The valid messages in a line; answers the others. */
function sorted(line: string, answer: (line: string) => void): Message[] {
  if (line.trim() === "") return [];
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    answer(refusal(null, ProtocolErrorCode.ParseError, "Parse error: this line is not JSON"));
    return [];
  }
  if (!Array.isArray(value)) return isMessage(value, answer) ? [value] : [];
  if (value.length === 0) isMessage(undefined, answer);
  return value.filter((one) => isMessage(one, answer));
}

function isMessage(value: unknown, answer: (line: string) => void): value is Message {
  try {
    parseJSONRPCMessage(value);
    return true;
  } catch {
    const words = "Invalid request: this is not a message of JSON-RPC 2.0";
    answer(refusal(idOf(value), ProtocolErrorCode.InvalidRequest, words));
    return false;
  }
}

function idOf(value: unknown): string | number | null {
  const id = (value as { id?: unknown } | null | undefined)?.id;
  return typeof id === "string" || Number.isSafeInteger(id) ? id as string | number : null;
}

function refusal(id: string | number | null, code: number, message: string): string {
  return `${JSON.stringify({ jsonrpc: JSONRPC_VERSION, id, error: { code, message } })}\n`;
}

function textOf(pieces: readonly Uint8Array[]): string {
  const decoder = new TextDecoder();
  return pieces.map((piece) => decoder.decode(piece, { stream: true })).join("") + decoder.decode();
}
