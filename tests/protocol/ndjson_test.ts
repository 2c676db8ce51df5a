import { assertEquals, assertRejects } from "@std/assert";
import { ndjson } from "../../src/protocol/streams.ts";
import { ProcsupError } from "../../src/model/errors.ts";

function streamOf(...parts: (Uint8Array | Error)[]): ReadableStream<Uint8Array> {
  const rest = [...parts];
  return new ReadableStream({
    pull(controller) {
      const part = rest.shift();
      if (part === undefined) controller.close();
      else if (part instanceof Error) controller.error(part);
      else controller.enqueue(part);
    },
  });
}

Deno.test("ndjson() joins lines across chunks", async () => {
  const bytes = new TextEncoder().encode('{"a":"ä"}\n\n{"a":"b"}\n');
  for (let cut = 1; cut < bytes.length; cut++) {
    const items = await Array.fromAsync(
      ndjson(streamOf(bytes.slice(0, cut), bytes.slice(cut)), false),
    );
    assertEquals(items.map((item) => item.value), [{ a: "ä" }, { a: "b" }], `cut at ${cut}`);
  }
});

Deno.test("ndjson() reports that the daemon is gone when the stream breaks", async () => {
  const broken = ndjson(streamOf(new TextEncoder().encode("1\n"), new TypeError("body")), false);
  assertEquals((await broken.next()).value, { value: 1, line: "1", isLast: true });
  const error = await assertRejects(() => broken.next(), ProcsupError);
  assertEquals((error as unknown as ProcsupError).code, "closed");
  const ended = ndjson(streamOf(), true);
  await assertRejects(() => ended.next(), ProcsupError, "The daemon has gone");
});

Deno.test("ndjson() closes the stream when its consumer stops", async () => {
  let isClosed = false;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new TextEncoder().encode("1\n")),
    cancel: () => void (isClosed = true),
  });
  for await (const { value } of ndjson(endless, true)) if (value === 1) break;
  assertEquals(isClosed, true);
});

Deno.test("ndjson() throws an error that the daemon sends", async () => {
  const bytes = new TextEncoder().encode('{"line":"a"}\n{"error":"Too much","code":"timeout"}\n');
  const failing = ndjson(streamOf(bytes), true);
  assertEquals((await failing.next()).value!.value, { line: "a" });
  const error = await assertRejects(() => failing.next(), ProcsupError, "Too much");
  assertEquals((error as unknown as ProcsupError).code, "timeout");
});
