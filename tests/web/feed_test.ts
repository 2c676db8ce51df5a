/** The feed alone: when it sends what, and to which clients. */

import type { Principal } from "../../src/auth/gatekeeper.ts";
import { assert, assertEquals } from "@std/assert";
import type { ProcessChange } from "../../src/model/process_info.ts";
import type { TerminalPiece } from "../../src/protocol/process_json.ts";
import type { Role } from "../../src/verbs/verb.ts";
import { type Backend, CachedList, type LogLines } from "../../src/web/backend.ts";
import { Feed } from "../../src/web/feed.ts";
import { ShutdownNotice } from "../../src/protocol/shutdown_notice.ts";
import { fakeProcess } from "../cli/fake_daemon.ts";
import { ProcsupError } from "../../src/model/errors.ts";
import { notFound } from "../../src/model/target.ts";
import { FeedLogs } from "../../src/web/feed_client.ts";
import { linesOf } from "./fake_backend.ts";
import type { Clock } from "../../src/platform/clock.ts";
import { FakeClock } from "../support/fake_clock.ts";
import { waitFor } from "../support/wait_for.ts";
import { joined, lengthOf } from "../../src/web/shared_message.ts";
import { type Message, SocketOutbox, type Write } from "../../src/web/socket_server.ts";

const CHANGE: ProcessChange = {
  ...{ type: "crashed", at: new Date(0), id: "1f3a9c00-0000", name: "api", state: "crashed" },
  ...{ pid: 0, restarts: 0, reason: "exited with code 1", exit: null },
};

const OWNER: Principal = { name: "", role: "admin", via: "token", credential: "", account: "" };

/** A feed of a fake daemon. */
class Scene {
  /** How often the list was built. */
  built = 0;
  process: ReturnType<typeof fakeProcess> | undefined = fakeProcess();
  lines: unknown[] = [];
  /** Instead of the lines. */
  stream: ReadableStream<LogLines> | undefined;
  terminal = () => new ReadableStream<TerminalPiece>();
  /** Why lines are unavailable. */
  problem: Error | undefined;
  readonly feed: Feed;

  constructor(clock?: Clock) {
    const backend: Backend = {
      as: () => backend,
      only: undefined,
      dispatch: (verb) => {
        if (verb !== "list") return Promise.resolve({ total_memory: 1 });
        this.built++;
        return Promise.resolve(this.process === undefined ? [] : [this.process]);
      },
      events: () => new ReadableStream(),
      streamEvents: () => Promise.resolve(new ReadableStream()),
      shutdownNotice: new ShutdownNotice(),
      cpuSeconds: () => new Map(),
      matcher: (target) => {
        if (target === "nope") throw notFound(target, [{ name: "api" }]);
        return ({ name }) => target === "all" || name === target;
      },
      streamTerminal: () => Promise.resolve(this.terminal()),
      streamLogs: () =>
        this.problem === undefined
          ? Promise.resolve(this.stream ?? linesOf(this.lines))
          : Promise.reject(this.problem),
    };
    const warn = (message: string) => assert(false, message);
    this.feed = new Feed({ backend, warn, ...(clock === undefined ? {} : { clock }) });
  }

