/** `procsup dial-stdio`: forwards requests of `procsup --host` to the daemon of this machine. */

import { ProcsupError } from "../../model/errors.ts";
import { lookAt } from "../../platform/stat.ts";
import { type DaemonRequest, SocketWay } from "../../protocol/daemon_client.ts";
import { failure } from "../../protocol/envelope.ts";
import { PEER_HEADER } from "../../protocol/peer.ts";
import { DAEMON_GONE, HELLO, type Hello, LOOK_PATH, START_PATH } from "../../contexts/ssh.ts";
import { ByteReader, type UnixResponse, writeAll } from "../../protocol/unix_http.ts";
import { VERSION } from "../../protocol/version.ts";
import type { CommandContext } from "../command.ts";

/** Limits of a request. Those of the daemon are lower. */
const MAX_LINE_BYTES = 64 * 1024;
const MAX_BODY_BYTES = 64 * 1024 * 1024;

const encoder = new TextEncoder();

/** Answers requests, one at a time, until standard input ends. */
export async function dialStdio({ home }: CommandContext): Promise<number> {
  const cwd = Deno.cwd();
  const hello: Hello = { version: VERSION, home, cwd, cpus: navigator.hardwareConcurrency };
  await write(`${HELLO}${JSON.stringify(hello)}\n`);
  const way = new SocketWay(home);
  const input = new ByteReader(Deno.stdin);
  let next = readRequest(input);
  for (let request = await next; request !== undefined; request = await next) {
    const answered = answer(way, home, request);
    next = readRequest(input);
    // If the input ends before the whole answer is sent, the client has hung up.
    const code = await Promise.race([answered, next.then((more) => more && answered)]);
    if (code === DAEMON_GONE) return code;
  }
  return 0;
}

/** Reads a request; undefined at the end of the input. */
async function readRequest(input: ByteReader): Promise<DaemonRequest | undefined> {
  try {
    const [method, path = "/"] = (await input.line(MAX_LINE_BYTES)).split(" ");
    let length = 0;
    for (let line; (line = await input.line(MAX_LINE_BYTES)) !== "";) {
      const [, digits] = /^content-length: *(\d+)$/i.exec(line) ?? [];
      if (digits !== undefined) length = Number(digits);
    }
    if (length > MAX_BODY_BYTES) {
      throw new ProcsupError("bad_request", `A request of ${length} bytes is too large`);
    }
    let body = "";
    const decoder = new TextDecoder();
    for await (const piece of input.upTo(length)) body += decoder.decode(piece, { stream: true });
    return method === "GET" ? { method, path } : { method: "POST", path, body };
  } catch (error) {
    if (error instanceof Deno.errors.UnexpectedEof) return undefined;
    throw error;
  }
}

/** Sends the answer. Returns `DAEMON_GONE` if it cannot be completed. */
async function answer(
  way: SocketWay,
  home: string,
  request: DaemonRequest,
): Promise<number> {
  let response: UnixResponse;
  try {
    const own = await ownAnswer(home, request);
    if (own !== undefined) return await respond(200, undefined, JSON.stringify(own));
    response = await way.send(request, false);
  } catch (error) {
    const { envelope, status } = failure(error);
    return await respond(status, undefined, JSON.stringify(envelope));
  }
  try {
    return await respond(response.status, response.peer, response.stream());
  } catch {
    return DAEMON_GONE;
  }
}

/** Answers requests that need no daemon; undefined for others. */
async function ownAnswer(home: string, { path, body = "" }: DaemonRequest): Promise<unknown> {
  if (path === LOOK_PATH) {
    const paths: unknown = JSON.parse(body);
    if (Array.isArray(paths)) return paths.filter((path) => lookAt(String(path))?.isFile);
    throw new ProcsupError("bad_request", "Expected a list of paths");
  }
  if (path !== START_PATH) return undefined;
  const { startDaemon } = await import("../detach.ts");
  await startDaemon(home);
  return true;
}

async function respond(
  status: number,
  peer: string | undefined,
  body: string | ReadableStream<Uint8Array>,
): Promise<number> {
  const head = [
    `HTTP/1.1 ${status} -`,
    ...(peer === undefined ? [] : [`${PEER_HEADER}: ${peer}`]),
    "transfer-encoding: chunked",
  ];
  await write(`${head.join("\r\n")}\r\n\r\n`);
  for await (const piece of typeof body === "string" ? [encoder.encode(body)] : body) {
    if (piece.length === 0) continue;
    await write(`${piece.length.toString(16)}\r\n`);
    await writeAll(Deno.stdout, piece);
    await write("\r\n");
  }
  await write("0\r\n\r\n");
  return 0;
}

async function write(text: string): Promise<void> {
  await writeAll(Deno.stdout, encoder.encode(text));
}
