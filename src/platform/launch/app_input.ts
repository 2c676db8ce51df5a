/**
 * Standard input of apps that have `stdin` or `tty`. The daemon opens a terminal and passes its master
 * to the launch wrapper, which keeps it open; see wrapper.ts.
 */

import { ifPossible } from "../../model/errors.ts";
import { removeFile } from "../files/atomic_file.ts";
import { sleep } from "../clock.ts";
import { mayCallC, openLibc } from "../libc.ts";
import { isLinux, nodeModule } from "../os.ts";

/** Whether the standard input of an app stays open, or is our own. */
export type AppStdin = boolean | "inherit";

/** Deno's own functions wait for a reader when they open a FIFO. */
interface NodeFs {
  readonly constants: Readonly<Record<"O_RDWR" | "O_WRONLY" | "O_NONBLOCK" | "O_NOCTTY", number>>;
  openSync(path: string, flags: number): number;
  writeSync(fd: number, bytes: Uint8Array): number;
  closeSync(fd: number): void;
}

/** How long the input of an app may stay full while the app reads nothing. */
const PATIENCE_MS = 2000;
const RETRY_MS = 10;

/**
 * A FIFO takes this many bytes as a whole or not at all, on every system. Of a longer text it takes a
 * part, and writeSync() throws EAGAIN without saying how much: it would be written again.
 */
const WHOLE_BYTES = 512;

const CLOSED = "it has closed its standard input";

/** Path of the FIFO of a run, in the folder of its app; the launch wrapper makes it. */
export function inputPath(folder: string, runId: string): string {
  return `${folder}/stdin.${runId}`;
}

/** Removes the FIFO of a run that is over, if any. */
export function removeInput(folder: string, runId: string): void {
  // The disk refuses. A FIFO without a reader does no harm.
  ifPossible(() => removeFile(inputPath(folder, runId)));
}

/** Writes a text to the FIFO of an app. Returns why part of it was not written, as a clause. */
export async function writeInput(path: string, text: string): Promise<string | undefined> {
  const { constants, openSync, writeSync, closeSync } = nodeModule<NodeFs>("node:fs");
  const flags = constants.O_WRONLY | constants.O_NONBLOCK;
  const fd = unlessRefused(() => openSync(path, flags), ["ENXIO", "ENOENT"]);
  if (fd === undefined) return CLOSED;
  try {
    let bytes = new TextEncoder().encode(text);
    for (let waitedMs = 0; bytes.length > 0;) {
      const count = unlessRefused(() => writeSync(fd, bytes.subarray(0, WHOLE_BYTES)), ["EAGAIN"]);
      if (count !== undefined) {
        bytes = bytes.subarray(count);
        waitedMs = 0;
        continue;
      }
      if (waitedMs >= PATIENCE_MS) return "it does not read its standard input, which is full";
      await sleep(RETRY_MS);
      waitedMs += RETRY_MS;
    }
    return undefined;
  } catch (error) {
    // The app ended, or closed its input, after the FIFO was opened.
    if (hasCode(error, ["EPIPE"])) return CLOSED;
    throw error;
  } finally {
    closeSync(fd);
  }
}

function unlessRefused(act: () => number, codes: readonly string[]): number | undefined {
  try {
    return act();
  } catch (error) {
    if (hasCode(error, codes)) return undefined;
    throw error;
  }
}

function hasCode(error: unknown, codes: readonly string[]): boolean {
  return codes.includes((error as { code?: string }).code ?? "");
}

const SYMBOLS = {
  posix_openpt: { parameters: ["i32"], result: "i32" },
  unlockpt: { parameters: ["i32"], result: "i32" },
  ptsname_r: { parameters: ["i32", "buffer", "usize"], result: "i32" },
  ioctl: { parameters: ["i32", "u64", "buffer"], result: "i32" },
  close: { parameters: ["i32"], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

const O_RDWR_NOCTTY_CLOEXEC = 0o2000402;
const TIOCSWINSZ = 0x5414n;

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** The size until a client attaches. */
const FIRST_SIZE: TerminalSize = { columns: 80, rows: 24 };

/** A terminal whose master is open. */
interface Terminal extends Disposable {
  readonly master: number;
  /** Path of the side that programs use. */
  readonly path: string;
}

/** Why apps cannot have terminals here, as the end of a sentence; undefined if they can. */
export function terminalProblem(): string | undefined {
  if (!isLinux) return "needs Linux";
  return mayCallC() ? undefined : "needs the permission to call the C library: --allow-ffi";
}

/** Opens a new terminal that belongs to a user. Throws when the system has none left. */
export function openTerminal(uid: number | undefined): Terminal {
  const c = openLibc(SYMBOLS);
  const master = c.posix_openpt(O_RDWR_NOCTTY_CLOEXEC);
  const name = new Uint8Array(64);
  if (master < 0) throw new Error("the system has no terminal left: see /proc/sys/kernel/pty/max");
  const terminal = { master, path: "", [Symbol.dispose]: () => void c.close(master) };
  try {
    if (c.unlockpt(master) < 0 || c.ptsname_r(master, name, BigInt(name.length)) !== 0) {
      throw new Error("its terminal cannot be opened: is /dev/pts mounted?");
    }
    terminal.path = new TextDecoder().decode(name.subarray(0, name.indexOf(0)));
    c.ioctl(master, TIOCSWINSZ, sizeBytes(FIRST_SIZE));
    if (uid !== undefined) Deno.chownSync(terminal.path, uid, null);
    return terminal;
  } catch (error) {
    terminal[Symbol.dispose]();
    throw error;
  }
}

/** Sets the size of the terminal that a process has open as descriptor 0. */
export function resizeTerminal(pid: number, size: TerminalSize): void {
  const c = openLibc(SYMBOLS);
  const { constants, openSync, closeSync } = nodeModule<NodeFs>("node:fs");
  // The terminal's own path may be another program's terminal by now.
  const fd = openSync(`/proc/${pid}/fd/0`, constants.O_RDWR | constants.O_NOCTTY);
  try {
    c.ioctl(fd, TIOCSWINSZ, sizeBytes(size));
  } finally {
    closeSync(fd);
  }
}

function sizeBytes({ columns, rows }: TerminalSize): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new Uint16Array([rows, columns, 0, 0]).buffer);
}
