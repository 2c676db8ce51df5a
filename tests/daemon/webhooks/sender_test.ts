/** The queue of one webhook, with a real receiver. */

import { testBody } from "../../../src/model/event_body.ts";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { parseWebhook } from "../../../src/model/config_schema.ts";
import { type Message, messageWith } from "../../../src/daemon/webhooks/message.ts";
import { DeliveryOutbox } from "../../../src/daemon/webhooks/delivery_outbox.ts";
import { Sender, signingKey } from "../../../src/daemon/webhooks/sender.ts";
import { freePort } from "../../support/http_load.ts";
import { Receiver, SECRET } from "../../support/receiver.ts";
import { type TempHome, tempHome } from "../../support/temp_home.ts";
import { waitFor } from "../../support/wait_for.ts";

/** A sender to a URL, with its dependencies. */
class TestSender implements AsyncDisposable {
  readonly warnings: string[] = [];
  readonly home: TempHome;
  readonly outbox: DeliveryOutbox;
  readonly sender: Sender;

  private constructor(url: string, key: CryptoKey, keys: object, home: TempHome) {
    this.home = home;
    const warn = (message: string) => void this.warnings.push(message);
    this.outbox = new DeliveryOutbox(`${home.path}/pending`, warn);
    const wire = { name: "ops", url, secret: { env: "X" }, retry_delay: "10ms", ...keys };
    this.sender = new Sender({ webhook: parseWebhook(wire, "/"), key }, {
      outbox: this.outbox,
      warn,
    });
  }

  static async to(url: string, keys: object = {}, home = tempHome()): Promise<TestSender> {
    return new TestSender(url, await signingKey("ops", SECRET), keys, home);
  }

  /** Sends a message that contains a number. */
  send(number: number): Message {
    const message: Message = {
      ...{ id: `msg_${number}`, event: "crash", about: "api" },
      body: JSON.stringify({ type: "crash", number }),
    };
    this.sender.send(this.outbox.add("ops", message));
    return message;
  }

  async until(what: string, holds: () => boolean): Promise<void> {
    await waitFor(holds, { what });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.sender.close();
    await this.home[Symbol.asyncDispose]();
  }
}

Deno.test("Sender retries after 500 and sends all messages in order, each with a fresh signature", async () => {
  await using receiver = new Receiver((index) => index < 2 ? 500 : 200);
  await using test = await TestSender.to(receiver.url);
  for (let number = 0; number < 3; number++) test.send(number);
  await test.until("all to be delivered", () => test.sender.idle);
  assertEquals(receiver.got.map(({ id }) => id), ["msg_0", "msg_0", "msg_0", "msg_1", "msg_2"]);
  assert(receiver.got.every(({ signed }) => signed === true), JSON.stringify(receiver.got));
  const { delivered, failed, dropped, last } = test.sender.status;
  assertEquals([delivered, failed, dropped, last?.ok], [3, 0, 0, true]);
  assertEquals(test.warnings, ['Webhook "ops": it answered 500; will try again']);
  assertEquals(test.outbox.left(), []);
});

Deno.test("Sender sends the webhook's format and signs exactly that body", async () => {
  await using receiver = new Receiver(() => 204);
  await using test = await TestSender.to(receiver.url, { format: "discord" });
  assertEquals((await test.sender.test(messageWith(testBody("box", new Date(0))))).ok, true);
  const [{ body, signed } = { body: null, signed: "nothing" }] = receiver.got;
  const content = "Test of procsup on box";
  assertEquals([body, signed], [{ content, allowed_mentions: { parse: [] } }, true]);
});

