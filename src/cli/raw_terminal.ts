/** Connects this terminal to the terminal of an app. Restored on every exit. */

import type { Output } from "./output.ts";
import { terminalSize } from "./terminal_size.ts";
import { onSignals } from "./top/terminal.ts";

/** The attached app. */
interface Remote {
  /** The character that detaches. */
  readonly key: string;
  readonly send: (text: string) => Promise<void>;
  readonly resize: (size: { readonly columns: number; readonly rows: number }) => Promise<void>;
}

/** Resets terminal modes: colours, cursor, mouse, bracketed paste, keypad. */
const RESET = "\x1b[0m\x1b[?25h\x1b[?1000;1002;1003;1006;2004;1l\x1b>";
const ENTER_SCREEN = "\x1b[?1049h";
const LEAVE_SCREEN = "\x1b[?1049l";

/** This terminal while it is attached. */
export class RawTerminal {
  readonly #remote: Remote;
  readonly #output: Output;
  #held = "";
  #sending: Promise<void> | undefined;
  #onOtherScreen = false;

  constructor(remote: Remote, output: Output) {
    this.#remote = remote;
    this.#output = output;
  }

  /** Shows output of the app. */
  write(text: string): void {
    const [entered, left] = [text.lastIndexOf(ENTER_SCREEN), text.lastIndexOf(LEAVE_SCREEN)];
    if (entered !== left) this.#onOtherScreen = entered > left;
    this.#output.raw(text);
  }

  /** Sends the size of this terminal to the app. */
  resize(): void {
    void this.#remote.resize(terminalSize()).catch(() => {});
  }

  /** Resolves with the value of `show`, 0 when the user detaches, or 128 + the signal's number. */
  async use<T>(show: () => Promise<T>): Promise<T | number> {
    const over = Promise.withResolvers<number>();
    const unlisten = onSignals({
      end: over.resolve,
      suspend: () => {
        this.#restore();
        Deno.kill(Deno.pid, "SIGSTOP");
      },
      resume: () => Deno.stdin.setRaw(true),
      resized: () => this.resize(),
      failed: over.reject,
    });
    try {
      Deno.stdin.setRaw(true);
      return await Promise.race([show(), this.#read(), over.promise]);
    } finally {
      unlisten();
      this.#restore();
    }
  }

  #restore(): void {
    try {
      Deno.stdin.setRaw(false);
      this.#output.raw((this.#onOtherScreen ? LEAVE_SCREEN : "") + RESET);
    } catch {
      // The terminal is gone.
    }
  }

  /** Reads keys until the detach key or the end of input. */
  async #read(): Promise<number> {
    const decoder = new TextDecoder();
    const buffer = new Uint8Array(4096);
    for (;;) {
      const count = await Deno.stdin.read(buffer).catch(() => null);
      if (count === null) return 0;
      const text = decoder.decode(buffer.subarray(0, count), { stream: true });
      const [before, ...after] = text.split(this.#remote.key);
      this.#held += before;
      this.#sending ??= this.#pour().finally(() => this.#sending = undefined);
      if (after.length === 0) continue;
      await this.#sending;
      return 0;
    }
  }

  /** Sends one text at a time to keep the order of keys. Rings the bell if sending fails. */
  async #pour(): Promise<void> {
    while (this.#held !== "") {
      const text = this.#held;
      this.#held = "";
      await this.#remote.send(text).catch(() => this.write("\x07"));
    }
  }
}
