/**
 * The WebSocket feed: the list of processes every two seconds, and at once after a change. Each message
 * is built and serialized once for all clients; nothing runs without clients.
 */

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
  #latest: Promise<Uint8Array<ArrayBuffer>> | undefined;

  constructor(parts: FeedParts) {
    this.#parts = { clock: systemClock, ...parts };
  }

  /** Adds a client and sends it the list. */
  join(socket: FeedSocket): { receive(text: string): void; left(): void } {
    const client = new FeedClient(socket, this.#parts.backend);
    this.#clients.add(client);
    if (this.#clients.size === 1) this.#awaitTick();
    this.#quietly(async () => client.send(await this.#message()));
    return {
      receive: (text) => {
        if (client.receive(text).includes("system_metrics")) {
          this.#quietly(async () => client.send(await this.#metrics()));
        }
      },
      left: () => this.#remove(client),
    };
  }

  /** Call it after an event of a process. */
  changed(change: ProcessChange): void {
    if (this.#clients.size === 0) return;
    this.#latest = undefined;
    this.#tellEvent(change);
    if (this.#cancelPush !== undefined) return;
    const { clock } = this.#parts;
    const wait = Math.max(0, this.#pushedAt + COALESCE_MS - clock.steady());
    this.#cancelPush = clock.after(wait, () => {
      this.#cancelPush = undefined;
      this.#quietly(() => this.#push());
    });
  }

  /** Sends a message to all clients that subscribed to events. */
  tell(message: unknown): void {
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
    this.#cancelPush = this.#latest = undefined;
  }

  #awaitTick(): void {
    this.#cancelTick = this.#parts.clock.after(TICK_MS, () => this.#tick());
  }

  #tick(): void {
    this.#awaitTick();
    this.#latest = undefined;
    this.#quietly(() => this.#push());
    if (++this.#ticks % TICKS_A_PING === 0) { for (const client of this.#clients) client.ping(); }
    const curious = [...this.#clients].filter((client) => client.wants("system_metrics"));
    if (curious.length === 0) return;
    this.#quietly(async () => {
      const text = await this.#metrics();
      for (const client of curious) client.send(text);
    });
  }

  async #push(): Promise<void> {
    this.#pushedAt = this.#parts.clock.steady();
    const bytes = await this.#message();
    for (const client of this.#clients) client.sendList(bytes);
  }

  /** The list, cached until the next change or tick. */
  #message(): Promise<Uint8Array<ArrayBuffer>> {
    return this.#latest ??= this.#list();
  }

  async #list(): Promise<Uint8Array<ArrayBuffer>> {
    const list = await this.#parts.backend.dispatch("list", undefined) as ProcessJson[];
    return encoded({ type: "process_list", processes: list.map(itemOf), ...timestamp() });
  }

  async #metrics(): Promise<Uint8Array<ArrayBuffer>> {
    const metrics = await this.#parts.backend.dispatch("system_metrics", undefined);
    return encoded({ type: "system_metrics", metrics, ...timestamp() });
  }

  #tellEvent(change: ProcessChange): void {
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
      this.#latest = undefined;
      this.#parts.warn(`Feed: ${messageOf(error)}`);
    });
  }
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
