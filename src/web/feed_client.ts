/** A client of the feed: its subscriptions, its logs, and the limits of its connection. */

import { allowRole, type Principal } from "../auth/gatekeeper.ts";
import { ProcsupError } from "../model/errors.ts";
import type { LogStart } from "../model/log_line.ts";
import type { ProcessChange } from "../model/process_info.ts";
import type { ErrorJson } from "../protocol/envelope.ts";
import type { TerminalPiece } from "../protocol/process_json.ts";
import { type FeedMessage, readFeedMessage, TOPICS } from "../verbs/feed.ts";
import { type LogQueryFields, logQueryFrom } from "../verbs/logs/rows.ts";
import { parseJson, readPayload } from "../verbs/read_input.ts";
import type { Backend, LogLines } from "./backend.ts";
import { publicError } from "./reply.ts";
import type { SharedMessage } from "./shared_message.ts";

export interface FeedSocket {
  send(message: string | SharedMessage): void;
  /** Estimated cost in bytes of the messages that were not sent yet. */
  unsent(): number;
  /** Sends a ping. Returns false if the previous one was not answered. */
  ping(): boolean;
  /** Closes the connection; with code 1006 it is dropped at once. */
  close(code: number, reason: string): void;
}

type Topic = (typeof TOPICS)[number];

type FieldsOf<T extends FeedMessage["type"]> = (FeedMessage & { readonly type: T })["fields"];

/** With more unsent bytes than this, a new list is skipped: the next one replaces it. */
const ENOUGH_LISTS = 256 * 1024;
/** A client with more unsent bytes is dropped. */
const MAX_UNSENT = 1024 * 1024;
const MAX_MESSAGES_A_SECOND = 50;
const MAX_CHARS_A_SECOND = 256 * 1024;
/** Maximum number of open logs per client. */
const MAX_OPENED = 16;
/** Close codes of RFC 6455. */
const [POLICY, GONE] = [1008, 1006];

export class FeedClient {
  readonly #socket: FeedSocket;
  /** The daemon as it is for the client. */
  readonly backend: Backend;
  readonly #principal: Pick<Principal, "role">;
  readonly #topics = new Set<Topic>();
  #matches: (change: ProcessChange) => boolean = () => true;
  /** Whether it knows the rows up to the last change. */
  #knowsRows = false;
  #logs: FeedLogs | undefined;
  /** Opened logs by the id that the client chose. The log of the `logs` topic is not among them. */
  readonly #opened = new Map<number, FeedLogs>();
  #second = 0;
  #messages = 0;
  #chars = 0;

  constructor(socket: FeedSocket, backend: Backend, principal: Pick<Principal, "role">) {
    this.#socket = socket;
    this.backend = backend;
    this.#principal = principal;
  }

  /** Clients with the same value see the same apps. */
  get sight(): string {
    return JSON.stringify(this.backend.only ?? null);
  }

  wants(topic: Topic): boolean {
    return this.#topics.has(topic);
  }

  /** Whether the client subscribed to the events of a process. */
  wantsChange(change: ProcessChange): boolean {
    return this.wants("events") && this.#matches(change);
  }

  unsent(): number {
    return this.#socket.unsent();
  }

  /** Sends a serialized message. Drops a client that does not read. */
  send(message: string | SharedMessage): void {
    if (this.unsent() > MAX_UNSENT) this.#socket.close(GONE, "too slow");
    else this.#socket.send(message);
  }

  /** Sends the list of processes. A slow client skips lists: it needs only the latest. */
  sendList(message: SharedMessage): void {
    const unsent = this.unsent();
    if (unsent <= ENOUGH_LISTS || unsent > MAX_UNSENT) this.send(message);
  }

