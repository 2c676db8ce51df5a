import { assertEquals } from "@std/assert";
import { endedBy } from "../../src/protocol/shutdown_notice.ts";

/** A stream, the function that ends it, and the number of its subscriptions. */
function ended(items: readonly string[], isEndless: boolean, at: "once" | "later") {
  let subscriptions = 0;
  const over = Promise.withResolvers<(last?: string) => void>();
  const stream = endedBy(
    new ReadableStream<string>({
      start(out) {
        for (const item of items) out.enqueue(item);
        if (!isEndless) out.close();
      },
    }),
    (end) => {
      subscriptions++;
      if (at === "once") end("last");
      over.resolve(end);
      return () => void subscriptions--;
    },
  );
  return { stream, over: over.promise, subscriptions: () => subscriptions };
}

Deno.test("endedBy() ends a stream with a last item, at once or later, and unsubscribes", async () => {
  const later = ended(["a"], true, "later");
  const reader = later.stream.getReader();
  assertEquals((await reader.read()).value, "a");
  assertEquals(later.subscriptions(), 1);
  (await later.over)("last");
  assertEquals([(await reader.read()).value, (await reader.read()).done], ["last", true]);
  const once = ended(["a"], true, "once");
  assertEquals(await Array.fromAsync(once.stream), ["last"]);
  assertEquals([later, once].map(({ subscriptions }) => subscriptions()), [0, 0]);
});

Deno.test("endedBy() unsubscribes when the stream ends by itself, or its reader cancels", async () => {
  const whole = ended(["a", "b"], false, "later");
  assertEquals(await Array.fromAsync(whole.stream), ["a", "b"]);
  const cut = ended(["a"], true, "later");
  await cut.stream.cancel();
  assertEquals([whole, cut].map(({ subscriptions }) => subscriptions()), [0, 0]);
});
