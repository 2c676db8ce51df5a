/** The dashboard's connection: messages in, state and effects out. */

import { assert, assertEquals } from "@std/assert";
import {
  type FeedMessage,
  type FeedState,
  INITIAL_STATE,
  type PushedMessage,
  update,
} from "../data/feed_state.ts";
import { HOST } from "../process/history.ts";
import { fakeProcess } from "../../../../../tests/cli/fake_daemon.ts";

const SESSION = { name: "", role: "admin" } as const;

/** A page that gets messages; remembers the effects. */
class Page {
  state: FeedState = INITIAL_STATE;
  effects: string[] = [];
  now = 1_000_000;

  handle(message: FeedMessage): this {
    const { state, effects } = update(this.state, message);
    this.state = state;
    this.effects.push(...effects.map((effect) => "text" in effect ? effect.text : effect.type));
    return this;
  }

  /** It connects, and is signed in. */
  signedIn(): this {
    return this.handle({ type: "connect" }).accepted();
  }

  /** The daemon has signed in the attempt that is under way. */
  accepted(): this {
    return this.handle({ ...this.#mine, type: "signed_in", session: SESSION });
  }

  get(message: PushedMessage): this {
    return this.handle({ ...this.#mine, type: "received", message });
  }

  fail(how: "lost" | "foreign" | "signed_out" = "lost"): this {
    return this.handle({ ...this.#mine, type: "failed", how });
  }

  /** Advances the clock by the ticks of the page. */
  pass(ms: number): this {
    for (const end = this.now + ms; this.now < end;) {
      this.now = Math.min(end, this.now + 250);
      this.handle({ type: "tick", now: this.now });
    }
    return this;
  }

  /** The effects since the last call. */
  done(): string[] {
    return this.effects.splice(0);
  }

  get #mine() {
    return { attempt: this.state.attempt, now: this.now };
  }
}

function live(): Page {
  const page = new Page().signedIn();
  page.get(all("api"));
  page.done();
  return page;
}

function all(...names: string[]): PushedMessage {
  const rows = names.map((name, index) =>
    fakeProcess({ name, id: `id-${name}`, numeric_id: index })
  );
  return { type: "processes", all: true, rows, gone: [] };
}

Deno.test("a page signs in, opens a WebSocket and shows what it gets", () => {
  const page = new Page().signedIn();
  assertEquals(page.done(), ["close", "sign_in", "listen"]);
  assertEquals([page.state.connection, page.state.processes], ["connecting", null]);
  page.get(all("api")).get(all("api", "db"));
  assertEquals(page.state.connection, "live");
  assertEquals([...page.state.processes!.keys()], ["id-api", "id-db"]);
});

Deno.test("only what changed arrives, and a row without a change stays the same object", () => {
  const page = live().get(all("api", "db"));
  const [api, db] = page.state.processes!.values();
  page.done();
  page.get({ type: "processes", rows: [{ id: "id-api", state: "crashed", pid: 0 }], gone: [] });
  const [news, same] = page.state.processes!.values();
  assertEquals([news!.state, news!.name, same === db, news === api], [
    "crashed",
    "api",
    true,
    false,
  ]);
  assertEquals(page.done(), ["api is crashed"]);
  page.get({ type: "processes", rows: [], gone: ["id-api"] });
  assertEquals([...page.state.processes!.keys()], ["id-db"]);
});

Deno.test("a daemon that is away keeps what was shown, and is asked at least every two seconds", () => {
  const page = live();
  page.get({ type: "system_metrics", metrics: { cpu_percent: 3 } });
  const [rows, samples, heard] = [page.state.processes, page.state.samples, page.state.heardAt];
  page.fail();
  assertEquals(page.state.connection, "lost");
  for (let minute = 0; minute < 30; minute++) {
    page.done();
    page.pass(2000);
    assert(page.done().includes("sign_in"), `no attempt after ${minute} times two seconds`);
    page.fail();
  }
  assertEquals([page.state.processes, page.state.samples], [rows, samples]);
  assertEquals([page.state.heardAt, page.state.connection], [heard, "lost"]);
  assertEquals(page.state.samples.get(HOST)!.length, 1);
  const { happened } = page.state;
  page.signedIn().get(all("api"));
  assertEquals([page.state.connection, page.state.happened], ["live", happened + 1]);
});

Deno.test("a WebSocket that says nothing for eight seconds is lost", () => {
  const page = live().pass(7000);
  assertEquals(page.state.connection, "live");
  page.get({ type: "subscribed" }).pass(7000);
  assertEquals(page.state.connection, "live");
  page.pass(2000);
  assertEquals(page.state.connection, "lost");
});

Deno.test("answers of an earlier attempt change nothing", () => {
  const page = live();
  const { attempt, processes } = page.state;
  page.handle({ type: "connect" }).done();
  const now = page.now;
  page.handle({ type: "received", attempt, message: all("old"), now });
  page.handle({ type: "failed", attempt, how: "lost", now });
  page.handle({ type: "signed_in", attempt, session: SESSION, now });
  assertEquals([page.done(), page.state.processes, page.state.connection], [[], processes, "live"]);
});

Deno.test("where WebSockets do not open, the page polls", () => {
  const page = new Page().signedIn();
  for (let i = 0; i < 2; i++) {
    page.done();
    page.fail();
    // At once: the daemon has answered, so that it is not down.
    assertEquals(page.done(), ["close", "sign_in"]);
    page.accepted();
  }
  assertEquals([page.done(), page.state.way], [["poll"], "poll"]);
  // Silence between the answers is no loss.
  page.get(all("api")).pass(20_000);
  assertEquals(page.state.connection, "live");
});

Deno.test("where WebSockets open and bring nothing, the page polls after some seconds", () => {
  const page = new Page().signedIn();
  for (let i = 0; i < 2; i++) {
    page.done();
    page.pass(4000);
    assertEquals(page.done(), ["close", "sign_in"]);
    page.accepted();
  }
  assertEquals(page.done(), ["poll"]);
});

Deno.test("a refused session asks to sign in, and is tried again when the page is seen", () => {
  const page = live().fail("signed_out");
  assertEquals([page.state.connection, page.done()], ["signed_out", ["close"]]);
  page.pass(60_000);
  assertEquals(page.done(), []);
  page.handle({ type: "seen" }).fail();
  assertEquals([page.state.connection, page.done()], ["signed_out", ["close", "sign_in", "close"]]);
  page.handle({ type: "seen" });
  page.accepted();
  assertEquals(page.get(all("api")).state.connection, "live");
});

Deno.test("a page that is seen while it is live does nothing; while lost it connects at once", () => {
  const page = live().handle({ type: "seen" });
  assertEquals(page.done(), []);
  page.fail("foreign");
  assertEquals(page.state.connection, "foreign");
  page.done();
  assertEquals(page.handle({ type: "seen" }).done(), ["close", "sign_in"]);
});

Deno.test("readings are kept for two minutes, one a second", () => {
  const page = live();
  for (let i = 0; i < 400; i++) {
    page.now += 500;
    page.get({ type: "processes", rows: [{ id: "id-api", cpu_percent: i }], gone: [] });
  }
  const own = page.state.samples.get("id-api")!;
  assert(own.length > 100 && own.length < 125, String(own.length));
  assert(own[0]!.at >= page.now - 121_000);
  page.get({ type: "processes", rows: [], gone: ["id-api"] });
  assertEquals([...page.state.samples.keys()], []);
});