  /** Sends what changed in the list, or all of it to a client that missed changes because it was slow. */
  sendRows(news: () => SharedMessage, all: () => SharedMessage): void {
    const unsent = this.unsent();
    if (unsent > ENOUGH_LISTS && unsent <= MAX_UNSENT) this.#knowsRows = false;
    else {
      this.send(this.#knowsRows ? news() : all());
      this.#knowsRows = true;
    }
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
    if (this.#isFlood(text.length)) {
      this.#socket.close(POLICY, "too many messages");
      return [];
    }
    let given: unknown;
    try {
      given = parseJson(text);
      const message = readFeedMessage(given, (role) => allowRole(this.#principal, role));
      switch (message.type) {
        case "ping":
          this.#answer({ type: "pong" });
          return [];
        case "subscribe":
          return this.#subscribe(message.fields);
        case "unsubscribe":
          this.#unsubscribe(message.fields.topics);
          return [];
        case "open_log": {
          const { id, ...query } = message.fields;
          this.#keep(id, () => this.#logsOf(query, { id }));
          return [];
        }
        case "attach":
          this.#attach(message.fields);
          return [];
        case "close_log":
          this.#closeLog(message.fields.id);
          return [];
        case "shown":
          this.#opened.get(message.fields.id)?.shown(message.fields.chars);
          return [];
      }
    } catch (error) {
      // The client has a log of this id that waits for an answer.
      this.#answer({ type: "error", id: Object(given).id, ...publicError(error) });
      return [];
    }
  }

  /** The topic `logs` is confirmed, like the others, once it is open. */
  #subscribe({ topics, ...wanted }: FieldsOf<"subscribe">): readonly Topic[] {
    const matches = this.backend.matcher(wanted.target);
    if (topics.includes("events")) this.#matches = matches;
    const others = topics.filter((topic) => topic !== "logs");
    for (const topic of others) this.#topics.add(topic);
    if (topics.includes("processes")) this.#knowsRows = false;
    if (topics.includes("logs")) this.#follow(wanted);
    if (others.length > 0 || topics.length === 0) this.#confirm(wanted.target);
    return topics;
  }

  #unsubscribe(topics: readonly Topic[]): void {
    if (topics.includes("logs")) this.#logs?.stop();
    for (const topic of topics) this.#topics.delete(topic);
    this.#confirm();
  }

  /** Answers what the client is subscribed to. */
  #confirm(target?: string): void {
    this.#answer({ type: "subscribed", topics: [...this.#topics], target });
  }

  #follow({ target, lines = 0, stderr, ...filter }: Omit<FieldsOf<"subscribe">, "topics">): void {
    this.#logs?.stop();
    this.#topics.delete("logs");
    const opened = () => {
      this.#topics.add("logs");
      this.#confirm(target);
    };
    const fields = {
      ...{ target: [target], ...filter, follow: true },
      ...(lines === 0 ? { new: true } : { lines }),
      ...{ stderr: stderr === true, stdout: stderr === false },
    };
    this.#logs = this.#logsOf(readPayload(logQueryFrom, fields), { opened });
  }

  #attach({ id, ...query }: FieldsOf<"attach">): void {
    const open = () => this.backend.streamTerminal(query);
    this.#keep(id, () => new FeedLogs(open, this, { id, isTerminal: true }));
  }

  #keep(id: number, open: () => FeedLogs): void {
    this.#closeLog(id);
    if (this.#opened.size >= MAX_OPENED) {
      const message = `${MAX_OPENED} logs are open on this connection`;
      const error = publicError(new ProcsupError("too_many_clients", message));
      return this.#answer({ type: "error", id, ...error });
    }
    const log = open();
    this.#opened.set(id, log);
    void log.ended.then(() => this.#opened.get(id) === log && this.#opened.delete(id));
  }

  #closeLog(id: number): void {
    this.#opened.get(id)?.stop();
    this.#opened.delete(id);
  }

  #logsOf(query: LogQueryFields, options: FeedLogsOptions): FeedLogs {
    return new FeedLogs(() => this.backend.streamLogs(query, true), this, options);
  }

  #answer(message: unknown): void {
    this.send(JSON.stringify(message));
  }

  #isFlood(chars: number): boolean {
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.#second) this.#messages = this.#chars = 0;
    this.#second = second;
    this.#chars += chars;
    return ++this.#messages > MAX_MESSAGES_A_SECOND || this.#chars > MAX_CHARS_A_SECOND;
  }
}

export interface FeedLogsOptions {
  /** All messages carry it: the client tells its logs apart by it. */
  readonly id?: number;
  /** Called when the log is open, before its lines are sent. */
  readonly opened?: () => void;
  /** The client confirms the messages, see `shown()`. */
  readonly isTerminal?: boolean;
}

/**
 * A pause after each big message limits a log to 2.5 MB a second. All clients then get the same
 * lines, which are read and serialized once. Without it, two hundred clients of a log of 10 MB a
 * second would take twice the CPU time, and twice the memory if half of them did not read.
 */
const PACE_MS = 25;
const BIG_MESSAGE = 32 * 1024;
let step: Promise<void> | undefined;

