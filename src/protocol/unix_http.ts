/**
 * One HTTP request over a Unix socket or another stream of bytes. It does without `fetch`, which takes
 * 3 ms more at the first call, does not say why it cannot connect, and was seen to hang for seconds on
 * a connection to a killed daemon.
 */

import { ifPossible } from "../model/errors.ts";
import { clientSystem, type Connection, isSystemError } from "../platform/client_system.ts";
import { AGENT_HEADER, HOOK_HEADER, PEER_HEADER } from "./version.ts";

export interface UnixRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** Called after connecting: a daemon that has just started has written the token by then. */
  readonly token?: () => string | undefined;
  /** JSON text. */
  readonly body?: string;
  /** The hook that sends the request: see `version.ts`. */
  readonly hook?: string | undefined;
  /** The agent that sends the request: see `version.ts`. */
  readonly agent?: string | undefined;
  /** Aborts the request and the body of its answer. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called after connecting, with a function that fails the request. The returned function is called
   * when the request is over.
   */
  readonly watch?: (fail: (why: Error) => void) => () => void;
}

export interface UnixResponse {
  readonly status: number;
  /** Version header of the daemon: see `version.ts`. */
  readonly peer: string | undefined;
  text(): Promise<string>;
  /** The body as a stream. The first stream costs 1 ms, so commands avoid it if they can. */
  stream(): ReadableStream<Uint8Array<ArrayBuffer>>;
  close(): void;
}

/** Maximum length of a chunk's size line, including extensions. */
const MAX_CHUNK_LINE = 1024;
/** Maximum length of any other line, and the maximum number of headers. */
export const MAX_LINE_BYTES: number = 16 * 1024;
export const MAX_HEADERS = 100;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The daemon closed the connection although it had read the request. */
export class HangUp extends Error {}

export interface RequestStream {
  write(bytes: Uint8Array): Promise<number>;
  close(): void;
  /** The reader of the answer. Called after the request is written. */
  reader(): ByteReader | Promise<ByteReader>;
  /** Takes back the stream for reuse after the answer was read. Without it the stream is closed. */
  readonly keep?: () => void;
}

/**
 * Sends a request. Resolves when the headers of the answer have arrived. Throws errors of connecting,
 * and the reason of an aborted signal.
 */
export async function unixRequest(socket: string, request: UnixRequest): Promise<UnixResponse> {
  request.signal?.throwIfAborted();
  const connection = await clientSystem().connect(socket);
  return await exchange({
    write: (bytes) => connection.write(bytes),
    close: () => connection.close(),
    reader: () => new ByteReader(connection),
  }, request);
}

/** Sends a request over an open stream, otherwise like `unixRequest()`. */
export async function exchange(
  connection: RequestStream,
  request: UnixRequest,
): Promise<UnixResponse> {
  if (request.signal?.aborted) {
    // Aborted while connecting: a listener added now would not be called.
    connection.close();
    throw request.signal.reason;
  }
  const close = () => {
    request.signal?.removeEventListener("abort", close);
    // Closed already.
    ifPossible(() => connection.close());
  };
  const over = () => {
    if (connection.keep === undefined) return close();
    request.signal?.removeEventListener("abort", close);
    connection.keep();
  };
  request.signal?.addEventListener("abort", close);
  let failure: Error | undefined;
  const unwatch = request.watch?.((why) => {
    failure = why;
    close();
  });
  try {
    await writeAll(connection, encoder.encode(requestText(request)));
    return await readResponse(await connection.reader(), close, over);
  } catch (error) {
    close();
    request.signal?.throwIfAborted();
    throw failure ?? error;
  } finally {
    unwatch?.();
  }
}

function requestText({ method, path, token, body = "", hook, agent }: UnixRequest): string {
  const secret = token?.();
  const headers = [
    `${method} ${path} HTTP/1.1`,
    "host: procsup",
    "connection: close",
    `content-length: ${encoder.encode(body).length}`,
    ...(body === "" ? [] : ["content-type: application/json"]),
    ...(hook === undefined ? [] : [`${HOOK_HEADER}: ${hook}`]),
    ...(agent === undefined
      ? []
      : [`${AGENT_HEADER}: ${encodeURIComponent(agent.toWellFormed())}`]),
    ...(secret === undefined ? [] : [`authorization: Bearer ${secret}`]),
  ];
  return `${headers.join("\r\n")}\r\n\r\n${body}`;
}

