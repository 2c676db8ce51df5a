/**
 * The WebSocket feed: the list of processes, or only what changed in it, every two seconds and at once
 * after a change. Each message is built and serialized once for all clients; nothing runs without
 * clients.
 */

import type { Principal } from "../auth/gatekeeper.ts";
import { messageOf } from "../model/errors.ts";
import type { ProcessChange } from "../model/process_info.ts";
import { type Cancel, type Clock, systemClock } from "../platform/clock.ts";
import { changeJson, USAGE_FIELDS } from "../protocol/process_json.ts";
import { rowChanges, type Rows } from "../protocol/row_changes.ts";
import type { Backend } from "./backend.ts";
import { FeedClient, type FeedSocket } from "./feed_client.ts";
import type { SharedMessage } from "./shared_message.ts";
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
  readonly #latest = new Map<string, Promise<List>>();
  /** The rows that the clients which see the same apps know. */
  readonly #sent = new Map<string, Rows>();

  constructor(parts: FeedParts) {
    this.#parts = { clock: systemClock, ...parts };
  }

  /** Adds a client, and sends it the list unless it subscribes to the changes of it. */
  join(socket: FeedSocket, principal: Principal): { receive(text: string): void; left(): void } {
    const client = new FeedClient(socket, this.#parts.backend.as(principal), principal);
    this.#clients.add(client);
    if (this.#clients.size === 1) this.#awaitTick();
    this.#quietly(async () => {
      const { message } = await this.#list(client);
      if (!client.wants("processes")) client.send(message());
    });
    return {
      receive: (text) => {
        const topics = client.receive(text);
        if (topics.includes("processes")) this.#quietly(() => this.#pushTo(client.sight));
        if (topics.includes("system_metrics")) {
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
    this.#sent.clear();
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
    for (const [sight, [client]] of bySight(this.#clients)) {
      const { message } = await this.#list(client!);
      for (const other of this.#clients) {
        if (other.sight === sight && !other.wants("processes")) other.sendList(message());
      }
      await this.#pushTo(sight);
    }
  }

  /** Sends what changed to the clients that see the same apps and know the rows, to others all rows. */
  async #pushTo(sight: string): Promise<void> {
    const isMeant = (client: FeedClient) => client.sight === sight && client.wants("processes");
    const client = this.#clients.values().find(isMeant);
    if (client === undefined) return;
    const { processes } = await this.#list(client);
    const changes = rowChanges(this.#sent.get(sight) ?? new Map(), processes);
    this.#sent.set(sight, new Map(processes.map((row) => [row.id, row])));
    const type = "processes";
    const news = once(() => encoded({ type, ...changes, ...timestamp() }));
    const all = once(() => encoded({ type, all: true, rows: processes, gone: [], ...timestamp() }));
    for (const one of this.#clients.values().filter(isMeant)) one.sendRows(news, all);
  }

  /** The list, cached until the next change or tick. */
  #list(client: FeedClient): Promise<List> {
    return this.#latest.getOrInsertComputed(client.sight, () => listFor(client));
  }

  #publishEvent(change: ProcessChange): void {
    let bytes: SharedMessage | undefined;
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

interface List {
  readonly processes: readonly ProcessJson[];
  /** The `process_list` message. */
  readonly message: () => SharedMessage;
}

async function listFor({ backend }: FeedClient): Promise<List> {
  const processes = await backend.dispatch("list", undefined) as ProcessJson[];
  const items = () => ({ processes: processes.map(itemOf), ...timestamp() });
  return { processes, message: once(() => encoded({ type: "process_list", ...items() })) };
}

/** Calls a function when its result is first wanted. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

async function metricsFor({ backend }: FeedClient): Promise<SharedMessage> {
  const metrics = await backend.dispatch("system_metrics", undefined);
  return encoded({ type: "system_metrics", metrics, ...timestamp() });
}

function itemOf(process: ProcessJson): Record<string, unknown> {
  return Object.fromEntries(ITEM_FIELDS.map((field) => [field, process[field]]));
}

function timestamp(): { timestamp: number } {
  return { timestamp: Math.floor(Date.now() / 1000) };
}

function encoded(message: unknown): SharedMessage {
  return { body: new TextEncoder().encode(JSON.stringify(message)) };
}