  /**
   * `unsent`: bytes that the client has not read; it never reads the messages in `kept`. `ping`: whether
   * it answered the previous ping.
   */
  join(
    given: number | (() => number) = 0,
    kept = false,
    ping = () => true,
    role: Role = "admin",
  ) {
    let unsent = 0;
    const others = typeof given === "number" ? () => given : given;
    // deno-lint-ignore no-explicit-any
    const got: any[] = [];
    const closed: number[] = [];
    const { receive, left } = this.feed.join({
      send: (message) => {
        const text = typeof message === "string" ? message : decode(joined(message));
        if (kept) unsent += text.length;
        got.push(JSON.parse(text));
      },
      unsent: () => others() + unsent,
      ping,
      close: (code) => closed.push(code),
    }, { ...OWNER, role });
    const say = (message: unknown) => receive(JSON.stringify(message));
    return { got, closed, say, receive, left, types: () => got.map(({ type }) => type) };
  }
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

const FIELDS = [
  ...["id", "numeric_id", "name", "runtime", "state", "pid", "exit_code", "restarts"],
  ...["cpu_percent", "memory_bytes", "mem_percent", "threads", "fds", "uptime"],
];

Deno.test("Feed sends exactly the documented list on connect", async () => {
  const before = Math.floor(Date.now() / 1000);
  const scene = new Scene();
  const client = scene.join();
  await waitFor(() => client.got.length === 1);
  const [{ type, processes, timestamp, ...rest }] = client.got;
  assertEquals([type, rest], ["process_list", {}]);
  assertEquals(Object.keys(processes[0]), FIELDS);
  assert(Number.isInteger(timestamp) && timestamp >= before && timestamp <= Date.now() / 1000);
  client.left();
});

Deno.test("Feed builds one list for all clients, and one for a burst of changes", async () => {
  const scene = new Scene();
  const clients = Array.from({ length: 50 }, () => scene.join());
  await waitFor(() => clients.every(({ got }) => got.length === 1));
  assertEquals(scene.built, 1);
  for (let i = 0; i < 100; i++) scene.feed.changed(CHANGE);
  // Before the one that comes every two seconds.
  await waitFor(() => clients.every(({ got }) => got.length === 2), { timeoutMs: 1500 });
  assertEquals(scene.built, 2);
  for (const { left } of clients) left();
});

Deno.test("Feed sends only the list unless more is requested", async () => {
  const scene = new Scene();
  const quiet = scene.join();
  const curious = scene.join();
  const other = scene.join();
  curious.say({ type: "subscribe", topics: ["events", "system_metrics"], target: "api" });
  other.say({ type: "subscribe", topics: ["events"], target: "db" });
  scene.feed.changed(CHANGE);
  await waitFor(() => curious.types().includes("system_metrics"));
  await waitFor(() => quiet.got.length === 2);
  assertEquals(new Set(quiet.types()), new Set(["process_list"]));
  assert(!other.types().includes("event"));
  const { event } = curious.got.find(({ type }) => type === "event")!;
  assertEquals([event.type, event.name, event.id], ["crashed", "api", "1f3a9c00"]);
  curious.say({ type: "unsubscribe", topics: ["events"] });
  assertEquals(curious.got.at(-1), { type: "subscribed", topics: ["system_metrics"] });
  for (const { left } of [quiet, curious, other]) left();
});

Deno.test("Feed sends all rows to a client that wants the changes, and then only changed fields", async () => {
  const scene = new Scene();
  const [rows, plain] = [scene.join(), scene.join()];
  rows.say({ type: "subscribe", topics: ["processes"] });
  const told = () => rows.got.filter(({ type }) => type === "processes");
  await waitFor(() => told().length === 1);
  assertEquals([told()[0].all, told()[0].rows[0].config.cwd], [true, fakeProcess().config.cwd]);
  assert(!rows.types().includes("process_list"));
  scene.process = { ...fakeProcess(), cpu_percent: 77, uptime: 5, health: "unhealthy" };
  scene.feed.changed(CHANGE);
  await waitFor(() => told().length === 2);
  const { type: _, timestamp: __, ...news } = told()[1];
  assertEquals(news, {
    rows: [{ id: fakeProcess().id, cpu_percent: 77, health: "unhealthy" }],
    gone: [],
  });
  // One that comes later gets all rows; the others only what changed.
  const late = scene.join();
  late.say({ type: "subscribe", topics: ["processes"] });
  await waitFor(() => late.types().includes("processes"));
  assertEquals(late.got.find(({ type }) => type === "processes").rows[0].cpu_percent, 77);
  scene.process = undefined;
  scene.feed.changed(CHANGE);
  await waitFor(() => told().at(-1).gone.length === 1);
  assertEquals(plain.types().filter((type) => type !== "process_list"), []);
  for (const { left } of [rows, plain, late]) left();
});

Deno.test("Feed sends all rows again to a client that was too slow for the changes", async () => {
  const scene = new Scene();
  let unsent = 0;
  const slow = scene.join(() => unsent);
  slow.say({ type: "subscribe", topics: ["processes"] });
  const told = () => slow.got.filter(({ type }) => type === "processes");
  await waitFor(() => told().length === 1);
  unsent = 512 * 1024;
  const other = scene.join();
  scene.process = { ...fakeProcess(), cpu_percent: 78 };
  scene.feed.changed(CHANGE);
  await waitFor(() => other.got.length === 2);
  assertEquals(told().length, 1);
  unsent = 0;
  scene.feed.changed(CHANGE);
  await waitFor(() => told().length === 2);
  assertEquals([told()[1].all, told()[1].rows[0].cpu_percent], [true, 78]);
  for (const { left } of [slow, other]) left();
});

Deno.test("Feed sends log lines in batches, as text", async () => {
  const scene = new Scene();
  scene.lines = ["<img onerror=x>", "\x1b]52;c;x\x07", "a\u2028b,\n"].map((line) => ({ line }));
  const client = scene.join();
  client.say({ type: "subscribe", topics: ["logs"], target: "api", lines: 10 });
  await waitFor(() => client.types().includes("log"));
  assertEquals(client.got.find(({ type }) => type === "log")!.lines, scene.lines);
  client.left();
});

Deno.test("Feed opens several logs on one connection, each with its id, and at most 16", async () => {
  const scene = new Scene();
  scene.lines = [{ line: "one" }, { line: "two" }];
  const client = scene.join();
  for (let id = 1; id <= 17; id++) client.say({ type: "open_log", id, target: ["api"] });
  const of = (wanted: string) => client.got.filter(({ type }) => type === wanted);
  await waitFor(() => of("log").length === 16);
  assertEquals(
    of("log").map(({ id }) => id).sort((a, b) => a - b),
    [...Array(16).keys()].map((n) => n + 1),
  );
  assertEquals(of("log")[7].lines, scene.lines);
  assertEquals(of("error").map(({ id, code }) => `${id} ${code}`), ["17 too_many_clients"]);
  client.say({ type: "close_log", id: 1 });
  client.say({ type: "open_log", id: 18, target: ["api"] });
  await waitFor(() => of("log").length === 17);
  client.say({ type: "open_log", id: "x" });
  assertEquals(of("error").at(-1).code, "bad_request");
  client.left();
});

Deno.test("Feed does not count an ended or failed log as open", async () => {
  for (const problem of [undefined, new ProcsupError("process_not_found", 'No process "api"')]) {
    const scene = new Scene();
    scene.lines = [{ line: "one" }];
    scene.problem = problem;
    const client = scene.join();
    const ends = () => client.got.filter(({ type }) => type === "log_end" || type === "error");
    for (let id = 1; id <= 17; id++) {
      client.say({ type: "open_log", id, target: ["api"] });
      await waitFor(() => ends().length === id);
    }
    assertEquals(new Set(ends().map(({ code }) => code)), new Set([problem?.code]));
    client.left();
  }
});

Deno.test("Feed reads no more lines for a client that has not read the previous ones", async () => {
  const scene = new Scene();
  scene.lines = [{ line: "one" }];
  const slow = scene.join(512 * 1024);
  const other = scene.join();
  for (const { say } of [slow, other]) say({ type: "subscribe", topics: ["logs"], target: "api" });
  await waitFor(() => other.types().includes("log"));
  assertEquals(slow.types().filter((type) => type === "log"), []);
  for (const { left } of [slow, other]) left();
});

Deno.test("Feed pauses a terminal until its client has shown what was sent, and asks for the role", async () => {
  const scene = new Scene();
  scene.terminal = () => {
    let position = 0;
    const text = "y\n".repeat(8192);
    const pull = (out: ReadableStreamDefaultController<TerminalPiece>) =>
      out.enqueue({ text, position: position += text.length, pid: 7 });
    return new ReadableStream({ pull }, { highWaterMark: 0 });
  };
  const [client, quick] = [scene.join(), scene.join()];
  const sentTo = ({ got }: typeof client) => got.filter(({ type }) => type === "terminal");
  for (const { say } of [client, quick]) say({ type: "attach", id: 3, target: "api" });
  // One that confirms what it gets goes on.
  quick.say({ type: "shown", id: 3, chars: 2 ** 20 });
  await waitFor(() => sentTo(quick).length > 40);
  const sent = sentTo(client);
  const sizes = sent.map((message) => JSON.stringify(message).length);
  const size = sizes.reduce((sum, one) => sum + one);
  assertEquals([size > 256 * 1024, size - sizes[0]! <= 256 * 1024], [true, true], `${size}`);
  assertEquals(sent.slice(0, 2).map(({ id, position }) => [id, position]), [[3, 16384], [
    3,
    32768,
  ]]);
  client.say({ type: "shown", id: 3, chars: size });
  await waitFor(() => sentTo(client).length > sent.length);
  const reader = scene.join(0, false, () => true, "read");
  reader.say({ type: "attach", id: 4, target: "api" });
  const { type, id, error } = reader.got.at(-1);
  assertEquals([type, id, error], ["error", 4, 'Token has role "read"; this needs "operate"']);
  for (const { left } of [client, quick, reader]) left();
});

Deno.test("Feed sends no more lists to a client that has not read the previous ones", async () => {
  const scene = new Scene();
  const [slow, other] = [scene.join(512 * 1024), scene.join()];
  await waitFor(() => [slow, other].every(({ got }) => got.length === 1));
  scene.feed.changed(CHANGE);
  await waitFor(() => other.got.length === 2);
  assertEquals(slow.got.length, 1);
  for (const { left } of [slow, other]) left();
});

Deno.test("Feed gives each log on a connection its own buffer", async () => {
  const scene = new Scene();
  scene.lines = [{ line: "x".repeat(100_000) }];
  const slow = scene.join(0, true);
  const other = scene.join();
  for (let id = 1; id <= 16; id++) {
    for (const { say } of [slow, other]) say({ type: "open_log", id, target: ["api"] });
  }
  const logsOf = ({ types }: typeof slow) => types().filter((type) => type === "log").length;
  await waitFor(() => logsOf(other) === 16);
  assertEquals([logsOf(slow), slow.closed], [1, []]);
  for (const { left } of [slow, other]) left();
});

Deno.test("Feed drops clients that do not read, or that send too much", async () => {
  const scene = new Scene();
  const slow = scene.join(1024 * 1024 + 1);
  await waitFor(() => slow.closed.length > 0);
  assertEquals([slow.closed, slow.got], [[1006], []]);
  const loud = scene.join();
  for (let i = 0; i < 200 && loud.closed.length === 0; i++) loud.say({ type: "ping" });
  assertEquals(loud.closed[0], 1008);
  for (const { left } of [slow, loud]) left();
});

Deno.test("Feed answers invalid and unknown messages with an error", async () => {
  const scene = new Scene();
  const client = scene.join();
  await waitFor(() => client.got.length === 1);
  for (const text of ["{", '{"type":"subscribe","topics":["all"]}', "[".repeat(1000)]) {
    client.receive(text);
    assertEquals([client.got.at(-1).type, client.got.at(-1).code], ["error", "bad_request"], text);
  }
  const unknown = [["null", "undefined"], ["5", "undefined"], ['{"type":"opn_log"}', '"opn_log"']];
  for (const [text, type] of unknown) {
    client.receive(text!);
    const { error, hint } = client.got.at(-1);
    const near = type === '"opn_log"' ? ': did you mean "open_log"?' : "";
    assertEquals(error, `Unknown message ${type}${near}`);
    const known = "ping, subscribe, unsubscribe, open_log, close_log, attach, shown";
    assertEquals(hint.text, `Known: ${known}`);
  }
  for (
    const [mistake, error] of [
      [{ limt: 5 }, 'Unknown field "limt": did you mean "limit"?'],
      [{ limit: 0 }, 'Invalid "limit" 0: expected a number from 1 to 10000'],
      [{ id: -1 }, 'Invalid "id" -1: '],
    ] as const
  ) {
    client.say({ type: "open_log", id: 7, target: ["api"], ...mistake });
    const { type, id, error: found } = client.got.at(-1);
    assertEquals([type, found.slice(0, error.length)], ["error", error]);
    assertEquals(id, "id" in mistake ? mistake.id : 7, "the client finds its log");
  }
  client.left();
});

Deno.test("Feed refuses a wrong subscription, and confirms no topic that it does not serve", async () => {
  const scene = new Scene();
  scene.lines = [{ line: "one" }];
  const client = scene.join();
  const mistakes = [
    [{ lines: -1 }, 'Invalid "lines" -1: expected a number from 0 to 10000'],
    [{ level: 5 }, 'Invalid "level" 5: expected one of debug, info, warn, error'],
    [{ stderr: "yes" }, 'Invalid "stderr" "yes": expected true or false'],
    [{ lnes: 1 }, 'Unknown field "lnes": did you mean "lines"?'],
    [{ target: 5 }, 'Invalid "target" 5: expected string, received number'],
    [{ topics: undefined }, 'Missing "topics"'],
  ] as const;
  for (const [mistake, error] of mistakes) {
    client.say({ type: "subscribe", topics: ["events", "logs"], target: "api", ...mistake });
    assertEquals(client.got.at(-1), { type: "error", error, code: "bad_request" });
  }
  scene.problem = new ProcsupError("bad_request", 'Invalid "grep" "("');
  client.say({ type: "subscribe", topics: ["events", "logs"], target: "api", grep: "(" });
  await waitFor(() => client.got.some(({ error }) => error === 'Invalid "grep" "("'));
  scene.problem = undefined;
  client.say({ type: "subscribe", topics: ["logs"], target: "api" });
  await waitFor(() => client.types().includes("log_end"));
  const confirmed = client.got.filter(({ type }) => type === "subscribed");
  assertEquals(confirmed.map(({ topics }) => topics), [["events"], ["events", "logs"]]);
  client.left();
});

Deno.test("CachedList reuses a list until something changes or it expires", async () => {
  let now = 0;
  let built = 0;
  const list = new CachedList({ dispatch: () => Promise.resolve(++built) }, () => now);
  const read = async () => decode(await list.json());
  assertEquals([await read(), await read()], ["1", "1"]);
  list.invalidate();
  assertEquals(await read(), "2");
  now += 251;
  assertEquals(await read(), "3");
});

Deno.test("Feed reports why logs cannot be followed, and allows another attempt", async () => {
  const scene = new Scene();
  scene.problem = new ProcsupError("too_many_clients", "4096 logs are being followed already");
  const client = scene.join();
  client.say({ type: "subscribe", topics: ["logs"], target: "api" });
  await waitFor(() => client.types().includes("error"));
  assertEquals(client.got.find(({ type }) => type === "error").code, "too_many_clients");
  scene.problem = undefined;
  scene.lines = [{ line: "one" }];
  client.say({ type: "subscribe", topics: ["logs"], target: "api" });
  await waitFor(() => client.types().includes("log"));
  client.left();
});

Deno.test("Feed explains an unknown target, as every other surface", () => {
  const client = new Scene().join();
  client.say({ type: "subscribe", topics: ["events"], target: "nope" });
  assertEquals(client.got.at(-1), {
    ...{ type: "error", error: "process not found", code: "process_not_found" },
    hint: { text: 'Nothing matches "nope"; see all processes', command: { verb: "list" } },
  });
  client.left();
});

Deno.test("FeedLogs reports what ended the lines", async () => {
  const sent: string[] = [];
  const failure = { error: "The search was ended", code: "timeout" } as const;
  const lines = ReadableStream.from([{ ndjson: new Uint8Array(), failure }]);
  new FeedLogs(() => Promise.resolve(lines), {
    unsent: () => 0,
    send: (message) => sent.push(String(message)),
  });
  await waitFor(() => sent.length === 1);
  assertEquals(JSON.parse(sent[0]!), { type: "error", ...failure });
});

/** An outbox with a socket that confirms each message. */
function outboxScene() {
  const handed: Message[] = [];
  const done: Parameters<Write>[1][] = [];
  const outbox = new SocketOutbox((message, isDone) => (handed.push(message), done.push(isDone)));
  return { handed, done, outbox };
}

Deno.test("Feed ends the logs that a client has opened when it leaves", async () => {
  const scene = new Scene();
  const told: string[] = [];
  scene.stream = new ReadableStream({
    pull: () => void told.push("pulled"),
    cancel: () => void told.push("cancelled"),
  }, { highWaterMark: 0 });
  const client = scene.join();
  client.say({ type: "open_log", id: 1, target: ["api"], follow: true });
  await waitFor(() => told.length > 0, { what: "the log to be read" });
  client.left();
  await waitFor(() => told.includes("cancelled"), { what: "the log to be ended" });
});

Deno.test("Feed drops a client that did not answer a ping, every half a minute", () => {
  const clock = new FakeClock();
  const scene = new Scene(clock);
  const pings = [0, 0];
  const mute = scene.join(0, false, () => ++pings[0]! < 2);
  const well = scene.join(0, false, () => ++pings[1]! > 0);
  clock.advance(59_999);
  assertEquals([pings, mute.closed, well.closed], [[1, 1], [], []]);
  clock.advance(1);
  assertEquals([pings, mute.closed, well.closed], [[2, 2], [1006], []]);
  mute.left();
  clock.advance(30_000);
  assertEquals([pings, well.closed], [[2, 3], []]);
  well.left();
  assertEquals(clock.pending, 0);
});

Deno.test("SocketOutbox passes on a little at a time, in order, and counts unsent bytes", () => {
  const { handed, done, outbox } = outboxScene();
  const sizes = [1500, 1000, 800, 20_000, 1];
  for (const [i, size] of sizes.entries()) {
    outbox.send(i === 1 ? { body: new Uint8Array(size) } : String(i).repeat(size));
  }
  const handedSizes = () =>
    handed.map((message) => typeof message === "string" ? message.length : lengthOf(message));
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
  const { handed, done, outbox } = outboxScene();
  for (let i = 0; i < 20; i++) outbox.send("x".repeat(1500));
  assertEquals(handed.length, 2);
  for (const next of done) next(new Error("It was closed"));
  assertEquals(handed.length, 2);
});

Deno.test("SocketOutbox passes on everything when it is flushed", () => {
  const { handed, outbox } = outboxScene();
  for (let i = 0; i < 20; i++) outbox.send("x".repeat(1500));
  outbox.flush();
  assertEquals(handed.length, 20);
});
