/** Sends messages to one webhook, in order and one at a time. */

import type { Purpose } from "../../manager/check_config.ts";
import { shownUrl, type Webhook } from "../../model/webhook.ts";
import {
  retryAfter,
  retryDelay,
  signedText,
  type Verdict,
  verdictOf,
} from "../../model/webhook_rules.ts";
import { systemClock, timeoutSignal } from "../../platform/clock.ts";
import { fetchProblem, withoutProxyHere } from "../../platform/sockets/direct_http.ts";
import { VERSION } from "../../protocol/version.ts";
import type { WebhookJson, WebhookTestJson } from "../../protocol/wire.ts";
import type { Delivery, DeliveryOutbox } from "./delivery_outbox.ts";
import { bodyIn, type Message } from "./message.ts";
import { ifPossible, messageOf, ProcsupError } from "../../model/errors.ts";
import { readForeignFile } from "../../platform/files/foreign_file.ts";
import { printedSecret } from "../../platform/launch/shell.ts";

/** A webhook with its signing key. The key is undefined if not configured, or unreadable now. */
export interface KeyedWebhook {
  readonly webhook: Webhook;
  readonly key: CryptoKey | undefined;
}

/** Minimum time between log lines about dropped deliveries. */
const DROP_NOTE_MS = 60_000;

interface SenderParts {
  readonly outbox: DeliveryOutbox;
  readonly warn: (message: string) => void;
}

export class Sender {
  readonly #parts: SenderParts;
  readonly #queue: { readonly delivery: Delivery; attempts: number }[] = [];
  readonly #closing = new AbortController();
  readonly #counts = { delivered: 0, failed: 0, dropped: 0 };
  #keyed: KeyedWebhook;
  #sending = false;
  #removed = false;
  #cancelWait: (() => void) | undefined;
  #last: WebhookJson["last"] = null;
  /** Dropped deliveries that were not logged yet. */
  #unreported = 0;
  #cancelReport: (() => void) | undefined;

  constructor(keyed: KeyedWebhook, parts: SenderParts) {
    this.#keyed = keyed;
    this.#parts = parts;
  }

  get keyed(): KeyedWebhook {
    return this.#keyed;
  }

  get webhook(): Webhook {
    return this.#keyed.webhook;
  }

  /** Whether every delivery has arrived or was given up. */
  get idle(): boolean {
    return this.#queue.length === 0;
  }

