/** A client of the feed: its subscriptions, and the limits of its connection. */

import { ProcsupError } from "../model/errors.ts";
import type { ProcessChange } from "../model/process_change.ts";
import * as z from "../npm/zod.ts";
import { parseJson, readPayload } from "../protocol/verbs/read_input.ts";
import { logPositions, logStream } from "../protocol/verbs/logs.ts";
import { target, text } from "../protocol/verbs/shapes.ts";
import type { Backend } from "./backend.ts";
import { FeedLogs, type FeedLogsOptions } from "./feed_logs.ts";
import { publicError } from "./reply.ts";

export interface FeedSocket {
  send(text: string | Uint8Array<ArrayBuffer>): void;
  /** Estimated cost in bytes of the messages that were not sent yet. */
  unsent(): number;
  /** Sends a ping. Returns false if the previous one was not answered. */
  ping(): boolean;
  /** Closes the connection; with code 1006 it is dropped at once. */
  close(code: number, reason: string): void;
}

/** What a client can subscribe to, besides `process_list`. */
const TOPICS = ["events", "logs", "system_metrics"] as const;

type Topic = (typeof TOPICS)[number];

const topics = z.array(z.enum(TOPICS));

const unsubscription = z.strictObject({ type: text, topics });

/** The fields besides the target are those of `GET /logs`. */
const subscription = z.extend(unsubscription, {
  target: z._default(target, "all"),
  ...z.pick(logStream, { lines: true, grep: true, level: true }).shape,
  stderr: z.optional(z.boolean("expected true or false")),
});

const opening = z.strictObject({ from: z.optional(logPositions) });

type Subscription = z.output<typeof subscription>;

/** With more unsent bytes than this, a new list is skipped: the next one replaces it. */
const ENOUGH_LISTS = 256 * 1024;
/** A client with more unsent bytes is dropped. */
const MAX_UNSENT = 1024 * 1024;
const MAX_MESSAGES_A_SECOND = 50;
/** Maximum number of open logs per client. */
const MAX_OPENED = 16;
/** Close codes of RFC 6455. */
const [POLICY, GONE] = [1008, 1006];

export class FeedClient {
  readonly #socket: FeedSocket;
  readonly #backend: Backend;
  readonly #topics = new Set<Topic>();
  #matches: (change: ProcessChange) => boolean = () => true;
  #logs: FeedLogs | undefined;
  /** Opened logs by the id that the client chose. The log of the `logs` topic is not among them. */
  readonly #opened = new Map<number, FeedLogs>();
  #second = 0;
  #messages = 0;

  constructor(socket: FeedSocket, backend: Backend) {
    this.#socket = socket;
    this.#backend = backend;
  }

  wants(topic: Topic): boolean {
    return this.#topics.has(topic);
  }

  /** Whether the client subscribed to the events of a process. */
  wantsChange(change: ProcessChange): boolean {
    return this.wants("events") && this.#matches(change);
  }

