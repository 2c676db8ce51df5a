/**
 * Reports changes of files, by inotify. A watch ends with its first event: a file that changes all the time
 * costs one event, not millions. The kernel announces events by a signal, so no thread of the runtime
 * waits for them.
 */

import type { Cancel } from "../clock.ts";
import { mayCallC, openLibrary } from "../libc.ts";
import { isLinux } from "../os.ts";

const SYMBOLS = {
  inotify_init1: { parameters: ["i32"], result: "i32" },
  inotify_add_watch: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  inotify_rm_watch: { parameters: ["i32", "i32"], result: "i32" },
  fcntl: { parameters: ["i32", "i32", "i32"], result: "i32" },
  read: { parameters: ["i32", "buffer", "usize"], result: "isize" },
  close: { parameters: ["i32"], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

const NONBLOCK_CLOEXEC = 0o2004000;
const [F_SETFL, F_SETOWN] = [4, 8];
const [NONBLOCK, ASYNC] = [0o4000, 0o20000];
/** One-shot; modify, attributes (a removal changes the link count), delete, move; no links. */
const EVENTS = 0x8000_0000 + 0x0200_0000 + 0x2 + 0x4 + 0x400 + 0x800;
const OVERFLOWN = -1;

/** Size of a file's event: watch, mask, cookie, length of the name. */
const EVENT_BYTES = 16;

/** Events within this time are read together: a signal for each of many files costs too much. */
const GATHER_MS = 50;

/** The inotify queue that all watches of this process share. */
class Inotify {
  readonly #library = openLibrary(SYMBOLS);
  readonly #fd = this.#library.symbols.inotify_init1(NONBLOCK_CLOEXEC);
  readonly #events = new DataView(new ArrayBuffer(256 * EVENT_BYTES));
  readonly #waiting = new Map<number, Set<() => void>>();
  readonly #signalled = () => this.#gather();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor() {
    const { fcntl } = this.#library.symbols;
    // The listener comes first: SIGIO without one ends the process.
    Deno.addSignalListener("SIGIO", this.#signalled);
    fcntl(this.#fd, F_SETOWN, Deno.pid);
    fcntl(this.#fd, F_SETFL, NONBLOCK | ASYNC);
  }

  get isOpen(): boolean {
    return this.#fd >= 0;
  }

  once(path: Uint8Array<ArrayBuffer>, act: () => void): Cancel | undefined {
    const { inotify_add_watch, inotify_rm_watch } = this.#library.symbols;
    const watch = inotify_add_watch(this.#fd, path, EVENTS);
    if (watch < 0) return undefined;
    const acts = this.#waiting.get(watch) ?? new Set();
    this.#waiting.set(watch, acts.add(act));
    return () => {
      if (!acts.delete(act) || acts.size > 0) return;
      this.#waiting.delete(watch);
      inotify_rm_watch(this.#fd, watch);
    };
  }

  #gather(): void {
    if (this.#timer !== undefined) return;
    const { fcntl } = this.#library.symbols;
    fcntl(this.#fd, F_SETFL, NONBLOCK);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      // Before the read: later events must raise a signal.
      fcntl(this.#fd, F_SETFL, NONBLOCK | ASYNC);
      this.#read();
    }, GATHER_MS);
  }

  #read(): void {
    for (;;) {
      const bytes = new Uint8Array(this.#events.buffer);
      const count = Number(this.#library.symbols.read(this.#fd, bytes, BigInt(bytes.length)));
      if (count <= 0) return;
      const watches = Array.from(
        { length: count / EVENT_BYTES },
        (_, i) => this.#events.getInt32(i * EVENT_BYTES, true),
      );
      for (const watch of watches) this.#notify(watch);
      if (this.#isClosed) return;
    }
  }

  #notify(watch: number): void {
    const affected = watch === OVERFLOWN ? [...this.#waiting.keys()] : [watch];
    for (const each of affected) {
      const acts = [...this.#waiting.get(each) ?? []];
      this.#waiting.get(each)?.clear();
      this.#waiting.delete(each);
      for (const act of acts) act();
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    if (this.isOpen) this.#library.symbols.close(this.#fd);
    Deno.removeSignalListener("SIGIO", this.#signalled);
    this.#library.close();
  }
}

let shared: Inotify | undefined;
let users = 0;

/** Watches files until it is disposed of. */
export class FileWatch implements Disposable {
  readonly #cancels = new Set<Cancel>();
  #inotify: Inotify | undefined;

  constructor() {
    if (!isLinux || !mayCallC()) return;
    try {
      shared ??= new Inotify();
    } catch {
      // The C library cannot be loaded.
      return;
    }
    users++;
    this.#inotify = shared;
  }

  /**
   * Calls `act` once, 50 ms after the file is next written to, truncated, removed or renamed: a burst of
   * writes is over by then. The path ends with a NUL. Returns undefined if the file cannot be watched: it
   * does not exist, or the system has no watches left.
   */
  once(path: Uint8Array<ArrayBuffer>, act: () => void): Cancel | undefined {
    if (!this.#inotify?.isOpen) return undefined;
    const cancel = this.#inotify.once(path, () => {
      this.#cancels.delete(cancel!);
      act();
    });
    if (cancel === undefined) return undefined;
    this.#cancels.add(cancel);
    return () => {
      this.#cancels.delete(cancel);
      cancel();
    };
  }

  [Symbol.dispose](): void {
    if (this.#inotify === undefined) return;
    for (const cancel of this.#cancels) cancel();
    this.#inotify = undefined;
    if (--users > 0) return;
    shared?.close();
    shared = undefined;
  }
}

/** A path as `FileWatch` takes it. */
export function watchedPath(path: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${path}\0`);
}
