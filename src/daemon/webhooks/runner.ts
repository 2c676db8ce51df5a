/** Runs the webhooks: turns events into deliveries. */

import { ifPossible, messageOf } from "../../model/errors.ts";
import type { ProcessChange } from "../../model/process_change.ts";
import type { LastWords } from "../../model/start_failed.ts";
import type { Webhook, WebhookEvent } from "../../model/webhook.ts";
import { lastWords } from "../../manager/last_words.ts";
import type { Supervisor } from "../../manager/supervisor.ts";
import type { ManagedProcess } from "../../process/managed_process.ts";
import type { WebhookJson, WebhookTestJson } from "../../protocol/wire.ts";
import { bodyWithOutput, messageAbout, OUTPUT_LINES, testMessage } from "./message.ts";
import { type Delivery, DeliveryOutbox } from "./delivery_outbox.ts";
import { type KeyedWebhook, Sender } from "./sender.ts";
import { TroubleWatch } from "./trouble_watch.ts";

/** Maximum number of announcements that wait for output to be read from a log. */
const MAX_UNWRITTEN = 1000;

interface RunnerParts {
  readonly folder: string;
  readonly supervisor: Supervisor;
  /** Address of the dashboard; undefined while it is not served. */
  readonly dashboard?: (() => string | undefined) | undefined;
  readonly warn: (message: string) => void;
}

/** A saved delivery that waits for the last output of its process. */
interface Announcement {
  readonly process: ManagedProcess;
  readonly to: readonly { readonly sender: Sender; readonly delivery: Delivery }[];
}

export class Runner {
  readonly #parts: RunnerParts;
  readonly #outbox: DeliveryOutbox;
  readonly #senders = new Map<string, Sender>();
  readonly #watch: TroubleWatch;
  /** Announcements that wait for the last output of their processes. */
  readonly #inbox: Announcement[] = [];
  #writing = false;

  constructor(parts: RunnerParts, webhooks: readonly KeyedWebhook[]) {
    const { folder, supervisor, warn } = parts;
    this.#parts = parts;
    this.#outbox = new DeliveryOutbox(`${folder}/pending`, warn);
    this.configure(webhooks);
    for (const delivery of this.#outbox.left()) {
      const sender = this.#senders.get(delivery.to);
      if (sender === undefined) this.#outbox.remove(delivery);
      else sender.send(delivery);
    }
    this.#watch = new TroubleWatch({
      path: `${folder}/troubled`,
      list: () => supervisor.registry.list(),
      announce: (event, change, process) => this.#announce(event, change, process),
    });
  }

  /** Whether no delivery is pending. */
  get idle(): boolean {
    return !this.#writing && [...this.#senders.values()].every(({ idle }) => idle);
  }

  get webhooks(): readonly KeyedWebhook[] {
    return [...this.#senders.values()].map(({ keyed }) => keyed);
  }

  configure(webhooks: readonly KeyedWebhook[]): void {
    const names = new Set(webhooks.map(({ webhook }) => webhook.name));
    for (const [name, sender] of this.#senders) {
      if (names.has(name)) continue;
      sender.remove();
      this.#senders.delete(name);
    }
    const { warn } = this.#parts;
    for (const { webhook, key } of webhooks) {
      const sender = this.#senders.get(webhook.name);
      if (sender !== undefined) {
        sender.reconfigure(webhook, key);
        continue;
      }
      this.#senders.set(webhook.name, new Sender(webhook, key, { outbox: this.#outbox, warn }));
    }
  }

  tell(change: ProcessChange): void {
    this.#watch.tell(change);
  }

  status(): WebhookJson[] {
    return [...this.#senders.values()].map(({ status }) => status);
  }

  /** Sends a test message to one webhook, or to all. */
  async test(name: string | undefined): Promise<WebhookTestJson[]> {
    const message = testMessage(Deno.hostname(), new Date());
    const asked = [...this.#senders.values()]
      .filter(({ webhook }) => name === undefined || webhook.name === name);
    return await Promise.all(asked.map((sender) => sender.test(message)));
  }

  /** Stops sending; pending deliveries stay on disk for the next daemon. */
  close(): void {
    this.#watch.close();
    for (const sender of this.#senders.values()) sender.close();
  }

  #announce(event: WebhookEvent, change: ProcessChange, process: ManagedProcess): void {
    const to = [...this.#senders.values()]
      .filter(({ webhook }) => this.#concerns(webhook, event, process));
    if (to.length === 0) return;
    const { namespace } = process.config;
    const dashboard = this.#parts.dashboard?.();
    const message = messageAbout(event, change, { namespace, host: Deno.hostname(), dashboard });
    // Save it at once, in case the daemon is killed.
    const deliveries = to.map((sender) => ({
      sender,
      delivery: this.#outbox.add(sender.webhook.name, message),
    }));
    if (this.#inbox.length >= MAX_UNWRITTEN) this.#dropOldest();
    this.#inbox.push({ process, to: deliveries });
    if (!this.#writing) void this.#write();
  }

  #dropOldest(): void {
    for (const { sender, delivery } of this.#inbox.shift()!.to) {
      this.#outbox.remove(delivery);
      sender.dropped();
    }
  }

  #concerns({ events, only }: Webhook, event: WebhookEvent, process: ManagedProcess): boolean {
    if (!events.includes(event)) return false;
    return only.some((target) => {
      // The target matches no process now, or is ambiguous.
      return ifPossible(() => this.#parts.supervisor.registry.resolve(target).includes(process));
    });
  }

  /** One at a time, so that deliveries keep the order of their events. */
  async #write(): Promise<void> {
    this.#writing = true;
    try {
      for (let next = this.#inbox.shift(); next !== undefined; next = this.#inbox.shift()) {
        const { process, to } = next;
        const isTrouble = to.some(({ delivery }) => delivery.event !== "recovered");
        const words = isTrouble ? await this.#lastWords(process) : undefined;
        for (const { sender, delivery } of to) {
          sender.send(
            words === undefined || words.lastOutput.length === 0
              ? delivery
              : this.#outbox.rewrite(delivery, bodyWithOutput(delivery.body, words)),
          );
        }
      }
    } finally {
      this.#writing = false;
    }
  }

  async #lastWords(process: ManagedProcess): Promise<LastWords | undefined> {
    try {
      // The next run may have begun already.
      const which = { runs: "all", lines: OUTPUT_LINES } as const;
      return await lastWords(process, which);
    } catch (error) {
      this.#parts.warn(`Webhooks: output of "${process.name}": ${messageOf(error)}`);
      return undefined;
    }
  }
}