  /** Sends a serialized message. Drops a client that does not read. */
  send(text: string | Uint8Array<ArrayBuffer>): void {
    if (this.#socket.unsent() > MAX_UNSENT) this.#socket.close(GONE, "too slow");
    else this.#socket.send(text);
  }

  /** Sends the list of processes. A slow client skips lists: it needs only the latest. */
  sendList(bytes: Uint8Array<ArrayBuffer>): void {
    const unsent = this.#socket.unsent();
    if (unsent <= ENOUGH_LISTS || unsent > MAX_UNSENT) this.send(bytes);
  }

  /** Sends a ping, or drops the client if the previous one was not answered. */
  ping(): void {
    if (!this.#socket.ping()) this.#socket.close(GONE, "no answer");
  }

  close(): void {
    this.#logs?.stop();
    for (const id of this.#opened.keys()) this.#closeLog(id);
    this.#topics.clear();
  }

  /** Disconnects the client because the server shuts down. */
  leave(): void {
    this.close();
    this.#socket.close(1001, "the server shuts down");
  }

  /** Handles a message of the client. Returns the topics it newly subscribed to. */
  receive(text: string): readonly Topic[] {
    if (this.#isFlood()) {
      this.#socket.close(POLICY, "too many messages");
      return [];
    }
    try {
      const message = parseJson(text) as Record<string, unknown> | null;
      if (message?.type === "ping") this.#tell({ type: "pong" });
      if (message?.type === "subscribe") return this.#subscribe(message);
      if (message?.type === "unsubscribe") this.#unsubscribe(message);
      if (message?.type === "open_log") this.#openLog(message);
      if (message?.type === "close_log") this.#closeLog(Number(message.id));
    } catch (error) {
      this.#tell({ type: "error", ...publicError(error) });
    }
    return [];
  }

  /** The topic `logs` is confirmed, like the others, once it is open. */
  #subscribe(message: unknown): readonly Topic[] {
    const { topics, ...wanted } = readPayload(subscription, message);
    const matches = this.#backend.matcher(wanted.target);
    if (topics.includes("events")) this.#matches = matches;
    const others = topics.filter((topic) => topic !== "logs");
    for (const topic of others) this.#topics.add(topic);
    if (topics.includes("logs")) this.#follow(wanted);
    if (others.length > 0 || topics.length === 0) this.#confirm(wanted.target);
    return topics;
  }

  #unsubscribe(message: unknown): void {
    const { topics } = readPayload(unsubscription, message);
    if (topics.includes("logs")) this.#logs?.stop();
    for (const topic of topics) this.#topics.delete(topic);
    this.#confirm();
  }

  /** Tells what the client is subscribed to. */
  #confirm(target?: string): void {
    this.#tell({ type: "subscribed", topics: [...this.#topics], target });
  }

  #follow({ target, lines = 0, grep, level, stderr }: Omit<Subscription, "topics">): void {
    const query = new URLSearchParams({ target, follow: "true" });
    if (lines === 0) query.set("new", "true");
    else query.set("lines", String(lines));
    for (const [key, value] of Object.entries({ grep, level })) {
      if (value !== undefined) query.set(key, value);
    }
    if (stderr !== undefined) query.set(stderr ? "stderr" : "stdout", "true");
    this.#logs?.stop();
    this.#topics.delete("logs");
    const opened = () => {
      this.#topics.add("logs");
      this.#confirm(target);
    };
    this.#logs = this.#logsOf(query, { opened });
  }

  /**
   * Opens a log: `{id, query, from}`, where the query is that of `GET /logs`, and `from` the positions
   * that it ended with.
   */
  #openLog({ id, query, from }: Record<string, unknown>): void {
    if (typeof id !== "number" || !Number.isSafeInteger(id)) {
      throw badRequest('Invalid "id": expected a whole number');
    }
    if (typeof query !== "string") throw badRequest('Invalid "query": expected text');
    this.#closeLog(id);
    if (this.#opened.size >= MAX_OPENED) {
      const message = `${MAX_OPENED} logs are open on this connection`;
      const error = publicError(new ProcsupError("too_many_clients", message));
      return this.#tell({ type: "error", id, ...error });
    }
    const start = readPayload(opening, { from });
    const log = this.#logsOf(new URLSearchParams(query), { id }, start);
    this.#opened.set(id, log);
    void log.ended.then(() => this.#opened.get(id) === log && this.#opened.delete(id));
  }

  #closeLog(id: number): void {
    this.#opened.get(id)?.stop();
    this.#opened.delete(id);
  }

  #logsOf(
    query: URLSearchParams,
    options: FeedLogsOptions,
    start: z.output<typeof opening> = {},
  ): FeedLogs {
    const sink = {
      unsent: () => this.#socket.unsent(),
      send: (message: string | Uint8Array<ArrayBuffer>) => this.send(message),
    };
    return new FeedLogs(
      () => this.#backend.streamLogs(query, { byName: true, ...start }),
      sink,
      options,
    );
  }

  #tell(message: unknown): void {
    this.send(JSON.stringify(message));
  }

  #isFlood(): boolean {
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.#second) this.#messages = 0;
    this.#second = second;
    return ++this.#messages > MAX_MESSAGES_A_SECOND;
  }
}

function badRequest(message: string): ProcsupError {
  return new ProcsupError("bad_request", message);
}
