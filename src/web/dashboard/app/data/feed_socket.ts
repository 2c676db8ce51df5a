/** The WebSocket: what the daemon pushes, and followed logs, which share it. */

import type { LogLine, LogStart } from "../../../../model/log_line.ts";
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

/** Lines, and what is known at their beginning. */
type LogBatch = readonly (LogLine | LogStart)[];

type Message = Readonly<Record<string, unknown>>;

/** The open WebSocket, if there is one. */
let open: FeedSocket | undefined;

export class FeedSocket {
  readonly #socket: WebSocket;
  /** The readers of the open logs, by id. */
  readonly #logs = new Map<number, ReadableStreamDefaultController<LogBatch>>();
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
      if ("id" in message) this.#takeLines(message);
      else received(message);
    });
    socket.addEventListener("close", (event) => over.aborted || lost(event));
    over.addEventListener("abort", () => this.#close());
  }

  /** Call it before the socket opens. */
  subscribe(topics: readonly string[]): void {
    this.#begun.push(JSON.stringify({ type: "subscribe", topics }));
  }

  /** Reads or follows logs; undefined if the message would be too long. */
  read(query: LogRequest, signal: AbortSignal): ReadableStream<LogBatch> | undefined {
    const id = ++this.#lastLog;
    const message = JSON.stringify({ type: "open_log", id, ...query });
    if (message.length > MAX_MESSAGE) return undefined;
    const leave = () => {
      if (this.#logs.delete(id)) this.#socket.send(JSON.stringify({ type: "close_log", id }));
    };
    return new ReadableStream({
      start: (lines) => {
        this.#logs.set(id, lines);
        this.#socket.send(message);
        signal.addEventListener("abort", () => {
          if (this.#logs.has(id)) lines.error(signal.reason);
          leave();
        });
      },
      cancel: leave,
    });
  }

  #close(): void {
    if (open === this) open = undefined;
    for (const log of this.#logs.values()) log.error(new Error("The connection is lost"));
    this.#logs.clear();
    this.#socket.close();
  }

  /** Handles a message about an open log. The last message closes the log. */
  #takeLines(message: Message): void {
    const { type, id, lines, error, code } = message;
    const log = this.#logs.get(Number(id));
    if (type === "log") return log?.enqueue(lines as LogLine[]);
    if (type === "log_start") return log?.enqueue([message as unknown as LogStart]);
    this.#logs.delete(Number(id));
    if (type === "error") log?.error(endOfStream({ error, code }));
    else log?.close();
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
  const lines = open?.read(query, signal);
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
