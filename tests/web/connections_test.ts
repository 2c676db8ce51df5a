/** Connections whose other side takes nothing, or for which too much waits. */

import { assertEquals } from "@std/assert";
import { claim, type Connection, Connections } from "../../src/web/connections.ts";
import type { Principal } from "../../src/auth/principal.ts";

class FakeConnection implements Connection {
  writableLength = 0;
  bytesWritten = 0;
  isOver = false;
  readonly #closed: (() => void)[] = [];

  on(_event: "close", act: () => void): void {
    this.#closed.push(act);
  }

  destroy(): void {
    this.isOver = true;
    for (const act of this.#closed) act();
  }

  destroySoon(): void {
    this.destroy();
  }

  /** Something is sent, and some of all that waits is taken. */
  send(bytes: number, taken = 0): void {
    this.bytesWritten += bytes;
    this.writableLength += bytes - taken;
  }
}

Deno.test("Connections makes room by ending one of those who have the most", () => {
  const connections = new Connections(6);
  const add = (account?: string) => {
    const connection = new FakeConnection();
    connections.add(connection);
    if (account !== undefined) claim(connection, { account } as Principal);
    return connection;
  };
  const isOver = (all: readonly FakeConnection[]) => all.map((one) => one.isOver);
  const reader = Array.from({ length: 6 }, () => add("reader"));
  const owner = [add(""), add("")];
  assertEquals(isOver(reader), [true, true, false, false, false, false]);
  const unknown = [1, 2, 3, 4, 5, 6].map(() => add());
  // They take what others have too much of, then the places of one another.
  assertEquals(isOver(unknown), [true, true, true, true, false, false]);
  assertEquals(isOver([...reader.slice(4), ...owner]), [false, false, false, false]);
  connections.endHalf();
  assertEquals(isOver(unknown.slice(4)), [true, true]);
});

Deno.test("Connections ends who takes nothing for two minutes, and nobody who is slow or quiet", () => {
  let now = 0;
  const connections = new Connections(100, () => now);
  const [deaf, slow, quiet] = [1, 2, 3].map(() => new FakeConnection()) as [
    FakeConnection,
    FakeConnection,
    FakeConnection,
  ];
  for (const connection of [deaf, slow, quiet]) connections.add(connection);
  deaf.send(1000);
  slow.send(100_000);
  for (; now <= 300_000 && !deaf.isOver; now += 10_000) {
    slow.send(0, 10);
    connections.look();
  }
  assertEquals([deaf.isOver, slow.isOver, quiet.isOver], [true, false, false]);
  assertEquals(now >= 120_000 && now <= 150_000, true, `${now}`);
  connections.close();
  assertEquals([slow.isOver, quiet.isOver], [true, true]);
});

Deno.test("Connections ends those first for which most waits when it is too much in all", () => {
  const connections = new Connections(100);
  const all = Array.from({ length: 30 }, () => new FakeConnection());
  for (const [i, connection] of all.entries()) {
    connections.add(connection);
    connection.send(i < 3 ? 30e6 : 2e6);
  }
  connections.look();
  assertEquals(all.map(({ isOver }) => isOver), all.map((_, i) => i === 0));
  connections.close();
});

Deno.test("Connections.close() leaves those open that are to be answered, for a while", async () => {
  const connections = new Connections(100);
  const [idle, answered, hung] = [1, 2, 3].map(() => new FakeConnection()) as [
    FakeConnection,
    FakeConnection,
    FakeConnection,
  ];
  for (const connection of [idle, answered, hung]) connections.add(connection);
  const isOver = () => [idle, answered, hung].map((one) => one.isOver);
  const patient = connections.close(new Set([answered, hung]), 60_000);
  assertEquals(isOver(), [true, false, false]);
  answered.destroy();
  // A second call has less patience.
  await connections.close(new Set([hung]), 1);
  assertEquals(isOver(), [true, true, true]);
  await patient;
});
