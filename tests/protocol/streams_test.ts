import { assertEquals, assertRejects } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import { type Followed, following } from "../../src/protocol/streams.ts";

interface Item {
  readonly type: string;
}

/** Streams, one per connection: each yields its items and then fails. */
function streams(...all: readonly (readonly string[] | Error)[]): Followed<Item>["open"] {
  const left = [...all];
  return async function* () {
    const next = left.shift() ?? [];
    if (next instanceof Error) throw next;
    for (const type of next) yield { type };
    throw new ProcsupError("closed", "The daemon has gone");
  };
}

async function firstOf(followed: Followed<Item>, count: number): Promise<string[]> {
  const types: string[] = [];
  for await (const { type } of following(followed)) {
    if (types.push(type) === count) break;
  }
  return types;
}

Deno.test("following() continues with the next daemon, and reports an upgrade", async () => {
  const notes: string[] = [];
  const opened: boolean[] = [];
  const gone = new ProcsupError("daemon_unreachable", "No daemon answers");
  const items = await firstOf({
    open: streams(["a", "upgrading"], gone, ["b"], ["c"]),
    opened: (again) => void opened.push(again),
    note: (message) => notes.push(message),
  }, 3);
  assertEquals(items, ["a", "b", "c"]);
  assertEquals(notes.length, 1);
  assertEquals(opened, [false, true, true, true]);
});

Deno.test("following() reports once that it waits for another daemon, unless there is one at once", async () => {
  const notesOf = async (absences: number) => {
    const notes: string[] = [];
    const next = streams(["a"], ["b"]);
    let openings = 0;
    const open = () => {
      const isAbsent = ++openings > 1 && openings <= 1 + absences;
      if (isAbsent) throw new ProcsupError("daemon_unreachable", "No daemon answers");
      return next();
    };
    const note = (message: string) => void notes.push(message);
    assertEquals(await firstOf({ open, note }, 2), ["a", "b"]);
    return notes;
  };
  assertEquals(await notesOf(0), []);
  assertEquals(await notesOf(2), ["No daemon answers; retrying"]);
});

Deno.test("following() throws when it cannot connect, after a shutdown, and for any other error", async () => {
  const never = () => Promise.reject(new ProcsupError("daemon_unreachable", "No daemon answers"));
  await assertRejects(() => firstOf({ open: never }, 1), ProcsupError, "No daemon answers");
  const shutDown = streams(["a", "shutdown"], ["b"]);
  await assertRejects(() => firstOf({ open: shutDown }, 2), ProcsupError, "The daemon has gone");
  let openings = 0;
  const broken = () => {
    if (++openings === 1) return streams(["a"])();
    throw new ProcsupError("process_not_found", "No process");
  };
  await assertRejects(() => firstOf({ open: broken }, 2), ProcsupError, "No process");
});

Deno.test("following() for ever survives every error, and ends only on abort", async () => {
  const over = new AbortController();
  let losses = 0;
  const items = firstOf({
    open: streams(new Error("first"), ["a", "shutdown"], new TypeError("second"), ["b"]),
    lost: () => ++losses === 4 && over.abort(),
    signal: over.signal,
    forEver: true,
  }, 99);
  assertEquals(await items, ["a", "b"]);
  assertEquals(losses, 4);
});
