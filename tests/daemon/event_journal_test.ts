/** The daemon's record of events. */

import { assert, assertEquals } from "@std/assert";
import { EventJournal } from "../../src/daemon/event_journal.ts";
import type { ProcessChange } from "../../src/model/process_info.ts";
import type { VerbContext } from "../../src/daemon/verb_context.ts";
import { pastEvents } from "../../src/verbs/inspect/handlers.ts";
import { tempHome } from "../support/temp_home.ts";

function change(name: string, type: ProcessChange["type"], at: number): ProcessChange {
  const rest = { state: "running", pid: 1, restarts: 0, reason: "x".repeat(400), exit: null };
  return { ...rest, type, name, at: new Date(at), id: "12345678-0000" } as ProcessChange;
}

async function read(journal: EventJournal, query: Partial<Parameters<EventJournal["newest"]>[0]>) {
  const all = { since: -Infinity, until: Infinity, wanted: () => true };
  const found = await Array.fromAsync(journal.newest({ ...all, ...query }));
  return found.reverse().map(({ event: { name, at } }) => `${name} ${Date.parse(at)}`);
}

Deno.test("EventJournal returns events by time and name, without transient ones", async () => {
  await using home = await tempHome();
  const path = `${home.path}/events.jsonl`;
  using journal = new EventJournal(path);
  assertEquals(await read(journal, {}), []);
  journal.record(change("a", "starting", 1));
  journal.record(change("a", "running", 2));
  journal.record(change("b", "crashed", 3));
  Deno.writeTextFileSync(path, '{"type":"cut o\n', { append: true });
  journal.record(change("a", "stopped", 4));
  assertEquals(await read(journal, {}), ["a 2", "b 3", "a 4"]);
  assertEquals(await read(journal, { since: 3, until: 3 }), ["b 3"]);
  assertEquals(await read(journal, { wanted: ({ name }) => name === "a", since: 3 }), ["a 4"]);
  assertEquals(Deno.statSync(path).mode! & 0o777, 0o600);
});

Deno.test("EventJournal keeps the newest events when there are too many, and works without its file", async () => {
  await using home = await tempHome();
  const path = `${home.path}/events.jsonl`;
  using journal = new EventJournal(path);
  for (let at = 0; at < 20_000; at++) journal.record(change("a", "running", at));
  const kept = await read(journal, {});
  assert(kept.length > 7000 && kept.length < 20_000, `${kept.length}`);
  assertEquals(kept.at(-1), "a 19999");
  assert(Deno.statSync(path).size <= 4 * 1024 * 1024);
  const pages: number[] = [];
  for (let before: string | undefined = undefined;;) {
    const supervisor = { directory: { matcher: () => () => true } };
    const context = { supervisor, journal } as unknown as VerbContext;
    const page: Awaited<ReturnType<typeof pastEvents>> = await pastEvents(context, {
      ...{ limit: 5000, before, search: "A run" },
    });
    pages.push(...page.events.toReversed().map(({ at }) => Date.parse(at)));
    if (page.next === undefined) break;
    // New events do not shift the pages; the file is rewritten while it is being read.
    for (let at = 20_000; at < 20_010; at++) journal.record(change("a", "running", at));
    before = page.next;
  }
  assertEquals(pages, kept.map((text) => Number(text.slice(2))).reverse());
  using none = new EventJournal(`${home.path}/absent/events.jsonl`);
  none.record(change("a", "running", 1));
  assertEquals(await read(none, {}), []);
});