/** With more unsent bytes than this, no lines are read or sent: the log file is the buffer. */
const ENOUGH_UNSENT = 64 * 1024;

/** A terminal pauses while more characters than this are not confirmed. */
const MAX_UNSHOWN = 256 * 1024;

const encoder = new TextEncoder();

/** The lines of messages by batch: clients of the same log share the bytes. */
const bodies = new WeakMap<LogLines, Uint8Array<ArrayBuffer>>();

type Item = LogLines | LogStart | TerminalPiece;

/** Sends what a log or a terminal contains. */
export class FeedLogs {
  /** Resolves when no more lines are sent. */
  readonly ended: Promise<void>;
  readonly #sink: Pick<FeedSocket, "send" | "unsent">;
  readonly #id: { readonly id?: number };
  readonly #isTerminal: boolean;
  #unshown = 0;
  #reader: ReadableStreamDefaultReader<Item> | undefined;
  #isOver = false;

  /** `open` returns the lines; its errors are sent to the client. */
  constructor(
    open: () => Promise<ReadableStream<Item>>,
    sink: Pick<FeedSocket, "send" | "unsent">,
    { id, opened, isTerminal = false }: FeedLogsOptions = {},
  ) {
    this.#isTerminal = isTerminal;
    this.#sink = sink;
    this.#id = id === undefined ? {} : { id };
    this.ended = this.#run(open, opened);
  }

  /** Call it when the client of a terminal confirms this many characters of messages. */
  shown(chars: number): void {
    this.#unshown -= chars;
  }

  stop(): void {
    this.#isOver = true;
    this.#reader?.cancel().catch(() => {});
  }

  async #run(
    open: () => Promise<ReadableStream<Item>>,
    opened: () => void = () => {},
  ): Promise<void> {
    try {
      this.#reader = (await open()).getReader();
      if (this.#isOver) return this.stop();
      opened();
      for (;;) {
        const { done, value } = await this.#reader.read();
        // Do not `await` between this check and `send()`: all logs of a connection wait for the
        // same room, and each would fill it.
        while (!this.#isOver && this.#isFull) await nextStep();
        if (this.#isOver) return;
        if (done) return this.#sink.send(JSON.stringify({ type: "log_end", ...this.#id }));
        if (!("ndjson" in value)) {
          const type = this.#isTerminal ? "terminal" : "log_start";
          const text = JSON.stringify({ type, ...this.#id, ...value });
          this.#sink.send(text);
          if (this.#isTerminal) this.#unshown += text.length;
          if (text.length > BIG_MESSAGE) await nextStep();
          continue;
        }
        if (value.failure) return this.#fail(value.failure);
        const message = messageWith(value, this.#id.id);
        this.#sink.send(message);
        if (message.body.length > BIG_MESSAGE) await nextStep();
      }
    } catch (error) {
      if (this.#isOver) return;
      this.#fail(publicError(error));
    }
  }

  get #isFull(): boolean {
    return this.#sink.unsent() > ENOUGH_UNSENT || this.#unshown > MAX_UNSHOWN;
  }

  #fail(failure: ErrorJson): void {
    this.#sink.send(JSON.stringify({ type: "error", ...this.#id, ...failure }));
  }
}

/** Resolves with a timer that all waiting clients share, so that they continue together. */
function nextStep(): Promise<void> {
  return step ??= new Promise((resolve) =>
    setTimeout(() => {
      step = undefined;
      resolve();
    }, PACE_MS)
  );
}

/** The message `{type, id, lines}` for a batch. */
function messageWith(batch: LogLines, id: number | undefined): SharedMessage {
  const head = encoder.encode(`{"type":"log",${id === undefined ? "" : `"id":${id},`}`);
  return { head, body: bodies.getOrInsertComputed(batch, () => asArray(batch.ndjson)) };
}

const [BEFORE, AFTER] = [encoder.encode('"lines":['), encoder.encode("]}")];
const [NEWLINE, COMMA] = [10, 44];

/** JSON lines as an array, with commas in place of the newlines, and the end of the message. */
function asArray(ndjson: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(BEFORE.length + ndjson.length - 1 + AFTER.length);
  bytes.set(BEFORE);
  bytes.set(ndjson, BEFORE.length);
  bytes.set(AFTER, bytes.length - AFTER.length);
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) {
    bytes[at] = COMMA;
  }
  return bytes;
}
