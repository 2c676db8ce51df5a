/**
 * Terminals of apps. The daemon opens a terminal and passes its master to the launch wrapper, which
 * keeps it open; see wrapper.ts.
 */

import { mayCallC, openLibc } from "./libc.ts";
import { isLinux } from "./os.ts";
import { nodeFs } from "./app_input.ts";

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
  const { openSync, closeSync, constants } = nodeFs();
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
