import { assertEquals } from "@std/assert";
import { type Message, SocketOutbox, type Write } from "../../src/web/socket_server.ts";

/** An outbox with a socket that confirms each message. */
function scene() {
  const handed: Message[] = [];
  const done: Parameters<Write>[1][] = [];
  const outbox = new SocketOutbox((message, isDone) => (handed.push(message), done.push(isDone)));
  return { handed, done, outbox };
}

Deno.test("SocketOutbox passes on a little at a time, in order, and counts unsent bytes", () => {
  const { handed, done, outbox } = scene();
  const sizes = [1500, 1000, 800, 20_000, 1];
  for (const [i, size] of sizes.entries()) {
    outbox.send(i === 1 ? new Uint8Array(size) : String(i).repeat(size));
  }
  const handedSizes = () => handed.map(({ length }) => length);
  const beside = (count: number) => count * 128;
  assertEquals([handedSizes(), outbox.unsent], [[1500, 1000], 23_301 + beside(5)]);
  done.shift()!();
  assertEquals([handedSizes(), outbox.unsent], [[1500, 1000, 800], 21_801 + beside(4)]);
  done.shift()!();
  assertEquals([handedSizes(), outbox.unsent], [[1500, 1000, 800, 20_000], 20_801 + beside(3)]);
  done.shift()!();
  assertEquals([handed.length, outbox.unsent], [4, 20_001 + beside(2)]);
  for (let next = done.shift(); next !== undefined; next = done.shift()) next();
  assertEquals([handedSizes(), outbox.unsent], [sizes, 0]);
  outbox.send("more");
  assertEquals(handed.at(-1), "more");
});

Deno.test("SocketOutbox passes on nothing more once a message cannot be sent", () => {
  const { handed, done, outbox } = scene();
  for (let i = 0; i < 20; i++) outbox.send("x".repeat(1500));
  assertEquals(handed.length, 2);
  for (const next of done) next(new Error("It was closed"));
  assertEquals(handed.length, 2);
});

Deno.test("SocketOutbox passes on everything when it is flushed", () => {
  const { handed, outbox } = scene();
  for (let i = 0; i < 20; i++) outbox.send("x".repeat(1500));
  outbox.flush();
  assertEquals(handed.length, 20);
});
