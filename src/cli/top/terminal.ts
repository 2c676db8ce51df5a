/** The terminal in full-screen mode; restored on every exit and while suspended. */

import type { SignalName } from "../../model/signal.ts";
import { sleep } from "../../platform/clock.ts";
import { onSignals as onEach } from "../../platform/scan/signals.ts";
import { colorText } from "../../model/plain_text.ts";
import { textWidth } from "../terminal_text.ts";
import { decodeKeys, type Input } from "./keys.ts";

/** Alternate screen, no cursor, no line wrap, bracketed paste, clicks and wheel of the mouse. */
const TAKE = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?2004h\x1b[?1000h\x1b[?1006h\x1b[0m\x1b[2J";
const GIVE_BACK = "\x1b[?2026l\x1b[0m\x1b[?1006l\x1b[?1000l\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[?1049l";

/** How long to wait for a slow terminal on exit. */
const PATIENCE_MS = 2000;

const encoder = new TextEncoder();

export class Terminal {
  #taken = false;
  #written: Promise<void> = Promise.resolve();

  /** Enters full-screen mode. Keys arrive one by one; Ctrl-C and Ctrl-Z stay signals. */
  take(): void {
    this.#taken = true;
    Deno.stdin.setRaw(true, { cbreak: true });
    this.write(TAKE).catch(() => {});
  }

  /** Writes at the terminal's speed, without blocking signals and keys. */
  write(text: string): Promise<void> {
    // One write at a time: two frames must not mix.
    return this.#written = this.#written.catch(() => {}).then(() => this.#pour(text));
  }

  /**
   * Restores the terminal. May be called repeatedly. A terminal that no longer
   * accepts output does not block the exit.
   */
  async giveBack(): Promise<void> {
    if (!this.#taken) return;
    const over = new AbortController();
    const taken = await Promise.race([
      this.write(GIVE_BACK).then(() => true, () => false),
      sleep(PATIENCE_MS, over.signal).then(() => false),
    ]);
    over.abort();
    this.#taken = false;
    try {
      // Skipped if the terminal takes no output, as `setRaw()` waits for pending output.
      if (taken) Deno.stdin.setRaw(false);
    } catch {
      // The terminal is gone.
    }
  }

  async #pour(text: string): Promise<void> {
    if (!this.#taken) return;
    const bytes = encoder.encode(text);
    for (let done = 0; done < bytes.length;) done += await Deno.stdout.write(bytes.subarray(done));
  }
}

/** Input within this time of an escape character belongs to its sequence. */
const ESCAPE_MS = 40;

/**
 * A terminal may report a false end of input after a suspend. A closed
 * one keeps reporting it.
 */
const MAX_FALSE_ENDS = 10;
const END_PAUSE_MS = 20;

/** Passes on keys until the terminal closes. */
export async function readKeys(act: (input: Input) => void): Promise<void> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(4096);
  let held = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  const take = (final: boolean) => {
    const { keys, rest } = decodeKeys(held, final);
    held = rest;
    for (const key of keys) act(key);
  };
  for (let ends = 0; ends < MAX_FALSE_ENDS;) {
    const count = await Deno.stdin.read(buffer).catch(() => null);
    clearTimeout(timer);
    if (count === null) {
      ends++;
      await sleep(END_PAUSE_MS);
      continue;
    }
    ends = 0;
    held += decoder.decode(buffer.subarray(0, count), { stream: true });
    take(false);
    if (held !== "") timer = setTimeout(() => take(true), ESCAPE_MS);
  }
}

/** Synchronized output: terminals that support it show a frame at once. */
const [BEGIN, END] = ["\x1b[?2026h", "\x1b[?2026l"];

/** Output that turns a screen showing `before` into `after`; empty if equal. Pure. */
export function difference(
  before: readonly string[],
  after: readonly string[],
  columns: number,
): string {
  let text = "";
  for (let row = 0; row < Math.max(before.length, after.length); row++) {
    const line = after[row] ?? "";
    if (line === before[row]) continue;
    // A full line leaves the cursor on its last character: do not erase that.
    const erase = textWidth(line) < columns ? "\x1b[0m\x1b[K" : "";
    text += `\x1b[${row + 1};1H\x1b[0m${line}${erase}`;
  }
  return text === "" ? "" : BEGIN + text + END;
}

/** A screen that writes only differences. */
export class Screen {
  readonly #write: (text: string) => Promise<void>;
  #shown: readonly string[] = [];
  #next: { lines: readonly string[]; columns: number } | undefined;
  #writing: Promise<void> | undefined;

  /** `write` resolves when the terminal has taken the text. */
  constructor(write: (text: string) => Promise<void>) {
    this.#write = write;
  }

  /** Resolves when all output is written. */
  get idle(): Promise<void> {
    return this.#writing ?? Promise.resolve();
  }

  /** Shows a frame. Skips frames that a slow terminal has no time for. */
  draw(lines: readonly string[], columns: number): void {
    // Whatever is on the screen, also what another machine sent as a number, is only text.
    const safe = lines.map((line) => colorText(line).replaceAll(/[\t\n]/g, " "));
    this.#next = { lines: safe, columns };
    this.#writing ??= this.#pour().finally(() => this.#writing = undefined);
  }

  /** Forgets what the terminal shows. */
  forget(): void {
    this.#shown = [];
  }

  async #pour(): Promise<void> {
    while (this.#next !== undefined) {
      const { lines, columns } = this.#next;
      this.#next = undefined;
      const clear = this.#shown.length === 0 ? "\x1b[0m\x1b[2J" : "";
      const text = clear + difference(this.#shown, lines, columns);
      this.#shown = lines;
      if (text !== "") await this.#write(text);
    }
  }
}

interface SignalActs {
  /** Exit with this code. */
  readonly end: (code: number) => void;
  /** Suspend (Ctrl-Z). */
  readonly suspend: () => void;
  readonly resume: () => void;
  readonly resized: () => void;
  /** An uncaught error. */
  readonly failed: (error: unknown) => void;
}

/** Handles signals and uncaught errors. Returns an unsubscribe function. */
export function onSignals(acts: SignalActs): () => void {
  const actOf: Partial<Record<SignalName, () => void>> = {
    // 128 + the signal's number, as in shells.
    SIGHUP: () => acts.end(129),
    SIGINT: () => acts.end(130),
    SIGQUIT: () => acts.end(131),
    SIGTERM: () => acts.end(143),
    SIGTSTP: acts.suspend,
    SIGCONT: acts.resume,
    SIGWINCH: acts.resized,
  };
  const signals = onEach(Object.keys(actOf) as SignalName[], (signal) => actOf[signal]!());
  const caught = (event: ErrorEvent | PromiseRejectionEvent) => {
    event.preventDefault();
    acts.failed("reason" in event ? event.reason : event.error);
  };
  addEventListener("error", caught);
  addEventListener("unhandledrejection", caught);
  return () => {
    signals[Symbol.dispose]();
    removeEventListener("error", caught);
    removeEventListener("unhandledrejection", caught);
  };
}