Deno.test("Sender gives up on a receiver that exceeds its deadline, and on one that does not exist", async () => {
  await using receiver = new Receiver((index) => index === 0 ? "hang" : 200);
  await using test = await TestSender.to(receiver.url, { timeout: "200ms" });
  test.send(0);
  await test.until("the second attempt", () => test.sender.idle);
  assertEquals(receiver.got.length, 2);
  assertMatch(test.warnings[0]!, /no answer within 200 ms; will try again$/);

  const url = `http://127.0.0.1:${freePort()}/s3cret-path?and=s3cret`;
  await using lost = await TestSender.to(url, { max_attempts: 3 });
  lost.send(0);
  await lost.until("it to be given up", () => lost.sender.idle);
  assertEquals(lost.sender.status.failed, 1);
  assertMatch(lost.warnings.at(-1)!, /crash of "api" given up after 3 attempts: .*refused/i);
  const told = JSON.stringify([lost.warnings, lost.sender.status]);
  assert(!told.includes("s3cret"), told);
});

Deno.test("Sender does not wait for an endless body, and follows no redirect", async () => {
  const endless = new ReadableStream({ start: (out) => out.enqueue(new Uint8Array(1)) });
  await using receiver = new Receiver((index) =>
    index === 0
      ? new Response(endless)
      : new Response(null, { status: 302, headers: { location: "/elsewhere" } })
  );
  await using test = await TestSender.to(receiver.url);
  test.send(0);
  test.send(1);
  await test.until("both to be settled", () => test.sender.idle);
  assertEquals(receiver.got.map(({ path }) => path), ["/", "/"]);
  const { delivered, failed } = test.sender.status;
  assertEquals([delivered, failed], [1, 1]);
  assertEquals(test.warnings, ['Webhook "ops": crash of "api" given up: it answered 302']);
});

Deno.test("Sender honors Retry-After", async () => {
  const busy = () => new Response(null, { status: 429, headers: { "retry-after": "3600" } });
  await using receiver = new Receiver((index) => index === 0 ? busy() : 200);
  await using test = await TestSender.to(receiver.url);
  test.send(0);
  await test.until("the first attempt", () => test.sender.status.last !== null);
  // Its own delay is 10 ms: without Retry-After, the second request would come long before.
  await using witness = await TestSender.to(receiver.url);
  for (let number = 1; number <= 20; number++) witness.send(number);
  await witness.until("others to come through", () => witness.sender.idle);
  assertEquals(receiver.got.filter(({ id }) => id === "msg_0").length, 1);
  assertEquals(test.sender.status.queued, 1);
});

const MAX = 50;

Deno.test("Sender drops the oldest messages of a flood, counts them, and reports it once", async () => {
  await using receiver = new Receiver((index) => index === 0 ? 500 : 200);
  await using test = await TestSender.to(receiver.url, { retry_delay: "1m", max_queued: MAX });
  const sent = MAX + 200;
  for (let number = 0; number < sent; number++) test.send(number);
  const { queued, dropped } = test.sender.status;
  assertEquals([queued, dropped], [MAX, 200]);
  assertEquals([...Deno.readDirSync(`${test.home.path}/pending`)].length, MAX);
  assertEquals(test.warnings.filter((text) => /dropped/.test(text)).length, 1);

  await test.until("the first attempt to fail", () => test.sender.status.last !== null);
  test.sender.reconfigure({ ...test.sender.keyed });
  await test.until("the rest to be delivered", () => test.sender.idle);
  const numbers = receiver.got.map(({ body }) => body.number);
  // The message in transit was not dropped; of the others the newest remain, in order.
  const newest = Array.from({ length: MAX - 1 }, (_, i) => sent - MAX + 1 + i);
  assertEquals(numbers, [0, 0, ...newest]);
  assertEquals(test.sender.status.delivered, MAX);
});

Deno.test("Sender keeps queued messages on record for its successor when it is closed", async () => {
  await using receiver = new Receiver(() => 503);
  const home = tempHome();
  await using test = await TestSender.to(receiver.url, { retry_delay: "1m" }, home);
  for (let number = 0; number < 3; number++) test.send(number);
  await test.until("the first attempt", () => test.sender.status.last !== null);
  test.sender.close();
  Deno.writeTextFileSync(`${home.path}/pending/1.json`, '{"half');
  receiver.answer = () => 200;
  await using next = await TestSender.to(receiver.url, {}, home);
  for (const delivery of next.outbox.left()) next.sender.send(delivery);
  await next.until("all to be delivered", () => next.sender.idle);
  assertEquals(receiver.got.map(({ id }) => id), ["msg_0", "msg_0", "msg_1", "msg_2"]);
  const left = [...Deno.readDirSync(`${home.path}/pending`)].map(({ name }) => name);
  assertEquals(left, ["1.json.unreadable"]);
});