/** Writes bytes, of which one call may take only a part. */
export async function writeAll(
  connection: Pick<RequestStream, "write">,
  bytes: Uint8Array,
): Promise<void> {
  for (let sent = 0; sent < bytes.length;) sent += await connection.write(bytes.subarray(sent));
}

async function readResponse(
  reader: ByteReader,
  close: () => void,
  over: () => void,
): Promise<UnixResponse> {
  const status = Number((await reader.line()).split(" ")[1]);
  let length: number | undefined;
  let chunked = false;
  let peer: string | undefined;
  let headers = 0;
  for (let line = await reader.line(); line !== ""; line = await reader.line()) {
    if (++headers > MAX_HEADERS) throw new RangeError("The answer has too many headers");
    const [name, value = ""] = line.toLowerCase().split(/:\s*/);
    if (name === "content-length") length = Number(value);
    if (name === PEER_HEADER) peer = value;
    if (name === "transfer-encoding") chunked = value.includes("chunked");
  }
  const source = chunked ? chunks(reader) : reader.upTo(length);
  return {
    status,
    peer,
    async text() {
      let end = close;
      try {
        const text = await textOf(source);
        end = over;
        return text;
      } finally {
        end();
      }
    },
    stream: () => streamOf(source, close, over),
    close,
  };
}

export async function textOf(source: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of source) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}

/** Reads a chunked body. */
export async function* chunks(reader: ByteReader): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (;;) {
    const line = await reader.line(MAX_CHUNK_LINE);
    const size = /^[0-9a-f]{1,12}(?:;|$)/i.test(line) ? parseInt(line, 16) : NaN;
    if (size === 0) return void await reader.line(MAX_CHUNK_LINE);
    if (Number.isNaN(size)) throw new Error("The size of a chunk is malformed");
    yield* reader.upTo(size);
    if (await reader.line(MAX_CHUNK_LINE) !== "") throw new Error("A chunk is malformed");
  }
}

function streamOf(
  source: AsyncGenerator<Uint8Array<ArrayBuffer>>,
  close: () => void,
  over: () => void,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const { done, value } = await source.next().catch((error) => {
        // Closed by the signal: end the stream without an error.
        if (isSystemError(error, "BadResource")) return { done: true, value: undefined };
        throw error;
      });
      if (!done) return controller.enqueue(value!);
      over();
      controller.close();
    },
    cancel: close,
  });
}

/** Reads a connection by lines or byte counts. */
export class ByteReader {
  readonly #connection: Pick<Connection, "read">;
  #rest = new Uint8Array(0);

  constructor(connection: Pick<Connection, "read">) {
    this.#connection = connection;
  }

  /** The next line without its end. Throws if it is longer than `most` bytes. */
  async line(most = MAX_LINE_BYTES): Promise<string> {
    for (let from = 0;;) {
      if (from > most) throw new RangeError("The line is too long");
      const end = this.#rest.indexOf(10, from);
      if (end >= 0) {
        const line = decoder.decode(this.#rest.subarray(0, end)).replace(/\r$/, "");
        this.#rest = this.#rest.subarray(end + 1);
        return line;
      }
      from = this.#rest.length;
      if (!await this.#more()) throw new HangUp("The daemon hung up");
    }
  }

  /** The next `count` bytes in pieces, or everything up to the end. */
  async *upTo(count = Infinity): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    for (let left = count; left > 0;) {
      if (this.#rest.length === 0 && !await this.#more()) {
        if (count === Infinity) return;
        throw new HangUp("The daemon hung up");
      }
      const piece = this.#rest.subarray(0, Math.min(left, this.#rest.length));
      this.#rest = this.#rest.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
  }

  async #more(): Promise<boolean> {
    const block = new Uint8Array(64 * 1024);
    const count = await this.#connection.read(block);
    if (count === null) return false;
    const joined = new Uint8Array(this.#rest.length + count);
    joined.set(this.#rest);
    joined.set(block.subarray(0, count), this.#rest.length);
    this.#rest = joined;
    return true;
  }
}
