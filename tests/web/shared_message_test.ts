/** Messages that are compressed once for all clients. */

import { assert, assertEquals } from "@std/assert";
import { inflateRawSync } from "node:zlib";
import { deflatedMessage, joined, lengthOf } from "../../src/web/shared_message.ts";
import { waitFor } from "../support/wait_for.ts";
import { TestWeb } from "../support/web.ts";

const encoder = new TextEncoder();

Deno.test("deflatedMessage() compresses the body once, and keeps the head of each client", () => {
  const body = encoder.encode(`"lines":[${"a line of a log, ".repeat(5000)}]}`);
  const [one, other] = [1, 22].map((id) => ({ head: encoder.encode(`{"id":${id},`), body }));
  const [first, second] = [one!, other!].map(deflatedMessage);
  assert(first!.body === second!.body, "the compressed body is shared");
  assert(lengthOf(first!) < body.length / 20);
  for (
    const [message, made] of [[one!, first!], [other!, second!], [{ body }, undefined]] as const
  ) {
    const bytes = joined(made ?? deflatedMessage(message));
    // The extension adds what ends a message.
    const inflated = inflateRawSync(new Uint8Array([...bytes, 0, 0, 255, 255, 3, 0]));
    assertEquals(new TextDecoder().decode(inflated), new TextDecoder().decode(joined(message)));
  }
  const short = { body: encoder.encode("{}") };
  assert(deflatedMessage(short) === short);
});

Deno.test("a WebSocket that knows compression gets its messages compressed, in order", async () => {
  // The package has no types.
  // deno-lint-ignore no-explicit-any
  const { WebSocket: Client } = await import("ws") as any;
  await using web = await TestWeb.start();
  const written = { ready_log: "^2000$", wait: true };
  await web.daemon.startScript("app", "seq 1 2000; exec sleep 1000", written);
  for (const perMessageDeflate of [true, false]) {
    const client = new Client(web.url.replace("http", "ws") + "/ws", {
      ...{ perMessageDeflate, headers: { authorization: `Bearer ${web.token}` } },
    });
    const got: { type: string; lines?: { line: string }[] }[] = [];
    client.on("message", (data: unknown) => got.push(JSON.parse(String(data))));
    client.on("open", () => client.send(JSON.stringify({ type: "open_log", id: 7, lines: 0 })));
    await waitFor(() => got.some(({ type }) => type === "log_end"));
    const lines = got.flatMap(({ lines = [] }) => lines.map(({ line }) => line));
    assertEquals(lines, Array.from({ length: 2000 }, (_, index) => String(index + 1)));
    const { bytesRead } = client._socket;
    assert(perMessageDeflate ? bytesRead < 40_000 : bytesRead > 150_000, String(bytesRead));
    if (!perMessageDeflate) client.terminate();
    else {
      // Compressed, it is far below the limit.
      const closed = new Promise((resolve) => client.on("close", resolve));
      client.send(" ".repeat(1024 * 1024));
      assertEquals(await closed, 1009);
    }
  }
});
