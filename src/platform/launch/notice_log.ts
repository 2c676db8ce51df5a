/** Follows what a run reports to its notify socket; see notify_socket.ts. */

import { ifPossible } from "../../model/errors.ts";
import {
  NO_NOTICES,
  type Notice,
  noticeLines,
  type Notices,
  parseNotice,
  withNotice,
} from "../../model/notice.ts";
import { notifyService } from "../service_manager.ts";
import { MESSAGE_BYTES, WRITTEN_BYTES } from "./notify_socket.ts";
import type { RunFiles } from "./run_files.ts";

/** Called with each new assignment. */
type Listener = (notice: Notice) => void;

/** What one run reports. */
export interface NoticeSource {
  /** The state after all messages so far. */
  readonly now: Notices;
  /** Calls `act` with each assignment from now on. Returns a cancel function. */
  listen(act: Listener): () => void;
  /** Reads the latest messages at once. */
  look(): void;
  /** Whether the socket still has its reader, which the wrapper ends with the app. */
  isRead(): boolean;
}

const END = "\n\n";
/** Size at which the file is emptied once nothing comes in. */
const LARGE_BYTES = 1 << 20;
/** Size at which it is emptied in any case. */
const MOST_BYTES = 8 << 20;
const CHUNK_BYTES = 1 << 16;

export class NoticeLog implements NoticeSource {
  readonly #files: RunFiles;
  readonly #runId: string;
  readonly #socket: string;
  readonly #listeners = new Set<Listener>();
  readonly #cancel: () => void;
  #now = NO_NOTICES;
  #offset = 0;
  #decoder = new TextDecoder();
  /** The beginning of a message whose end has not come yet. */
  #rest = "";

  constructor(files: RunFiles, runId: string, socket: string) {
    this.#files = files;
    this.#runId = runId;
    this.#socket = socket;
    this.#cancel = files.followNotices(runId, () => this.look());
    this.look();
  }

  get now(): Notices {
    return this.#now;
  }

  listen(act: Listener): () => void {
    this.#listeners.add(act);
    return () => this.#listeners.delete(act);
  }

  look(): void {
    // It fails without a free descriptor, for example. The next message is read with this one.
    ifPossible(() => this.#read());
  }

  isRead(): boolean {
    // A full queue has a reader, too.
    return ifPossible(() => notifyService(this.#socket, "\n")) !== "nobody listens";
  }

  close(): void {
    this.#cancel();
    this.#listeners.clear();
  }

  #read(): void {
    using file = Deno.openSync(this.#path);
    const { size } = file.statSync();
    if (size < this.#offset) this.#restart();
    file.seekSync(this.#offset, Deno.SeekMode.Start);
    // Up to one message more, which may be half written. Not to the end: an app may write as fast as
    // this reads.
    const end = size + MESSAGE_BYTES;
    const bytes = new Uint8Array(Math.min(end - this.#offset, CHUNK_BYTES));
    while (this.#offset < end) {
      const count = file.readSync(bytes.subarray(0, end - this.#offset)) ?? 0;
      if (count === 0) break;
      this.#offset += count;
      this.#take(this.#decoder.decode(bytes.subarray(0, count), { stream: true }));
    }
    if (this.#offset < LARGE_BYTES) return;
    // A message that comes between this and the cut is lost.
    const isQuiet = this.#rest === "" && file.statSync().size === this.#offset;
    if (isQuiet || this.#offset >= MOST_BYTES) this.#empty();
  }

  #restart(): void {
    this.#offset = 0;
    this.#rest = "";
    this.#decoder = new TextDecoder();
  }

  get #path(): string {
    return `${this.#files.stem(this.#runId)}.notify`;
  }

  #take(text: string): void {
    // The assignments of a message take effect together: its reader writes byte by byte.
    const messages = (this.#rest + text).split(END);
    const rest = messages.pop()!;
    this.#rest = rest.length > WRITTEN_BYTES ? "" : rest;
    for (const line of messages.flatMap((message) => message.split("\n"))) {
      const notice = parseNotice(line);
      if (notice === undefined) continue;
      this.#now = withNotice(this.#now, notice);
      for (const act of [...this.#listeners]) act(notice);
    }
  }

  /** Keeps the state in the file: the next daemon reads it from the beginning. */
  #empty(): void {
    const lines = new TextEncoder().encode(noticeLines(this.#now).join("\n") + END);
    Deno.truncateSync(this.#path);
    Deno.writeFileSync(this.#path, lines, { append: true });
    // Unless a message came between the two, this is known here.
    this.#offset = Deno.statSync(this.#path).size === lines.length ? lines.length : 0;
  }
}