Deno.test("Sender removes what it has queued, and what comes later, once its webhook is removed", async () => {
  await using test = await TestSender.to(`http://127.0.0.1:${freePort()}`, { retry_delay: "1m" });
  for (const number of [0, 1]) test.send(number);
  assertEquals(test.outbox.left().length, 2);
  test.sender.remove();
  test.send(2);
  assertEquals(test.outbox.left(), []);
});

Deno.test("DeliveryOutbox lists deliveries in their order, also if the clock was set back since", async () => {
  await using home = tempHome();
  const open = () => new DeliveryOutbox(home.path, (message) => assert(false, message));
  const add = (outbox: DeliveryOutbox, number: number) =>
    outbox.add("ops", { id: `${number}`, event: "crash", about: "api", body: "{}" });
  const ids = (outbox: DeliveryOutbox) => outbox.left().map(({ id }) => Number(id));
  const [first, numbers] = [open(), Array.from({ length: 20 }, (_, number) => number)];
  for (const number of numbers) add(first, number);
  Deno.renameSync(add(first, 20).file, `${home.path}/${Date.now() + 86_400_000}.json`);
  const second = open();
  assertEquals(ids(second), [...numbers, 20]);
  add(second, 21);
  assertEquals(ids(open()), [...numbers, 20, 21]);
});

Deno.test("Sender sends nothing unsigned when the secret is missing", async () => {
  await using receiver = new Receiver();
  await using home = tempHome();
  const file = `${home.path}/key`;
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  const wire = { name: "ops", url: receiver.url, secret: { file }, retry_delay: "10ms" };
  const webhook = parseWebhook({ ...wire, max_attempts: 100 }, "/");
  const outbox = new DeliveryOutbox(`${home.path}/pending`, warn);
  const sender = new Sender({ webhook, key: undefined }, { outbox, warn });
  const message: Message = { id: "msg_1", event: "crash", about: "api", body: '{"type":"crash"}' };
  sender.send(outbox.add("ops", message));
  await waitFor(() => /cannot be read/.test(sender.status.last?.error ?? ""));
  assertEquals(receiver.got, []);
  Deno.writeTextFileSync(file, `${SECRET}\n`);
  await waitFor(() => sender.idle, { what: "it to be delivered" });
  assertEquals(receiver.got.map(({ signed }) => signed), [true]);
  sender.close();
});

Deno.test("Sender signs with the secret of its new settings, also if the old one is still read", async () => {
  await using receiver = new Receiver();
  await using home = tempHome();
  const outbox = new DeliveryOutbox(`${home.path}/pending`, () => {});
  const old = `whsec_${new Uint8Array(32).toBase64()}`;
  const wire = { name: "ops", url: receiver.url, secret: { command: `sleep 0.5; echo ${old}` } };
  const webhook = parseWebhook(wire, "/");
  const sender = new Sender({ webhook, key: undefined }, { outbox, warn: () => {} });
  const crash = { event: "crash", about: "api", body: '{"type":"crash"}' } as const;
  sender.send(outbox.add("ops", { ...crash, id: "msg_1" }));
  sender.reconfigure({ webhook, key: await signingKey("ops", SECRET) });
  sender.send(outbox.add("ops", { ...crash, id: "msg_2" }));
  await waitFor(() => sender.idle, { what: "both to be delivered" });
  const signed = receiver.got.map(({ id, signed }) => [id, signed === true]);
  assertEquals(signed, [["msg_1", false], ["msg_2", true]]);
  sender.close();
});
