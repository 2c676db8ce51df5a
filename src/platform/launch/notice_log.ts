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
import type { RunFiles } from "./run_files.ts";

/** Called with each new assignment. */
type Listener = (notice: Notice) => void;

/** What one run reports. */
export interface NoticeSource {
  /** What it amounts to by now. */
  readonly now: Notices;
  /** Calls `act` with each assignment from now on. Returns a cancel function. */
  listen(act: Listener): () => void;
  /** Reads what has come in just now. */
  look(): void;
  /** Whether somebody still reads the socket. The wrapper ends its reader with the app. */
  isRead(): boolean;
}

/** Size at which the file is emptied. */
const LARGE_BYTES = 1 << 20;
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
  /** The beginning of a line whose end has not come yet. */
  #rest = "";

  constructor(files: RunFiles, runId: string, socket: string) {
    this.#files = files;
    this.#runId = runId;
    this.#socket = socket;
    this.#cancel = files.follow(runId, "notify", () => this.look());
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
    // Without descriptors, say. The next message is another occasion.
    ifPossible(() => this.#read());
  }

  isRead(): boolean {
    // If it is too busy to take a message, it is there.
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
    const bytes = new Uint8Array(Math.min(CHUNK_BYTES, Math.max(1, size - this.#offset)));
    for (let count; (count = file.readSync(bytes) ?? 0) > 0;) {
      this.#offset += count;
      this.#take(this.#decoder.decode(bytes.subarray(0, count), { stream: true }));
    }
    if (this.#offset >= LARGE_BYTES && this.#rest === "") this.#empty();
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
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop()!;
    for (const line of lines) {
      const notice = parseNotice(line);
      if (notice === undefined) continue;
      this.#now = withNotice(this.#now, notice);
      for (const act of [...this.#listeners]) act(notice);
    }
  }

  /** The next daemon reads from the beginning: what still holds is said once more. */
  #empty(): void {
    Deno.truncateSync(this.#path);
    this.#restart();
    notifyService(this.#socket, noticeLines(this.#now).join("\n"));
  }
}
