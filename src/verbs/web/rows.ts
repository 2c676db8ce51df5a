/** The verbs on the web listener, its tokens, and webhooks. */

import { WEBHOOK_KEYS } from "../../model/settings_keys.ts";
import { WEBHOOK_EVENTS, WEBHOOK_FORMATS } from "../../model/webhook.ts";
import * as z from "zod/mini";
import { about, flag, nothing, text, time } from "../shapes.ts";
import { ROLES, verb } from "../verb.ts";

/** State of the web listener. Address and URL are empty while it is stopped. */
const listener = z.object({
  status: z.enum(["started", "already_running", "running", "stopped"]),
  addr: about(z.string(), "`host:port`"),
  url: z.string(),
  warning: about(z.optional(z.string()), "What other machines can reach; absent on loopback"),
  public_url: about(z.optional(z.string()), "Where other machines reach it; absent: nowhere"),
});

export const namedToken = z.object({
  name: z.string(),
  role: z.enum(ROLES),
  created_at: z.string(),
  only: about(z.optional(z.array(z.string())), "The apps that exist for it; absent: all"),
  expires_at: about(z.optional(z.string()), "When it expires; absent: never"),
  made_by: about(z.optional(z.string()), "The token that created it; absent: the owner"),
  last_used_at: about(
    z.optional(z.string()),
    "Last use, after a restart of the daemon exact to an hour; absent: never used",
  ),
});

const webhookAttempt = z.object({
  at: time,
  ok: z.boolean(),
  status: about(z.nullable(z.int()), "HTTP status; null without an answer"),
  error: about(z.string(), "What went wrong; empty on success"),
});

/** A webhook, and its deliveries since the daemon started. */
export const webhook = z.object({
  name: z.string(),
  url: about(z.string(), "Without its secret part: https://hooks.example.com/…"),
  format: z.enum(WEBHOOK_FORMATS),
  events: z.array(z.enum(WEBHOOK_EVENTS)),
  only: about(z.array(z.string()), "Targets: a process must match one of them"),
  signed: about(z.boolean(), "Whether deliveries are signed"),
  queued: about(z.int(), "Deliveries that wait to be sent, or sent again"),
  delivered: z.int(),
  failed: about(z.int(), "Given up after the last attempt"),
  dropped: about(z.int(), "Discarded from a full queue"),
  last: about(z.nullable(webhookAttempt), "The last attempt; null before the first"),
});

export const webhookTest = z.extend(webhookAttempt, { name: z.string() });

/** The keys of a webhook beside its name, checked as those of a configuration file. */
const webhookKeys = Object.fromEntries(
  Object.entries(WEBHOOK_KEYS).filter(([key]) => key !== "name").map(([key, { help }]) => [
    key,
    about(z.optional(z.unknown()), `${help}; null: the default`),
  ]),
);

export const WEB_VERBS = {
  web_start: verb({
    help: "Listen on TCP",
    role: "admin",
    reach: "everything",
    input: z.strictObject({
      listen: about(
        z.optional(z.string()),
        "`host:port`; default: the last address, or `127.0.0.1:9615`",
      ),
      allow_remote: about(z.optional(flag), "Allow an address that other machines can reach"),
      hosts: about(
        z.optional(z.array(text).check(z.maxLength(100))),
        "Further host names that browsers may use; links have the first one",
      ),
      base_path: about(z.optional(text), "Path below which a proxy serves it, such as `/procsup`"),
      trusted_proxies: about(
        z.optional(z.array(text).check(z.maxLength(100))),
        "Addresses of proxies whose `X-Forwarded-For` and `X-Forwarded-Host` hold",
      ),
      max_clients: about(
        z.optional(z.int().check(z.minimum(1), z.maximum(10_000))),
        "Maximum number of WebSockets; default 256",
      ),
    }),
    output: listener,
  }),
  web_stop: verb({
    help: "Stop listening",
    role: "admin",
    reach: "everything",
    input: nothing,
    output: listener,
  }),
  web_status: verb({
    help: "Whether it listens",
    role: "admin",
    reach: "nothing",
    input: nothing,
    output: listener,
  }),
  web_link: verb({
    help: "Create a link that signs in once",
    role: "admin",
    reach: "nothing",
    input: nothing,
    output: z.object({ url: z.string(), expires_in_seconds: z.int() }),
  }),
  token_create: verb({
    help: "Create a named token",
    role: "admin",
    reach: "everything",
    input: z.strictObject({
      name: z.string(),
      role: z._default(z.enum(ROLES), "read"),
      only: about(
        z.optional(z.array(text).check(z.minLength(1), z.maxLength(100))),
        "Apps, by name, `ns:…`, `tag:…` or `label:…`: no others exist for the token",
      ),
      expires: about(z.optional(text), "How long it is valid, such as `30d`, or until when"),
    }),
    output: z.extend(namedToken, { token: about(z.string(), "It is not shown again") }),
    rest: [{ method: "POST", path: "/tokens", body: "TokenNew", answers: "TokenCreated" }],
  }),
  token_list: verb({
    help: "The named tokens",
    role: "admin",
    reach: "everything",
    input: nothing,
    output: z.array(namedToken),
    rest: [{ method: "GET", path: "/tokens", answers: "TokenList" }],
  }),
  token_revoke: verb({
    help: "Revoke a named token, and end its sessions and connections",
    role: "admin",
    reach: "everything",
    input: z.strictObject({ name: z.string() }),
    bare: "name",
    output: z.object({ status: z.literal("revoked") }),
    rest: [{ method: "DELETE", path: "/tokens/{name}", answers: "TokenRevoked" }],
  }),
  webhook_list: verb({
    help: "The webhooks and their deliveries",
    role: "read",
    reach: "settings",
    input: nothing,
    output: z.array(webhook),
    rest: [{ method: "GET", path: "/webhooks", answers: "WebhookList" }],
  }),
  webhook_test: verb({
    help: "Send one test event to every webhook, or to one; `ok` tells whether each was accepted",
    role: "admin",
    reach: "everything",
    input: z.strictObject({ name: z.optional(text) }),
    bare: "name",
    output: z.array(webhookTest),
    rest: [
      { method: "POST", path: "/webhooks/test", answers: "WebhookTests" },
      {
        method: "POST",
        path: "/webhooks/{name}/test",
        help: "Send one test event to a webhook; `ok` tells whether it was accepted",
        answers: "WebhookTest",
        answer: { schema: webhookTest, of: ([first]: readonly unknown[]) => first },
      },
    ],
  }),
  webhook_set: verb({
    help: "Add a webhook, or change keys of one",
    role: "admin",
    reach: "everything",
    input: z.strictObject({ name: text.clone(), ...webhookKeys }),
    bare: "name",
    output: webhook,
    rest: [{ method: "PATCH", path: "/webhooks/{name}", body: "WebhookPatch", answers: "Webhook" }],
  }),
  webhook_delete: verb({
    help: "Remove a webhook, with its waiting deliveries",
    role: "admin",
    reach: "everything",
    input: z.strictObject({ name: text.clone() }),
    bare: "name",
    output: z.object({ status: z.literal("deleted") }),
    rest: [{ method: "DELETE", path: "/webhooks/{name}", answers: "WebhookDeleted" }],
  }),
};
