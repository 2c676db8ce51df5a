/**
 * HTTP/1.1 on the daemon's Unix socket, one request per connection. The socket is private from the
 * start; closing never unlinks a successor's. Excess connections wait in the
 * socket's queue, so they never use up the descriptors that the daemon itself needs.
 */

import { ifPossible, ProcsupError } from "../model/errors.ts";
import { accept, mostConnections } from "../platform/sockets/accept.ts";
import { removeFile, removeIfPossible } from "../platform/files/atomic_file.ts";
import { sleep } from "../platform/clock.ts";
import type { HomePaths } from "../platform/files/paths.ts";
import { failure } from "../protocol/envelope.ts";
import { ByteReader, chunks, MAX_HEADERS, writeAll } from "../protocol/unix_http.ts";

export type Handler = (request: Request) => Response | Promise<Response>;

/** The maximum number of connections, and the log. */
interface UnixServerOptions {
  readonly most: number;
  readonly warn: (message: string) => void;
}

/** Time limit for a request to arrive, and the limit while others wait. */
const ARRIVAL_MS = 10_000;
const HURRY_MS = 250;
/** Interval of checking these limits. */
const LOOK_MS = 100;
/** How long the server may be full before connections are refused, and how many are refused at a time. */
const QUEUE_MS = 2000;
const MAX_REFUSALS = 2;
/** Share of connections that streams may use; commands need the rest. */
const STREAMS = 3 / 4;
/** Limits for reading the rest of a request that was answered early, so that its sender can read the answer. */
const MAX_REST_BYTES = 1024 * 1024;
const REST_MS = 1000;

const encoder = new TextEncoder();

export class UnixServer {
  readonly #listener: Deno.UnixListener;
  readonly #handler: Handler;
  readonly #most: number;
  readonly #over: Promise<void>;
  #open = 0;
  #streams = 0;
  /** When the server became full; undefined while it is not. */
  #fullSince: number | undefined;
  /** Connections whose requests have not fully arrived, with their start times. */
  readonly #arriving = new Map<Deno.UnixConn, number>();
  #room = Promise.withResolvers<void>();

  constructor(listener: Deno.UnixListener, handler: Handler, { most, warn }: UnixServerOptions) {
    this.#listener = listener;
    this.#handler = handler;
    this.#most = most;
    this.#over = accept<Deno.UnixConn>(listener, {
      room: () => this.#waitForRoom(),
      take: (connection) => void this.#serve(connection),
      warn: (message) => warn(`Socket: ${message}`),
    });
  }

  /** Accepts no more connections. Resolves when the open ones have ended. */
  async close(): Promise<void> {
    this.#listener.close();
    await this.#over;
    while (this.#open > 0) await this.#room.promise;
  }

  /** Resolves when the next connection may be accepted, to be served or refused. */
  async #waitForRoom(): Promise<void> {
    for (; this.#open >= this.#most; await Promise.race([this.#room.promise, sleep(LOOK_MS)])) {
      const now = performance.now();
      this.#fullSince ??= now;
      for (const [connection, since] of this.#arriving) {
        if (now - since > HURRY_MS) close(connection);
      }
      const isPatient = now < this.#fullSince + QUEUE_MS;
      if (!isPatient && this.#open < this.#most + MAX_REFUSALS) return;
    }
    this.#fullSince = undefined;
  }

  async #serve(connection: Deno.UnixConn): Promise<void> {
    const isTooMany = this.#open++ >= this.#most;
    const late = setTimeout(() => close(connection), ARRIVAL_MS);
    this.#arriving.set(connection, performance.now());
    const arrived = () => {
      clearTimeout(late);
      this.#arriving.delete(connection);
    };
    try {
      const request = await readRequest(new ByteReader(connection), arrived);
      const response = await this.#answer(request, isTooMany);
      const isWhole = !this.#arriving.has(connection);
      arrived();
      await this.#send(connection, response);
      if (!isWhole) await takeRest(connection);
    } catch {
      // The client is gone, or was too slow.
    } finally {
      arrived();
      close(connection);
      this.#open--;
      this.#room.resolve();
      this.#room = Promise.withResolvers();
    }
  }

  async #answer(request: Request | undefined, isTooMany: boolean): Promise<Response> {
    if (request === undefined) return refusal("bad_request", "The request is malformed");
    if (isTooMany) {
      return refusal("too_many_clients", `Too many connections: limit ${this.#most}`);
    }
    return await this.#handler(request);
  }

  async #send(connection: Deno.UnixConn, response: Response): Promise<void> {
    const { body, headers } = response;
    if (body === null || !/ndjson|event-stream/.test(headers.get("content-type") ?? "")) {
      const bytes = new Uint8Array(await response.arrayBuffer());
      return await write(connection, headOf(response, `content-length: ${bytes.length}`), bytes);
    }
    if (this.#streams >= this.#most * STREAMS) {
      await body.cancel();
      const message = `Too many streams: ${this.#streams} are open`;
      return await this.#send(connection, refusal("too_many_clients", message));
    }
    this.#streams++;
    try {
      await sendStream(connection, response, body);
    } finally {
      this.#streams--;
    }
  }
}

async function sendStream(
  connection: Deno.UnixConn,
  response: Response,
  body: ReadableStream<Uint8Array>,
): Promise<void> {
  const reader = body.getReader();
  // Stop when the client hangs up, even if there is nothing to send.
  const cancel = () => reader.cancel().catch(() => {});
  void drain(connection).then(cancel, cancel);
  try {
    await write(connection, headOf(response, "transfer-encoding: chunked"));
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const { value } = next;
      if (value.length === 0) continue;
      const size = encoder.encode(`${value.length.toString(16)}\r\n`);
      await write(connection, size, value, encoder.encode("\r\n"));
    }
    await write(connection, encoder.encode("0\r\n\r\n"));
  } catch (error) {
    await cancel();
    throw error;
  }
}