  get status(): WebhookJson {
    const { name, url, format, events, only, secret } = this.webhook;
    return {
      ...{ name, url: shownUrl(url), format, events, only, signed: secret !== undefined },
      ...{ queued: this.#queue.length, ...this.#counts, last: this.#last },
    };
  }

  /** Changes the settings, and retries waiting deliveries at once. */
  reconfigure(keyed: KeyedWebhook): void {
    this.#keyed = keyed;
    this.#cancelWait?.();
    this.#cancelWait = undefined;
    this.#pump();
  }

  /** Queues a saved delivery. */
  send(delivery: Delivery): void {
    if (this.#removed) return this.#parts.outbox.remove(delivery);
    if (this.#queue.length >= this.webhook.maxQueued) this.#dropOldest();
    this.#queue.push({ delivery, attempts: 0 });
    this.#pump();
  }

  /** Counts a delivery that was dropped to make room. */
  dropped(): void {
    this.#counts.dropped++;
    this.#unreported++;
    if (this.#cancelReport === undefined) this.#reportDropped();
  }

  /** Makes one attempt at once, without the queue. */
  async test(message: Message): Promise<WebhookTestJson> {
    return { name: this.webhook.name, ...this.#note(await this.#attempt(message)) };
  }

  /** Stops sending; pending deliveries stay on disk. */
  close(): void {
    this.#closing.abort();
    this.#cancelWait?.();
    this.#cancelReport?.();
  }

  /** Stops sending and removes pending deliveries. */
  remove(): void {
    this.#removed = true;
    this.close();
    for (const { delivery } of this.#queue.splice(0)) this.#parts.outbox.remove(delivery);
  }

  /** Sends the first delivery of the queue, then continues with the next. */
  #pump(): void {
    const first = this.#queue[0];
    const busy = this.#sending || this.#cancelWait !== undefined;
    if (first === undefined || busy || this.#closing.signal.aborted) return;
    this.#sending = true;
    void this.#attempt(first.delivery).then((result) => {
      this.#sending = false;
      if (this.#closing.signal.aborted) return;
      first.attempts++;
      this.#settle(first, result);
      this.#pump();
    });
  }

  #settle(
    entry: { readonly delivery: Delivery; readonly attempts: number },
    result: Attempt,
  ): void {
    const { verdict, error, askedMs } = result;
    const { delivery, attempts } = entry;
    // Log the first failure, not every attempt.
    if (verdict === "again" && this.#last?.ok !== false) this.#warn(`${error}; will try again`);
    this.#note(result);
    if (verdict === "again" && attempts < this.webhook.maxAttempts) {
      const ms = retryDelay(this.webhook, attempts, Math.random(), askedMs);
      this.#cancelWait = systemClock.after(ms, () => {
        this.#cancelWait = undefined;
        this.#pump();
      });
      return;
    }
    this.#counts[verdict === "delivered" ? "delivered" : "failed"]++;
    if (verdict !== "delivered") {
      const times = attempts === 1 ? "" : ` after ${attempts} attempts`;
      this.#warn(`${delivery.event} of "${delivery.about}" given up${times}: ${error}`);
    }
    this.#queue.splice(this.#queue.indexOf(entry), 1);
    this.#parts.outbox.remove(delivery);
  }

  #dropOldest(): void {
    // The delivery being sent may still arrive: keep it.
    const [oldest] = this.#queue.splice(this.#sending ? 1 : 0, 1);
    if (oldest === undefined) return;
    this.#parts.outbox.remove(oldest.delivery);
    this.dropped();
  }

  #reportDropped(): void {
    this.#cancelReport = undefined;
    if (this.#unreported === 0) return;
    this.#warn(
      `${this.#unreported} of the oldest deliveries dropped: limit ${this.webhook.maxQueued}`,
    );
    this.#unreported = 0;
    this.#cancelReport = systemClock.after(DROP_NOTE_MS, () => this.#reportDropped());
  }

  #attempt(message: Message): Promise<Attempt> {
    const keyed = this.#keyed;
    const key = async () => {
      if (keyed.key !== undefined) return keyed.key;
      // Without its secret a delivery is never sent unsigned: read the secret again instead.
      const key = await webhookKey(keyed.webhook);
      if (this.#keyed === keyed) this.#keyed = { ...keyed, key };
      return key;
    };
    return attempt(keyed.webhook, message, key, this.#closing.signal);
  }

  #note({ verdict, status, error }: Attempt): NonNullable<WebhookJson["last"]> {
    const at = new Date().toISOString();
    return this.#last = { at, ok: verdict === "delivered", status, error };
  }

  #warn(what: string): void {
    this.#parts.warn(`Webhook "${this.webhook.name}": ${what}`);
  }
}

interface Attempt {
  readonly verdict: Verdict;
  /** HTTP status; null without an answer. */
  readonly status: number | null;
  /** What went wrong, without secret parts of the URL; empty on success. */
  readonly error: string;
  /** Delay that the receiver asked for. */
  readonly askedMs: number;
}

/** Sends a message. Never throws: on failure it can be sent again. */
async function attempt(
  webhook: Webhook,
  message: Message,
  key: () => Promise<CryptoKey | undefined>,
  signal: AbortSignal,
): Promise<Attempt> {
  const deadline = timeoutSignal(webhook.timeoutMs);
  try {
    const body = bodyIn(webhook.format, message.body);
    const response = await fetch(webhook.url, {
      method: "POST",
      headers: await headersOf(message.id, body, await key()),
      body,
      redirect: "manual",
      signal: AbortSignal.any([signal, deadline]),
      ...withoutProxyHere(webhook.url),
    });
    const { status, headers } = response;
    // The body is not needed, and it may be endless.
    void response.body?.cancel().catch(() => {});
    const verdict = verdictOf(status);
    return {
      verdict,
      status,
      error: verdict === "delivered" ? "" : `it answered ${status}`,
      askedMs: retryAfter(headers.get("retry-after"), Date.now()),
    };
  } catch (error) {
    const late = `no answer within ${webhook.timeoutMs} ms`;
    const why = deadline.aborted ? late : withoutUrl(fetchProblem(error), webhook.url);
    return { verdict: "again", status: null, error: why, askedMs: 0 };
  }
}

