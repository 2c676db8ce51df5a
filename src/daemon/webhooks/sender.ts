/** Brings messages to one webhook, one after the other in their order. */

import { shownUrl, type Webhook } from "../../model/webhook.ts";
import { retryDelay } from "../../model/webhook_rules.ts";
import { systemClock } from "../../platform/clock.ts";
import type { WebhookJson, WebhookTestJson } from "../../protocol/wire.ts";
import { type Attempt, attempt } from "./attempt.ts";
import type { Message } from "./message.ts";
import type { Delivery, Outbox } from "./outbox.ts";
import { webhookKey } from "./secret.ts";

/** How often what was dropped is told. */
const DROP_NOTE_MS = 60_000;

/** What a sender stands on. */
export interface SenderParts {
  readonly outbox: Outbox;
  readonly warn: (message: string) => void;
}

/** The queue of one webhook. */
export class Sender {
  readonly #parts: SenderParts;
  readonly #queue: { readonly delivery: Delivery; attempts: number }[] = [];
  readonly #closing = new AbortController();
  readonly #counts = { delivered: 0, failed: 0, dropped: 0 };
  #webhook: Webhook;
  #key: CryptoKey | undefined;
  #sending = false;
  #removed = false;
  #cancelWait: (() => void) | undefined;
  #last: WebhookJson["last"] = null;
  /** Dropped, and not told yet; told at once, and then now and then. */
  #untold = 0;
  #cancelTelling: (() => void) | undefined;

  constructor(webhook: Webhook, key: CryptoKey | undefined, parts: SenderParts) {
    this.#webhook = webhook;
    this.#key = key;
    this.#parts = parts;
  }

  /** Who is told, and of what. */
  get webhook(): Webhook {
    return this.#webhook;
  }

  /** Whether everything has been brought, or given up. */
  get idle(): boolean {
    return this.#queue.length === 0;
  }

  /** How it goes. */
  get status(): WebhookJson {
    const { name, url, format, events, only, secret } = this.#webhook;
    return {
      ...{ name, url: shownUrl(url), format, events, only, signed: secret !== undefined },
      ...{ queued: this.#queue.length, ...this.#counts, last: this.#last },
    };
  }

  /** Goes on with other settings; what waits is tried again at once. */
  reconfigure(webhook: Webhook, key: CryptoKey | undefined): void {
    this.#webhook = webhook;
    this.#key = key;
    this.#cancelWait?.();
    this.#cancelWait = undefined;
    this.#pump();
  }

  /** Sends what is on record, when its turn comes. */
  send(delivery: Delivery): void {
    if (this.#removed) return this.#parts.outbox.remove(delivery);
    if (this.#queue.length >= this.#webhook.maxQueued) this.#dropOldest();
    this.#queue.push({ delivery, attempts: 0 });
    this.#pump();
  }

  /** Counts something that had to make room. */
  dropped(): void {
    this.#counts.dropped++;
    this.#untold++;
    if (this.#cancelTelling === undefined) this.#tellDropped();
  }

  /** One attempt, past the queue. */
  async test(message: Message): Promise<WebhookTestJson> {
    return { name: this.#webhook.name, ...this.#note(await this.#attempt(message)) };
  }

  /** Sends nothing more; what waits stays on record. */
  close(): void {
    this.#closing.abort();
    this.#cancelWait?.();
    this.#cancelTelling?.();
  }

  /** The same, and what waits is forgotten. */
  remove(): void {
    this.#removed = true;
    this.close();
    for (const { delivery } of this.#queue.splice(0)) this.#parts.outbox.remove(delivery);
  }

  /** The first of the queue; the next one follows when it has come through or was given up. */
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
    // Told once, and not with every attempt.
    if (verdict === "again" && this.#last?.ok !== false) this.#warn(`${error}, is tried again`);
    this.#note(result);
    if (verdict === "again" && attempts < this.#webhook.maxAttempts) {
      const ms = retryDelay(this.#webhook, attempts, Math.random(), askedMs);
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
    // What is being sent may arrive: it is not dropped.
    const [oldest] = this.#queue.splice(this.#sending ? 1 : 0, 1);
    if (oldest === undefined) return;
    this.#parts.outbox.remove(oldest.delivery);
    this.dropped();
  }

  #tellDropped(): void {
    this.#cancelTelling = undefined;
    if (this.#untold === 0) return;
    this.#warn(
      `${this.#untold} of the oldest deliveries dropped, more than ${this.#webhook.maxQueued} wait`,
    );
    this.#untold = 0;
    this.#cancelTelling = systemClock.after(DROP_NOTE_MS, () => this.#tellDropped());
  }

  #attempt(message: Message): Promise<Attempt> {
    const webhook = this.#webhook;
    // A secret that could not be had is asked for again: nothing goes out unsigned for want of it.
    const key = async () => this.#key ??= await webhookKey(webhook);
    return attempt(webhook, message, key, this.#closing.signal);
  }

  #note({ verdict, status, error }: Attempt): NonNullable<WebhookJson["last"]> {
    const at = new Date().toISOString();
    return this.#last = { at, ok: verdict === "delivered", status, error };
  }

  #warn(what: string): void {
    this.#parts.warn(`Webhook "${this.#webhook.name}": ${what}`);
  }
}
