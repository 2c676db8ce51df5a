/** Runs the webhooks: turns events into deliveries. */

import { ifPossible, messageOf } from "../../model/errors.ts";
import { bodyAbout, type EventBody, testBody } from "../../model/event_body.ts";
import type { ProcessChange } from "../../model/process_info.ts";
import type { Webhook, WebhookEvent } from "../../model/webhook.ts";
import { explained } from "../../manager/last_words.ts";
import type { Supervisor } from "../../manager/supervisor.ts";
import type { ManagedProcess } from "../../process/managed_process.ts";
import type { WebhookJson, WebhookTestJson } from "../../protocol/wire.ts";
import { messageWith } from "./message.ts";
import { type Delivery, DeliveryOutbox } from "./delivery_outbox.ts";
import { type KeyedWebhook, Sender } from "./sender.ts";
import { isTrouble, recoveredIn, reportAt } from "../../model/webhook_rules.ts";
import { appendToFile, readFileIfAny, replaceFile } from "../../platform/files/atomic_file.ts";
import { type Cancel, systemClock } from "../../platform/clock.ts";

/** Maximum number of announcements that wait for output to be read from a log. */
const MAX_UNWRITTEN = 1000;

export interface RunnerParts {
  readonly folder: string;
  readonly supervisor: Supervisor;
  /** Address of the dashboard, for links; undefined while it is not served. */
  readonly dashboard?: () => string | undefined;
  readonly warn: (message: string) => void;
}

/** A saved delivery that waits for the last output of its process. */
interface Announcement {
  readonly body: EventBody;
  /** Undefined for the host, and for a deleted process. */
  readonly process: ManagedProcess | undefined;
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
      list: () => supervisor.directory.list(),
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
    for (const keyed of webhooks) {
      const { name } = keyed.webhook;
      const sender = this.#senders.get(name);
      if (sender !== undefined) sender.reconfigure(keyed);
      else this.#senders.set(name, new Sender(keyed, { outbox: this.#outbox, warn }));
    }
  }

  notify(change: ProcessChange): void {
    this.#watch.notify(change);
  }

  status(): WebhookJson[] {
    return [...this.#senders.values()].map(({ status }) => status);
  }

  /** Sends a test message to one webhook, or to all. */
  async test(name: string | undefined): Promise<WebhookTestJson[]> {
    const message = messageWith(testBody(Deno.hostname(), new Date()));
    const asked = [...this.#senders.values()]
      .filter(({ webhook }) => name === undefined || webhook.name === name);
    return await Promise.all(asked.map((sender) => sender.test(message)));
  }

  /** Stops sending; pending deliveries stay on disk for the next daemon. */
  close(): void {
    this.#watch.close();
    for (const sender of this.#senders.values()) sender.close();
  }

  #announce(
    event: WebhookEvent,
    change: ProcessChange,
    process: ManagedProcess | undefined,
  ): void {
    const senders = [...this.#senders.values()]
      .filter(({ webhook }) => this.#concerns(webhook, event, process));
    if (senders.length === 0) return;
    const { namespace = "" } = process?.config ?? {};
    const dashboard = this.#parts.dashboard?.();
    const body = bodyAbout(event, change, { namespace, host: Deno.hostname(), dashboard });
    const message = messageWith(body);
    // Save it at once, in case the daemon is killed.
    const saved = (sender: Sender) => this.#outbox.add(sender.webhook.name, message);
    const to = senders.map((sender) => ({ sender, delivery: saved(sender) }));
    if (this.#inbox.length >= MAX_UNWRITTEN) this.#dropOldest();
    this.#inbox.push({ body, process, to });
    if (!this.#writing) void this.#write();
  }

  #dropOldest(): void {
    for (const { sender, delivery } of this.#inbox.shift()!.to) {
      this.#outbox.remove(delivery);
      sender.dropped();
    }
  }

  #concerns(
    { events, only }: Webhook,
    event: WebhookEvent,
    process: ManagedProcess | undefined,
  ): boolean {
    if (!events.includes(event)) return false;
    // No other target matches the host or a deleted process.
    if (process === undefined) return only.includes("all");
    const { directory } = this.#parts.supervisor;
    // A target may match no process now, or be ambiguous.
    return only.some((target) => ifPossible(() => directory.resolve(target).includes(process)));
  }

  /** One at a time, so that deliveries keep the order of their events. */
  async #write(): Promise<void> {
    this.#writing = true;
    try {
      for (let next = this.#inbox.shift(); next !== undefined; next = this.#inbox.shift()) {
        const { body, process, to } = next;
        const more = process === undefined ? body : await this.#explained(body, process);
        const whole = more === body ? undefined : JSON.stringify(more);
        for (const { sender, delivery } of to) {
          sender.send(whole === undefined ? delivery : this.#outbox.rewrite(delivery, whole));
        }
      }
    } finally {
      this.#writing = false;
    }
  }

  #explained(body: EventBody, process: ManagedProcess): Promise<EventBody> {
    return explained(body, process).catch((error) => {
      this.#parts.warn(`Webhooks: output of "${process.name}": ${messageOf(error)}`);
      return body;
    });
  }
}

interface TroubleParts {
  /** Path of the file that keeps their ids. */
  readonly path: string;
  readonly list: () => readonly ManagedProcess[];
  /** Called with each event for webhooks. The host and a deleted process have no process. */
  readonly announce: (
    event: WebhookEvent,
    change: ProcessChange,
    process?: ManagedProcess,
  ) => void;
}

/** Tracks processes in trouble until they have recovered, across restarts of the daemon. */
class TroubleWatch {
  readonly #parts: TroubleParts;
  readonly #troubled: Troubled;
  /** Timers of further checks, by UUID. */
  readonly #looks = new Map<string, Cancel>();

  constructor(parts: TroubleParts) {
    this.#parts = parts;
    this.#troubled = new Troubled(parts.path);
    for (const id of this.#troubled.ids) this.#look(id);
  }

  notify(change: ProcessChange): void {
    const { id, type } = change;
    const report = reportAt(type);
    if (report !== undefined) {
      const process = this.#find(id);
      if (isTrouble(report)) {
        // A deleted process cannot recover.
        if (process === undefined) return;
        this.#cancelLook(id);
        this.#troubled.add(id);
      }
      this.#parts.announce(report, change, process);
    } else if (type === "deleted") this.#forget(id);
    else if (this.#troubled.has(id)) this.#look(id);
  }

  close(): void {
    for (const cancel of this.#looks.values()) cancel();
  }

  #look(id: string): void {
    this.#cancelLook(id);
    const process = this.#find(id);
    if (process === undefined) return this.#forget(id);
    const { snapshot, config } = process;
    const { health, uptimeMs } = process.info();
    const ms = recoveredIn({ snapshot, health, uptimeMs, config });
    if (ms === 0) return this.#recovered(process);
    if (ms !== undefined) this.#looks.set(id, systemClock.after(ms, () => this.#look(id)));
  }

  #recovered(process: ManagedProcess): void {
    const { snapshot: { state, pid, restarts, lastExit }, id, name, config } = process;
    this.#forget(id);
    const reason = state === "stopped"
      ? "completed with success"
      : config.healthCheck === undefined
      ? "runs stably again"
      : "runs stably again, and is healthy";
    const change: ProcessChange = {
      ...{ type: "running", at: new Date(), id, name, state, pid, restarts, reason },
      exit: lastExit,
    };
    this.#parts.announce("recovered", change, process);
  }

  #find(id: string): ManagedProcess | undefined {
    return this.#parts.list().find((process) => process.id === id);
  }

  #forget(id: string): void {
    this.#cancelLook(id);
    this.#troubled.delete(id);
  }

  #cancelLook(id: string): void {
    this.#looks.get(id)?.();
    this.#looks.delete(id);
  }
}

