/** `procsup attach`: connects this terminal to the terminal of an app. */

import { ProcsupError } from "../../model/errors.ts";
import type { TerminalPiece } from "../../protocol/process_json.ts";
import type { DaemonClient } from "../../protocol/daemon_client.ts";
import { following, unending } from "../../protocol/streams.ts";
import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import { type Output, terminalSize } from "../output.ts";
import { onSignals } from "../top/terminal.ts";
import { commandHint } from "../../model/hint.ts";

/** Connects the terminal until a key detaches or the app ends; then returns the app's exit code. */
export async function attach(context: CommandContext): Promise<number> {
  const { positionals, flags, output } = context;
  const [target] = positionals as [string];
  const word = flags.text("detach-key") ?? "ctrl-]";
  const key = detachKey(word);
  refuseWithoutTerminal(target);
  const client = connect(context);
  const { name } = await redraw(client, target);
  const terminal = new RawTerminal({ client, name, key, output });
  let pid = 0;
  let start: Record<string, string> = { lines: String(terminalSize().rows) };
  const open = async () => {
    const query = new URLSearchParams({ target: name, ...start });
    return unending<TerminalPiece>(await client.stream(`/attach?${query}`));
  };
  output.note(`attached to ${name}: ${word} detaches`);
  const note = (message: string) => terminal.write(`\r\n${message}\r\n`);
  const end = await terminal.use(async () => {
    for await (const piece of following({ open, note })) {
      if ("ended" in piece) return piece;
      // The terminal of a new run has the default size.
      if (pid > 0 && piece.pid > 0 && piece.pid !== pid) terminal.resize();
      pid = piece.pid || pid;
      start = { from: String(piece.position) };
      terminal.write(piece.text);
    }
  });
  const isDetached = typeof end === "number";
  output.note(isDetached ? `detached from ${name}` : `${name} ended: ${end!.ended}`);
  return isDetached ? end : end!.code ?? 1;
}

function refuseWithoutTerminal(target: string): void {
  if (Deno.stdin.isTerminal() && Deno.stdout.isTerminal()) return;
  throw new ProcsupError("bad_request", "Cannot attach here: this is not a terminal", {
    hint: `procsup send ${target} <text>, or procsup logs ${target} -f`,
  });
}

/** Converts `ctrl-]` to its control character. Throws `bad_request`. */
function detachKey(word: string): string {
  const [, letter] = /^ctrl-([a-z@[\\\]^_])$/i.exec(word) ?? [];
  if (letter !== undefined) return String.fromCharCode(letter.toUpperCase().charCodeAt(0) & 31);
  const message = `Invalid --detach-key ${JSON.stringify(word)}: expected ctrl- and a letter or ]`;
  throw new ProcsupError("bad_request", message, { hint: commandHint("help", "attach") });
}

/** Changes the size of an app's terminal twice: the app draws its screen again. */
async function redraw(client: DaemonClient, target: string): Promise<{ readonly name: string }> {
  const { columns, rows } = terminalSize();
  await client.call("attach", { target, columns, rows: Math.max(1, rows - 1) });
  return await client.call("attach", { target, columns, rows });
}

interface Attachment {
  readonly client: DaemonClient;
  /** Name of the app. */
  readonly name: string;
  /** The character that detaches. */
  readonly key: string;
  readonly output: Output;
}

/** Resets terminal modes: colours, cursor, mouse, bracketed paste, keypad. */
const RESET = "\x1b[0m\x1b[?25h\x1b[?1000;1002;1003;1006;2004;1l\x1b>";
const ENTER_SCREEN = "\x1b[?1049h";
const LEAVE_SCREEN = "\x1b[?1049l";

/** This terminal while it is attached; restored on every exit. */
class RawTerminal {
  readonly #to: Attachment;
  #held = "";
  #sent: Promise<void> = Promise.resolve();
  #onOtherScreen = false;

  constructor(to: Attachment) {
    this.#to = to;
  }

  /** Shows output of the app. */
  write(text: string): void {
    const [entered, left] = [text.lastIndexOf(ENTER_SCREEN), text.lastIndexOf(LEAVE_SCREEN)];
    if (entered !== left) this.#onOtherScreen = entered > left;
    this.#to.output.raw(text);
  }

  resize(): void {
    const { client, name } = this.#to;
    void client.call("attach", { target: name, ...terminalSize() }).catch(() => {});
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
      resume: () => {
        Deno.stdin.setRaw(true);
        if (this.#onOtherScreen) this.#to.output.raw(ENTER_SCREEN);
        void redraw(this.#to.client, this.#to.name).catch(() => {});
      },
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
      this.#to.output.raw((this.#onOtherScreen ? LEAVE_SCREEN : "") + RESET);
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
      const [before, ...after] = text.split(this.#to.key);
      this.#held += before;
      // One text at a time keeps the order of keys.
      this.#sent = this.#sent.then(() => this.#send());
      if (after.length === 0) continue;
      await this.#sent;
      return 0;
    }
  }

  /** Sends what was typed until now. Rings the bell if that fails. */
  async #send(): Promise<void> {
    const { client, name } = this.#to;
    const text = this.#held;
    this.#held = "";
    if (text === "") return;
    await client.call("send", { target: name, text }).catch(() => this.write("\x07"));
  }
}
