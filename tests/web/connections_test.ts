/** Connections whose client does not read, or that queue too much. */

import { assertEquals } from "@std/assert";
import { claim, type Connection, Connections } from "../../src/web/connections.ts";
import type { Principal } from "../../src/auth/gatekeeper.ts";

const MIB = 1024 * 1024;

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

  /** Writes something, and lets the client read a part. */
  send(bytes: number, taken = 0): void {
    this.bytesWritten += bytes;
    this.writableLength += bytes - taken;
  }
}

Deno.test("Connections makes room by closing one of the client with the most", () => {
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
  // They displace the client's surplus first, then one another.
  assertEquals(isOver(unknown), [true, true, true, true, false, false]);
  assertEquals(isOver([...reader.slice(4), ...owner]), [false, false, false, false]);
  connections.endHalf();
  assertEquals(isOver(unknown.slice(4)), [true, true]);
});

Deno.test("Connections closes clients that read nothing for two minutes, and no slow or quiet ones", () => {
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

Deno.test("Connections closes the largest when an account has too much, and the owner's last", () => {
  let now = 0;
  const connections = new Connections(100, () => now);
  const queued = (account: string | undefined, ...sizes: readonly number[]) =>
    sizes.map((size) => {
      const connection = new FakeConnection();
      connections.add(connection);
      connection.send(size * MIB);
      if (account !== undefined) claim(connection, { account } as Principal);
      return connection;
    });
  const isOver = (all: readonly FakeConnection[]) => all.map((one) => one.isOver);
  const owner = queued("", 20, 30, 50);
  const token = queued("ci", 1, 30, 4);
  const unknown = queued(undefined, 20, 15, 0);
  connections.look();
  assertEquals(isOver(token), [false, true, false]);
  assertEquals(isOver(unknown), [true, false, false]);
  assertEquals(isOver(owner), [false, false, false]);
  const more = queued("other", 20);
  connections.look();
  // Now all of them have too much: the account with the most gives way.
  assertEquals([isOver(owner), isOver(more)], [[false, false, true], [false]]);
  // A new connection causes the next look, too.
  token[0]!.send(40 * MIB);
  now += 100;
  queued("ci", 0);
  assertEquals(isOver(token), [true, true, false]);
  connections.close();
});

Deno.test("Connections.close() lets pending answers finish for some time", async () => {
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
  // A second call waits less.
  await connections.close(new Set([hung]), 1);
  assertEquals(isOver(), [true, true, true]);
  await patient;
});