async function headersOf(id: string, body: string, key: CryptoKey | undefined): Promise<Headers> {
  const seconds = Math.floor(Date.now() / 1000);
  const headers = new Headers({
    "content-type": "application/json",
    "user-agent": `procsup/${VERSION}`,
    "webhook-id": id,
    "webhook-timestamp": String(seconds),
  });
  if (key !== undefined) headers.set("webhook-signature", await signature(key, id, seconds, body));
  return headers;
}

/** Removes the URL, which may be a secret, from an error of the runtime. */
function withoutUrl(text: string, url: string): string {
  const { href, pathname, search } = new URL(url);
  const hidden = pathname + search;
  const open = text.replaceAll(href, shownUrl(url)).replaceAll(url, shownUrl(url));
  return hidden === "/" ? open : open.replaceAll(hidden, "/…");
}

/** Time limit for a command that prints a secret. */
const COMMAND_TIMEOUT_MS = 10_000;

/**
 * The signing key of a webhook; undefined if none is configured. Throws `invalid_config`, without the
 * secret.
 */
export async function webhookKey(
  webhook: Webhook,
  purpose: Purpose = "start",
): Promise<CryptoKey | undefined> {
  if (webhook.secret === undefined) return undefined;
  if (purpose === "look" && webhook.secret.command !== undefined) return undefined;
  const text = await secretText(webhook);
  return await signingKey(webhook.name, text.replace(/\r?\n$/, ""));
}

async function secretText({ name, secret = {}, cwd }: Webhook): Promise<string> {
  const { env, file, command } = secret;
  const refuse = (why: string) => invalidSecret(name, why);
  if (env !== undefined) {
    const value = Deno.env.get(env);
    if (value !== undefined) return value;
    throw refuse(`the variable "${env}" is not set in the daemon's environment`);
  }
  if (file !== undefined) {
    try {
      return readForeignFile(file);
    } catch (error) {
      throw refuse(`the file "${file}" cannot be read: ${messageOf(error)}`);
    }
  }
  const around = { cwd, env: Deno.env.toObject(), timeoutMs: COMMAND_TIMEOUT_MS };
  return await printedSecret({ command: command!, ...around }).catch((error) => {
    throw refuse(messageOf(error));
  });
}

/** Minimum of the specification. */
const LEAST_KEY_BYTES = 24;

const PREFIX = "whsec_";

/** Reads the key: base64 after `whsec_`, otherwise the text itself. Throws `invalid_config`. */
export async function signingKey(name: string, secret: string): Promise<CryptoKey> {
  const bytes = secret.startsWith(PREFIX)
    ? ifPossible(() => Uint8Array.fromBase64(secret.slice(PREFIX.length)))
    : new TextEncoder().encode(secret);
  if (bytes === undefined) throw invalidSecret(name, `expected base64 after ${PREFIX}`);
  if (bytes.length < LEAST_KEY_BYTES) {
    const why = `it has ${bytes.length} bytes, expected ${LEAST_KEY_BYTES} or more`;
    throw invalidSecret(name, why, "To create one: openssl rand -base64 32");
  }
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  return await crypto.subtle.importKey("raw", bytes, algorithm, false, ["sign"]);
}

/** The value of the `webhook-signature` header. `seconds` is the time of the attempt. */
export async function signature(
  key: CryptoKey,
  id: string,
  seconds: number,
  body: string,
): Promise<string> {
  const text = new TextEncoder().encode(signedText(id, seconds, body));
  return `v1,${new Uint8Array(await crypto.subtle.sign("HMAC", key, text)).toBase64()}`;
}

function invalidSecret(name: string, why: string, hint?: string): ProcsupError {
  return new ProcsupError("invalid_config", `Invalid "webhooks.${name}.secret": ${why}`, { hint });
}
