/**
 * HTTP/1.1 on the daemon's Unix socket, one request a connection. Connections that are too many wait
 * in the queue of the socket, so that they never take the descriptors that the daemon itself needs.
 */

import { ProcsupError } from "../model/errors.ts";
import { accept } from "../platform/accept.ts";
import { sleep } from "../platform/clock.ts";
import { failure } from "../protocol/envelope.ts";
import { ByteReader, chunks } from "../protocol/unix_http.ts";

/** Answers a request. */
export type Handler = (request: Request) => Response | Promise<Response>;

/** How many connections there may be, and what is told in the log. */
export interface UnixServerOptions {
  readonly most: number;
  readonly warn: (message: string) => void;
}

/** How long a request may take to arrive; and while others wait for its place. */
const ARRIVAL_MS = 10_000;
const HURRY_MS = 250;
/** How often that is looked at. */
const LOOK_MS = 100;
/** How long all places may be taken before connections are refused, and how many at a time. */
const QUEUE_MS = 2000;
const MAX_REFUSALS = 2;
/** Of the places, those that endless answers may take: commands need the others. */
const STREAMS = 3 / 4;
const MAX_LINE_BYTES = 16 * 1024;
const MAX_HEADERS = 100;
/** What is still taken of a request that was answered early, so that its sender can read the answer. */
const MAX_REST_BYTES = 1024 * 1024;
const REST_MS = 1000;

const encoder = new TextEncoder();

/** A server on a Unix socket. */
export class UnixServer {
  readonly #listener: Deno.UnixListener;
  readonly #handler: Handler;
  readonly #most: number;
  readonly #over: Promise<void>;
  #open = 0;
  #streams = 0;
  /** When all places were taken; undefined while there is room. */
  #fullSince: number | undefined;
  /** Connections whose requests are still on their way, and since when. */
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

  /** Takes no more connections. Resolves when those that stand are over. */
  async close(): Promise<void> {
    this.#listener.close();
    await this.#over;
    while (this.#open > 0) await this.#room.promise;
  }

  /** Resolves when the next connection may be taken: to be served, or to be refused. */
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
      // The client has gone, or was too slow.
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
      return refusal("too_many_clients", `There are ${this.#most} connections already`);
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
      const message = `There are ${this.#streams} streams already`;
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
  // A client that hangs up wants no more, also while there is nothing to send.
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

/** A request whose body is still on its way, until `arrived`; undefined for a malformed one. */
async function readRequest(
  reader: ByteReader,
  arrived: () => void,
): Promise<Request | undefined> {
  const [method = "", path = "", version = ""] = (await reader.line(MAX_LINE_BYTES)).split(" ");
  const lines: [string, string][] = [];
  for (let line = await reader.line(MAX_LINE_BYTES); line !== "";) {
    const colon = line.indexOf(":");
    if (colon < 1 || lines.length >= MAX_HEADERS) return undefined;
    lines.push([line.slice(0, colon), line.slice(colon + 1).trim()]);
    line = await reader.line(MAX_LINE_BYTES);
  }
  // Some clients take the socket for a proxy, and send a whole URL.
  const url = path.startsWith("/") ? `http://procsup${path}` : path;
  if (!/^http:\/\//i.test(url) || !/^HTTP\/1\.[01]$/.test(version)) return undefined;
  try {
    const headers = new Headers(lines);
    const source = bodyOf(reader, headers);
    if (source === undefined || method === "GET") arrived();
    const body = source === undefined || method === "GET"
      ? null
      : ReadableStream.from(wholly(source, arrived));
    return new Request(url, { method, headers, body });
  } catch {
    return undefined;
  }
}

/** The body that the headers announce. Throws when they contradict each other. */
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

async function* wholly<T>(source: AsyncIterable<T>, arrived: () => void): AsyncGenerator<T> {
  yield* source;
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
  for (let sent = 0; sent < bytes.length;) sent += await connection.write(bytes.subarray(sent));
}

/** Lets the client read the answer although it is still sending, for a moment. */
async function takeRest(connection: Deno.UnixConn): Promise<void> {
  await connection.closeWrite();
  const late = setTimeout(() => close(connection), REST_MS);
  await drain(connection, MAX_REST_BYTES).finally(() => clearTimeout(late));
}

/** Reads until the client hangs up, or so much came. */
async function drain(connection: Deno.UnixConn, most = Infinity): Promise<void> {
  const bytes = new Uint8Array(4096);
  for (let taken = 0; taken < most;) {
    const size = await connection.read(bytes);
    if (size === null) return;
    taken += size;
  }
}

function close(connection: Deno.UnixConn): void {
  try {
    connection.close();
  } catch {
    // It is closed already.
  }
}
