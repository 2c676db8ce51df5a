/** What a log view reads of a log, without a browser. */

import { assertEquals } from "@std/assert";

/** The daemon's answer: where the lines begin and end, and the lines. */
function answer(from: number, to: number): Response {
  const lines = Array.from({ length: to - from }, (_, index) => ({
    ...{ name: "app", stream: "stdout", at: "2026-01-01T00:00:00Z", line: `${from + index}` },
    end: from + index + 1,
  }));
  const start = { positions: { "app/stdout": to }, before: {} };
  return new Response([start, ...lines].map((item) => `${JSON.stringify(item)}\n`).join(""));
}

Deno.test("lines that a full view drops for later ones are older lines then", async () => {
  const { fetch } = globalThis;
  const answers = [answer(0, 18), answer(18, 25)];
  const asked: unknown[] = [];
  Object.assign(globalThis, {
    location: new URL("http://127.0.0.1/"),
    document: { hidden: false },
    history: { replaceState: () => {} },
    requestAnimationFrame: () => 0,
    fetch: (_: string, { body }: { readonly body?: string }) => {
      asked.push(body === undefined ? undefined : JSON.parse(body));
      return Promise.resolve(answers.shift()!);
    },
  });
  try {
    // They look at the browser as they are loaded.
    const { OpenLog } = await import("../logs/open_log.ts");
    const { LogBuffer } = await import("../logs/log_buffer.ts");
    const { feed } = await import("../data/store.ts");
    feed.value = { ...feed.value, connection: "live" };
    const buffer = new LogBuffer(20);
    const began = Promise.withResolvers<void>();
    const log = new OpenLog(buffer, {
      ...{ targets: ["app"], between: [0, 1], filter: {} },
      began: began.resolve,
    });
    await began.promise;
    while (log.isLoading.value || buffer.size === 0) await new Promise((done) => setTimeout(done));
    assertEquals([log.hasOlder.value, log.hasLater.value], [false, true]);
    await log.later();
    assertEquals(asked, [undefined, { from: { "app/stdout": 18 } }]);
    assertEquals([buffer.shown[0]?.text, buffer.lost], ["2", { "app/stdout": 2 }]);
    assertEquals([log.hasOlder.value, log.hasLater.value], [true, false]);
  } finally {
    Object.assign(globalThis, { fetch });
  }
});
