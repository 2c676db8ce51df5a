import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { ByteReader, exchange, unixRequest } from "../../src/protocol/unix_http.ts";
import { tempHome } from "../support/temp_home.ts";
import { waitFor } from "../support/wait_for.ts";

/** A socket whose other end accepts connections and never answers. */
function silentServer(path: string): Disposable & { readonly open: () => number } {
  const listener = Deno.listen({ transport: "unix", path });
  let open = 0;
  const accepting = async (): Promise<void> => {
    for await (const connection of listener) {
      open++;
      // Resolves when the other side has closed.
      void new Response(connection.readable).bytes().catch(() => {}).finally(() => open--);
    }
  };
  void accepting();
  return { open: () => open, [Symbol.dispose]: () => listener.close() };
}

function silentRequest(path: string, signal: AbortSignal) {
  return unixRequest(path, { method: "GET", path: "/events", token: () => undefined, signal });
}

Deno.test("exchange() refuses an answer without bounds", async () => {
  const answers = [
    `HTTP/1.1 200 OK${" ".repeat(1 << 20)}\r\n\r\n`,
    `HTTP/1.1 200 OK\r\n${"a: b\r\n".repeat(1000)}\r\n`,
    `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na${"b".repeat(1 << 20)}`,
  ];
  for (const answer of answers) {
    const source = ReadableStream.from([new TextEncoder().encode(answer)]).getReader();
    let rest = new Uint8Array();
    const read = async (into: Uint8Array) => {
      if (rest.length === 0) rest = (await source.read()).value ?? rest;
      const part = rest.subarray(0, into.length);
      into.set(part);
      rest = rest.subarray(part.length);
      return part.length || null;
    };
    const stream = {
      write: (bytes: Uint8Array) => Promise.resolve(bytes.length),
      close: () => {},
      reader: () => new ByteReader({ read }),
    };
    const asked = exchange(stream, { method: "GET", path: "/" }).then((it) => it.text());
    const { message } = await assertRejects(() => asked, Error);
    assertMatch(message, /too long|too many/);
  }
});

Deno.test("unixRequest() rejects and closes when its signal aborts, at any point", async () => {
  await using home = tempHome();
  const path = `${home.path}/s`;
  using server = silentServer(path);
  const gone = new Error("gone");

  await assertRejects(() => silentRequest(path, AbortSignal.abort(gone)), Error, "gone");
  assertEquals(server.open(), 0);

  // While it connects: the signal reaches only listeners that exist by then.
  const connecting = new AbortController();
  const early = silentRequest(path, connecting.signal);
  connecting.abort(gone);
  await assertRejects(() => early, Error, "gone");

  const waiting = new AbortController();
  await waitFor(() => server.open() === 0);
  const late = silentRequest(path, waiting.signal);
  late.catch(() => {});
  await waitFor(() => server.open() === 1);
  waiting.abort(gone);
  await assertRejects(() => late, Error, "gone");
  await waitFor(() => server.open() === 0);
});