/** Number of superfluous lines at which the file is rewritten. */
const SPARE_LINES = 1000;

/**
 * The ids of processes in trouble, on disk: one line for each that got into trouble or recovered.
 * Written before webhooks are sent, so that a later daemon knows whose recovery to report. If the
 * disk is full, only reports of recovery are lost.
 */
export class Troubled {
  readonly #path: string;
  readonly #ids: Set<string>;
  #lines = Infinity;

  constructor(path: string) {
    this.#path = path;
    this.#ids = read(path);
  }

  get ids(): readonly string[] {
    return [...this.#ids];
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  add(id: string): void {
    if (this.#ids.has(id)) return;
    this.#ids.add(id);
    this.#write(`+${id}`);
  }

  delete(id: string): void {
    if (this.#ids.delete(id)) this.#write(`-${id}`);
  }

  #write(line: string): void {
    try {
      // Start with the newline: a line cut off by a full disk then spoils only itself.
      if (this.#lines < this.#ids.size + SPARE_LINES && appendToFile(this.#path, `\n${line}`)) {
        this.#lines++;
        return;
      }
      replaceFile(this.#path, this.ids.map((id) => `+${id}`).join("\n"));
      this.#lines = this.#ids.size;
    } catch {
      // A full disk is reported elsewhere.
    }
  }
}

function read(path: string): Set<string> {
  const ids = new Set<string>();
  for (const line of readFileIfAny(path)?.split("\n") ?? []) {
    if (line.startsWith("+")) ids.add(line.slice(1));
    else ids.delete(line.slice(1));
  }
  return ids;
}
