/** The WebSocket: what the daemon pushes, and followed logs, which share it. */

import type { LogLine, LogStart } from "../../../../model/log_line.ts";
import type { TerminalPiece } from "../../../../protocol/process_json.ts";
import type { LogRequest } from "../../../../protocol/wire.ts";
import { type Ask, endOfStream, jsonLines, send } from "./api.ts";
import type { PushedMessage } from "./feed_state.ts";
import { authorizationFor } from "./tab_key.ts";

/** Maximum length of a message. The daemon closes a connection with a longer one than 64 KiB. */
const MAX_MESSAGE = 60_000;

interface SocketEvents {
  readonly received: (message: PushedMessage) => void;
  readonly lost: (error: unknown) => void;
}

/** Output of a terminal is confirmed after this many characters. */
const CONFIRM_CHARS = 32 * 1024;

/** Lines, and what is known at their beginning. */
type LogBatch = readonly (LogLine | LogStart)[];

type Message = Readonly<Record<string, unknown>>;

interface Reader {
  readonly out: ReadableStreamDefaultController<unknown>;
  /** Characters of a terminal's messages that are not confirmed. */
  unconfirmed: number;
}

/** The open WebSocket, if there is one. */
let open: FeedSocket | undefined;

export class FeedSocket {
  readonly #socket: WebSocket;
  /** The readers of the open logs and terminals, by id. */
  readonly #logs = new Map<number, Reader>();
  #lastLog = 0;
  readonly #begun: string[] = [];

  /** Opens it. After `over` it calls nothing any more, and the logs fail. */
  constructor(over: AbortSignal, { received, lost }: SocketEvents) {
    const url = new URL("ws", location.href.replace(/^http/, "ws"));
    const socket = this.#socket = new WebSocket(url);
    socket.addEventListener("open", async () => {
      try {
        const authorization = await authorizationFor({ method: "GET", path: "/ws", body: "" });
        if (over.aborted) return;
        socket.send(JSON.stringify({ type: "session", authorization }));
        for (const text of this.#begun) socket.send(text);
        open = this;
      } catch (error) {
        if (!over.aborted) lost(error);
      }
    });
    socket.addEventListener("message", ({ data }) => {
      if (over.aborted) return;
      const message = JSON.parse(String(data));
      if ("id" in message) this.#take(message, String(data).length);
      else received(message);
    });
    socket.addEventListener("close", (event) => over.aborted || lost(event));
    over.addEventListener("abort", () => this.#close());
  }

  /** Call it before the socket opens. */
  subscribe(topics: readonly string[]): void {
    this.#begun.push(JSON.stringify({ type: "subscribe", topics }));
  }

  /** Reads what a message asks for; undefined if the message would be too long. */
  read<T>(request: Message, signal: AbortSignal): ReadableStream<T> | undefined {
    const id = ++this.#lastLog;
    const message = JSON.stringify({ id, ...request });
    if (message.length > MAX_MESSAGE) return undefined;
    const leave = () => {
      if (this.#logs.delete(id)) this.#socket.send(JSON.stringify({ type: "close_log", id }));
    };
    return new ReadableStream({
      start: (out) => {
        this.#logs.set(id, { out, unconfirmed: 0 });
        this.#socket.send(message);
        signal.addEventListener("abort", () => {
          if (this.#logs.has(id)) out.error(signal.reason);
          leave();
        });
      },
      // Called once everything before has been read.
      pull: () => {
        const log = this.#logs.get(id);
        if (log === undefined || log.unconfirmed < CONFIRM_CHARS) return;
        this.#socket.send(JSON.stringify({ type: "shown", id, chars: log.unconfirmed }));
        log.unconfirmed = 0;
      },
      cancel: leave,
    });
  }

  #close(): void {
    if (open === this) open = undefined;
    for (const log of this.#logs.values()) log.out.error(new Error("The connection is lost"));
    this.#logs.clear();
    this.#socket.close();
  }

  /** Handles a message about an open log or terminal. The last message closes it. */
  #take(message: Message, chars: number): void {
    const { type, id, lines, error, code } = message;
    const log = this.#logs.get(Number(id));
    if (log === undefined) return;
    if (type === "log") return log.out.enqueue(lines);
    if (type === "log_start") return log.out.enqueue([message]);
    if (type === "terminal") {
      log.unconfirmed += chars;
      return log.out.enqueue(message);
    }
    this.#logs.delete(Number(id));
    if (type === "error") log.out.error(endOfStream({ error, code }));
    else log.out.close();
  }
}

/**
 * Reads or follows logs. All logs share one WebSocket, since a browser has only six connections to a
 * host for all its tabs, unless the positions of thousands are too long for a message. The stream fails
 * if the connection is lost.
 */
export async function readLogs(
  query: LogRequest,
  signal: AbortSignal,
): Promise<AsyncIterable<LogBatch>> {
  signal.throwIfAborted();
  const lines = open?.read<LogBatch>({ type: "open_log", ...query }, signal);
  if (lines !== undefined) return lines;
  const { from, before, ...rest } = query;
  const params = new URLSearchParams(
    Object.entries(rest).flatMap(([key, value]) =>
      [value].flat().filter((one) => one !== undefined).map((one) => [key, String(one)])
    ),
  );
  const how: Ask = from || before ? { method: "POST", body: { from, before } } : {};
  return jsonLines<LogLine | LogStart>(await send(`/logs?${params}`, { ...how, signal }));
}

/** Reads the output of an app's terminal. Fails like `readLogs()`. */
export function readTerminal(query: Message, signal: AbortSignal): AsyncIterable<TerminalPiece> {
  const pieces = open?.read<TerminalPiece>({ type: "attach", ...query }, signal);
  if (pieces === undefined) throw new Error("A terminal needs a WebSocket, and there is none");
  return pieces;
}
