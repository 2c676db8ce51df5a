/** `procsup dial-stdio`: forwards requests of `procsup --host` to the daemon of this machine. */

import { ProcsupError } from "../../model/errors.ts";
import { here } from "../../platform/files/paths.ts";
import { lookAt } from "../../platform/files/stat.ts";
import { type DaemonRequest, SocketWay } from "../../protocol/daemon_client.ts";
import { failure } from "../../protocol/envelope.ts";
import { PEER_HEADER } from "../../protocol/version.ts";
import { DAEMON_GONE, HELLO, type Hello, LOOK_PATH, START_PATH } from "../../contexts/ssh.ts";
import { ByteReader, HangUp, textOf, writeAll } from "../../protocol/unix_http.ts";
import type { CommandContext } from "../command.ts";

const encoder = new TextEncoder();

/** Answers requests, one at a time, until standard input ends. */
export async function dialStdio({ home }: CommandContext): Promise<number> {
  const cwd = here();
  const hello: Hello = { home, cwd, cpus: navigator.hardwareConcurrency };
  await write(`${HELLO}${JSON.stringify(hello)}\n`);
  const way = new SocketWay(home);
  const input = new ByteReader(Deno.stdin);
  let next = readRequest(input);
  for (let request = await next; request !== undefined; request = await next) {
    const answered = answer(way, home, request).then(respond);
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
    const [method, path = "/"] = (await input.line()).split(" ");
    let length = 0;
    for (let line = await input.line(); line !== ""; line = await input.line()) {
      const [, digits] = /^content-length: *(\d+)$/i.exec(line) ?? [];
      if (digits !== undefined) length = Number(digits);
    }
    const body = await textOf(input.upTo(length));
    return method === "GET" ? { method, path } : { method: "POST", path, body };
  } catch (error) {
    if (error instanceof HangUp) return undefined;
    throw error;
  }
}

async function answer(way: SocketWay, home: string, request: DaemonRequest): Promise<Response> {
  try {
    const own = await ownAnswer(home, request);
    if (own !== undefined) return Response.json(own);
    const response = await way.send(request, false);
    const headers = response.peer === undefined ? undefined : { [PEER_HEADER]: response.peer };
    return new Response(response.stream(), { status: response.status, headers });
  } catch (error) {
    const { envelope, status } = failure(error);
    return Response.json(envelope, { status });
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

/** Sends an answer. Returns `DAEMON_GONE` if the daemon ends before it is complete. */
async function respond({ status, headers, body }: Response): Promise<number> {
  const lines = [...headers].map(([name, value]) => `${name}: ${value}\r\n`);
  await write(`HTTP/1.1 ${status} -\r\n${lines.join("")}transfer-encoding: chunked\r\n\r\n`);
  try {
    for await (const piece of body!) {
      if (piece.length === 0) continue;
      await write(`${piece.length.toString(16)}\r\n`);
      await writeAll(Deno.stdout, piece);
      await write("\r\n");
    }
  } catch {
    return DAEMON_GONE;
  }
  await write("0\r\n\r\n");
  return 0;
}

async function write(text: string): Promise<void> {
  await writeAll(Deno.stdout, encoder.encode(text));
}
