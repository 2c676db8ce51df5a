/**
 * The WebSocket feed: the list of processes every two seconds, and at once after a change. Each message
 * is built and serialized once for all clients; nothing runs without clients.
 */

import type { Principal } from "../auth/gatekeeper.ts";
import { messageOf } from "../model/errors.ts";
import type { ProcessChange } from "../model/process_info.ts";
import { type Cancel, type Clock, systemClock } from "../platform/clock.ts";
import { changeJson, USAGE_FIELDS } from "../protocol/process_json.ts";
import type { Backend } from "./backend.ts";
import { FeedClient, type FeedSocket } from "./feed_client.ts";
import type { ProcessJson } from "../protocol/wire.ts";

/** Fields of the items of the `process_list` message. */
const ITEM_FIELDS = [
  "id",
  "numeric_id",
  "name",
  "runtime",
  "state",
  "pid",
  "exit_code",
  "restarts",
  ...USAGE_FIELDS,
] as const satisfies (keyof ProcessJson)[];

const TICK_MS = 2000;
const COALESCE_MS = 100;
const TICKS_A_PING = 15;

interface FeedParts {
  readonly backend: Backend;
  readonly warn: (message: string) => void;
  readonly clock?: Pick<Clock, "steady" | "after">;
}

export class Feed {
  readonly #parts: FeedParts & { readonly clock: Pick<Clock, "steady" | "after"> };
  readonly #clients = new Set<FeedClient>();
  #cancelTick: Cancel | undefined;
  #ticks = 0;
  #cancelPush: Cancel | undefined;
  #pushedAt = -Infinity;
  /** The list for clients that see the same apps. */
  readonly #latest = new Map<string, Promise<Uint8Array<ArrayBuffer>>>();

  constructor(parts: FeedParts) {
    this.#parts = { clock: systemClock, ...parts };
  }

  /** Adds a client and sends it the list. */
  join(socket: FeedSocket, principal: Principal): { receive(text: string): void; left(): void } {
    const client = new FeedClient(socket, this.#parts.backend.as(principal));
    this.#clients.add(client);
    if (this.#clients.size === 1) this.#awaitTick();
    this.#quietly(async () => client.send(await this.#list(client)));
    return {
      receive: (text) => {
        if (client.receive(text).includes("system_metrics")) {
          this.#quietly(async () => client.send(await metricsFor(client)));
        }
      },
      left: () => this.#remove(client),
    };
  }

  /** Call it after an event of a process. */
  changed(change: ProcessChange): void {
    if (this.#clients.size === 0) return;
    this.#latest.clear();
    this.#publishEvent(change);
    if (this.#cancelPush !== undefined) return;
    const { clock } = this.#parts;
    const wait = Math.max(0, this.#pushedAt + COALESCE_MS - clock.steady());
    this.#cancelPush = clock.after(wait, () => {
      this.#cancelPush = undefined;
      this.#quietly(() => this.#push());
    });
  }

  /** Sends a message to all clients that subscribed to events. */
  publish(message: unknown): void {
    const bytes = encoded(message);
    for (const client of this.#clients) if (client.wants("events")) client.send(bytes);
  }

  close(): void {
    for (const client of this.#clients) {
      client.leave();
      this.#remove(client);
    }
  }

  #remove(client: FeedClient): void {
    client.close();
    this.#clients.delete(client);
    if (this.#clients.size > 0) return;
    this.#cancelTick?.();
    this.#cancelPush?.();
    this.#cancelPush = undefined;
    this.#latest.clear();
  }

  #awaitTick(): void {
    this.#cancelTick = this.#parts.clock.after(TICK_MS, () => this.#tick());
  }

  #tick(): void {
    this.#awaitTick();
    this.#latest.clear();
    this.#quietly(() => this.#push());
    if (++this.#ticks % TICKS_A_PING === 0) { for (const client of this.#clients) client.ping(); }
    const curious = [...this.#clients].filter((client) => client.wants("system_metrics"));
    for (const [, clients] of bySight(curious)) {
      this.#quietly(async () => {
        const text = await metricsFor(clients[0]!);
        for (const client of clients) client.send(text);
      });
    }
  }

  async #push(): Promise<void> {
    this.#pushedAt = this.#parts.clock.steady();
    for (const [, clients] of bySight(this.#clients)) {
      const bytes = await this.#list(clients[0]!);
      for (const client of clients) client.sendList(bytes);
    }
  }

  /** The list, cached until the next change or tick. */
  #list(client: FeedClient): Promise<Uint8Array<ArrayBuffer>> {
    return this.#latest.getOrInsertComputed(client.sight, () => listFor(client));
  }

  #publishEvent(change: ProcessChange): void {
    let bytes: Uint8Array<ArrayBuffer> | undefined;
    for (const client of this.#clients) {
      if (!client.wantsChange(change)) continue;
      bytes ??= encoded({ type: "event", event: changeJson(change) });
      client.send(bytes);
    }
  }

  /** Logs an error; the next message is another attempt. */
  #quietly(act: () => Promise<void>): void {
    act().catch((error) => {
      this.#latest.clear();
      this.#parts.warn(`Feed: ${messageOf(error)}`);
    });
  }
}

/** Clients that see the same apps get the same messages. */
function bySight(clients: Iterable<FeedClient>): Map<string, FeedClient[]> {
  return Map.groupBy(clients, ({ sight }) => sight);
}

async function listFor({ backend }: FeedClient): Promise<Uint8Array<ArrayBuffer>> {
  const list = await backend.dispatch("list", undefined) as ProcessJson[];
  return encoded({ type: "process_list", processes: list.map(itemOf), ...timestamp() });
}

async function metricsFor({ backend }: FeedClient): Promise<Uint8Array<ArrayBuffer>> {
  const metrics = await backend.dispatch("system_metrics", undefined);
  return encoded({ type: "system_metrics", metrics, ...timestamp() });
}

function itemOf(process: ProcessJson): Record<string, unknown> {
  return Object.fromEntries(ITEM_FIELDS.map((field) => [field, process[field]]));
}

function timestamp(): { timestamp: number } {
  return { timestamp: Math.floor(Date.now() / 1000) };
}

function encoded(message: unknown): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify(message));
}