/** Reads a request and calls `arrived` once its body is complete. Undefined if it is malformed. */
async function readRequest(reader: ByteReader, arrived: () => void): Promise<Request | undefined> {
  const [method = "", path = "", version = ""] = (await reader.line()).split(" ");
  const lines: [string, string][] = [];
  for (let line = await reader.line(); line !== "";) {
    const colon = line.indexOf(":");
    if (colon < 1 || lines.length >= MAX_HEADERS) return undefined;
    lines.push([line.slice(0, colon), line.slice(colon + 1).trim()]);
    line = await reader.line();
  }
  // Clients that treat the socket as a proxy send a whole URL.
  const url = path.startsWith("/") ? `http://procsup${path}` : path;
  if (!/^http:\/\//i.test(url) || !/^HTTP\/1\.[01]$/.test(version)) return undefined;
  try {
    const headers = new Headers(lines);
    const announced = bodyOf(reader, headers);
    const source = method === "GET" ? undefined : announced;
    if (source === undefined) arrived();
    const body = source && ReadableStream.from(wholly(source, arrived));
    return new Request(url, { method, headers, body });
  } catch {
    return undefined;
  }
}

/** The body that the headers announce. Throws if they contradict each other. */
function bodyOf(
  reader: ByteReader,
  headers: Headers,
): AsyncIterable<Uint8Array<ArrayBuffer>> | undefined {
  const coding = headers.get("transfer-encoding");
  const length = headers.get("content-length");
  if (coding !== null) {
    if (length !== null || coding.toLowerCase() !== "chunked") throw new Error("two framings");
    return chunks(reader);
  }
  if (length === null || length === "0") return undefined;
  if (!/^\d{1,15}$/.test(length)) throw new Error("no length");
  return reader.upTo(Number(length));
}

/** Throws `bad_request` if the body is malformed or incomplete. */
async function* wholly<T>(source: AsyncIterable<T>, arrived: () => void): AsyncGenerator<T> {
  try {
    yield* source;
  } catch (cause) {
    throw new ProcsupError("bad_request", "The body is malformed or incomplete", { cause });
  }
  arrived();
}

function refusal(code: "bad_request" | "too_many_clients", message: string): Response {
  const { envelope, status } = failure(new ProcsupError(code, message));
  return Response.json(envelope, { status });
}

function headOf({ status, statusText, headers }: Response, framing: string): Uint8Array {
  const lines = [...headers].filter(([name]) => name !== "content-length")
    .map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${status} ${statusText}\r\n${
    lines.join("")
  }connection: close\r\n${framing}`;
  return encoder.encode(`${head}\r\n\r\n`);
}

async function write(connection: Deno.UnixConn, ...parts: readonly Uint8Array[]): Promise<void> {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  await writeAll(connection, bytes);
}

/** Reads the rest of the request for a moment, so that the client can read the answer. */
async function takeRest(connection: Deno.UnixConn): Promise<void> {
  await connection.closeWrite();
  const late = setTimeout(() => close(connection), REST_MS);
  await drain(connection, MAX_REST_BYTES).finally(() => clearTimeout(late));
}

/** Reads until the client hangs up, or `most` bytes have come. */
async function drain(connection: Deno.UnixConn, most = Infinity): Promise<void> {
  const bytes = new Uint8Array(4096);
  for (let taken = 0; taken < most;) {
    const size = await connection.read(bytes);
    if (size === null) return;
    taken += size;
  }
}

function close(connection: Deno.UnixConn): void {
  // Already closed.
  ifPossible(() => connection.close());
}

interface DaemonSocket {
  /** Creates a removed socket again. Open connections continue. */
  putBack(): void;
  /**
   * Accepts no more requests and gives current ones a moment; open streams end with the process. Pass
   * `removeSocket` only while the lock is held.
   */
  close(removeSocket: boolean): Promise<void>;
}

/** Time for current requests when the server closes. */
const CLOSE_PATIENCE_MS = 300;

/** Number of sockets bound so far, for unique names. */
let bound = 0;

export function serveSocket(
  paths: HomePaths,
  handler: Handler,
  warn: (message: string) => void,
): DaemonSocket {
  let server = bind(paths, handler, warn);
  return {
    putBack() {
      const before = server;
      server = bind(paths, handler, warn);
      void before.close();
    },
    async close(removeSocket) {
      if (removeSocket) removeIfPossible(paths.socket);
      await Promise.race([server.close(), sleep(CLOSE_PATIENCE_MS)]);
    },
  };
}

/**
 * Binds to a temporary name, makes the socket private and renames it over any old one. A closing server
 * unlinks the path it was bound to, not the final one.
 */
function bind(paths: HomePaths, handler: Handler, warn: (message: string) => void): UnixServer {
  const path = `${paths.home}/sock.${Deno.pid}.${bound++}`;
  removeFile(path);
  const listener = Deno.listen({ transport: "unix", path });
  try {
    Deno.chmodSync(path, 0o600);
    Deno.renameSync(path, paths.socket);
  } catch (error) {
    listener.close();
    removeFile(path);
    throw error;
  }
  return new UnixServer(listener, handler, { most: mostConnections(), warn });
}
