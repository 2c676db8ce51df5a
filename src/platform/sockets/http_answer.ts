/** Reads the answer to an HTTP/1.1 request from a connection of its own. */

/** The used part of `Deno.Conn`. */
export interface Connection {
  read(into: Uint8Array<ArrayBuffer>): Promise<number | null>;
  write(bytes: Uint8Array): Promise<number>;
  close(): void;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** What was read of it. */
  readonly body: string;
}

/** Maximum bytes of an answer that are read. */
const MAX_BYTES = 64 * 1024;

/** An answer of its own before the final one, such as `103 Early Hints`, with its headers. */
const INTERIM = /^HTTP\/1\.[01] 1\d\d[^]*?\r?\n\r?\n/;

const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})[ \r\n]/;
const HEADERS_END = /\r?\n\r?\n/;
const LINE_END = /\r?\n/;

/** What a caller wants to know of an answer besides its status. */
interface Wanted {
  readonly headers?: boolean;
  /** A text of its body: no more is read once it was found. */
  readonly text?: string | undefined;
}

/** Reads as much of an answer as is wanted. Throws if it is none. */
export async function readAnswer(connection: Connection, wanted: Wanted = {}): Promise<Answer> {
  const piece = new Uint8Array(4096);
  let read = "";
  for (let length; (length = await connection.read(piece)) !== null;) {
    read += bytesAsText(piece.subarray(0, length));
    while (INTERIM.test(read)) read = read.replace(INTERIM, "");
    const isFull = read.length > MAX_BYTES;
    const answer = answerIn(read, wanted, isFull);
    if (answer !== undefined) return answer;
    if (isFull || !read.startsWith("HTTP/1.".slice(0, read.length))) break;
  }
  const answer = answerIn(read, wanted, true);
  if (answer !== undefined) return answer;
  throw new Error(read === "" ? "it closed the connection" : "the answer is not HTTP/1.1");
}

/** The answer in what was read so far; undefined if more is wanted, unless that was all. */
function answerIn(read: string, { headers, text }: Wanted, isAll: boolean): Answer | undefined {
  const status = STATUS_LINE.exec(read)?.[1];
  if (status === undefined || status.startsWith("1")) return undefined;
  const end = HEADERS_END.exec(read);
  if (end === null) {
    const isEnough = isAll || !headers && text === undefined;
    return isEnough ? { status: Number(status), headers: new Headers(), body: "" } : undefined;
  }
  const fields = headersOf(read.slice(0, end.index));
  const raw = read.slice(end.index + end[0].length);
  const body = utf8(isChunked(fields) ? withoutSizes(raw) : raw);
  const isEnough = isAll || text === undefined || body.includes(text) ||
    raw.length >= Number(fields.get("content-length") ?? Infinity);
  return isEnough ? { status: Number(status), headers: fields, body } : undefined;
}

function headersOf(text: string): Headers {
  const headers = new Headers();
  for (const field of text.split(LINE_END)) {
    const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):\s*(.*?)\s*$/.exec(field) ?? [];
    if (name !== undefined) headers.append(name, value!);
  }
  return headers;
}

function isChunked(headers: Headers): boolean {
  return /\bchunked\b/i.test(headers.get("transfer-encoding") ?? "");
}

/** A body without the sizes of its chunks. */
function withoutSizes(raw: string): string {
  let body = "";
  for (let rest = raw;;) {
    const [line, size] = /^([0-9a-f]+)[^\n]*\n/i.exec(rest) ?? [];
    if (line === undefined) return body;
    const bytes = parseInt(size!, 16);
    body += rest.slice(line.length, line.length + bytes);
    rest = rest.slice(line.length + bytes).replace(/^\r?\n/, "");
  }
}

/** A text with a character for each byte. */
function bytesAsText(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}

function utf8(bytes: string): string {
  return new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)));
}
