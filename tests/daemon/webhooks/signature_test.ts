/** Signatures, verified by the library that receivers use. */

import { assertEquals, assertRejects } from "@std/assert";
import { Webhook } from "standardwebhooks";
import { ProcsupError } from "../../../src/model/errors.ts";
import { parseWebhook } from "../../../src/model/config_schema.ts";
import { signature, signingKey, webhookKey } from "../../../src/daemon/webhooks/sender.ts";
import { SECRET } from "../../support/receiver.ts";

const BODY = '{"type":"crash","text":"größer 😀"}';

Deno.test("signature() matches the example of the specification", async () => {
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const body = '{"test": 2432232314}';
  const key = await signingKey("ops", secret);
  assertEquals(
    await signature(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body),
    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  );
});

Deno.test("signature() is accepted by the receivers' library, with a base64 key and a raw key", async () => {
  const seconds = Math.floor(Date.now() / 1000);
  const raw = "a text of more than 24 bytes, ü";
  for (
    const [secret, receiver] of [
      [SECRET, new Webhook(SECRET)],
      [raw, new Webhook(new TextEncoder().encode(raw), { format: "raw" })],
    ] as const
  ) {
    const headers = {
      "webhook-id": "msg_1",
      "webhook-timestamp": String(seconds),
      "webhook-signature": await signature(await signingKey("a", secret), "msg_1", seconds, BODY),
    };
    assertEquals(receiver.verify(BODY, headers), JSON.parse(BODY));
  }
});

Deno.test("webhookKey() rejects an invalid or missing key, and never quotes it", async () => {
  const word = "s3cret";
  const bad: readonly [Record<string, string>, RegExp][] = [
    [{ command: `echo ${word}` }, /it has 6 bytes, expected 24 or more$/],
    [{ command: `echo whsec_${word}!` }, /expected base64 after whsec_$/],
    [{ command: `echo ${word} >&2; exit 7` }, /its command ended with exit code 7$/],
    [
      { env: "PROCSUP_TEST_NOT_SET" },
      /"PROCSUP_TEST_NOT_SET" is not set in the daemon's environment/,
    ],
    [{ file: "/does/not/exist" }, /the file "\/does\/not\/exist" cannot be read/],
  ];
  for (const [secret, message] of bad) {
    const webhook = parseWebhook({ name: "ops", url: "http://127.0.0.1/", secret }, "/");
    const error = await assertRejects(() => webhookKey(webhook), ProcsupError);
    assertEquals(error.code, "invalid_config");
    assertEquals(message.test(error.message), true, error.message);
    assertEquals(error.message.includes(word), false, error.message);
  }
});
