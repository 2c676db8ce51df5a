/**
 * Starts a program without a copy of this process. `Deno.Command` forks for a session of its own: the
 * kernel copies the tables of all memory and, as it is written to, the memory. For a daemon of 30 MB
 * that takes 1.5 ms a start, `posix_spawn` 0.4 ms. What Deno starts without a fork it kills when the
 * runtime ends by an error.
 */

import { SIGNAL_NAMES } from "../model/signal.ts";
import { mayCallC, openLibrary } from "./libc.ts";
import { isLinux } from "./os.ts";

/** What to start. */
export interface SpawnSpec {
  /** A shell. */
  readonly program: string;
  /** `-c`, a script, and its arguments. */
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Descriptors that become 3, 4, … A standard one cannot be given: Deno leaves a copy of it open. */
  readonly inherit: readonly number[];
}

/** A started program. */
export interface Spawned {
  readonly pid: number;
  /** Resolves when it has ended. */
  readonly status: Promise<SpawnStatus>;
  /** Lets the program end before it; without this, it always may. */
  unref?(): void;
}

/** An exit code, or the signal that ended it. */
export interface SpawnStatus {
  readonly code: number | null;
  readonly signal: string | null;
}

const SYMBOLS = {
  posix_spawn: {
    parameters: ["buffer", "buffer", "buffer", "buffer", "buffer", "buffer"],
    result: "i32",
  },
  posix_spawnattr_init: { parameters: ["buffer"], result: "i32" },
  posix_spawnattr_setflags: { parameters: ["buffer", "i16"], result: "i32" },
  posix_spawnattr_setsigdefault: { parameters: ["buffer", "buffer"], result: "i32" },
  posix_spawnattr_setsigmask: { parameters: ["buffer", "buffer"], result: "i32" },
  posix_spawn_file_actions_init: { parameters: ["buffer"], result: "i32" },
  posix_spawn_file_actions_addopen: {
    parameters: ["buffer", "i32", "buffer", "i32", "u32"],
    result: "i32",
  },
  posix_spawn_file_actions_addchdir_np: { parameters: ["buffer", "buffer"], result: "i32" },
  posix_spawn_file_actions_destroy: { parameters: ["buffer"], result: "i32" },
  waitpid: { parameters: ["i32", "buffer", "i32"], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

/** Its structures are smaller in every C library. */
const STRUCT_BYTES = 1024;

const [SETSIGDEF, SETSIGMASK, SETSID] = [0x4, 0x8, 0x80];
const [O_RDONLY, O_WRONLY] = [0, 1];
const WNOHANG = 1;
const SIGPIPE = 13;

const encoder = new TextEncoder();
const NULL_DEVICE = cText("/dev/null");

type Calls = Deno.StaticForeignLibraryInterface<typeof SYMBOLS>;

/** What a call is given by address: nothing else holds it until the call returns. */
const held = new Set<unknown>();

/**
 * Starts programs, and learns how they ended until it is disposed of. The program of whoever waits for
 * that may end nevertheless.
 */
export class PosixSpawner implements Disposable {
  #library: Deno.DynamicLibrary<typeof SYMBOLS> | undefined;
  #isTried = false;
  #attributes: Uint8Array<ArrayBuffer> | undefined;
  /** Those that have not ended. */
  readonly #children = new Map<number, (status: SpawnStatus) => void>();
  readonly #collect = () => this.#collectEnded();

  /**
   * Starts a program in a session of its own, its standard descriptors closed. Undefined when the system
   * refuses, or has no such call: Deno then does it, or says why not.
   */
  spawn({ program, args, cwd, env }: Omit<SpawnSpec, "inherit">): Spawned | undefined {
    const calls = this.#calls();
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const texts = [program, cwd, ...args, ...variables];
    if (calls === undefined || texts.some((text) => text.includes("\0"))) return undefined;
    const actions = fileActions(calls, cwd);
    const [argv, envp] = [cTexts([program, ...args]), cTexts(variables)];
    held.add(argv).add(envp);
    const pid = new Int32Array(1);
    this.#attributes ??= attributes(calls);
    // It may end before the call returns.
    if (this.#children.size === 0) this.#watch();
    const refusal = calls.posix_spawn(
      pid,
      cText(program),
      actions,
      this.#attributes,
      argv.pointers,
      envp.pointers,
    );
    held.clear();
    calls.posix_spawn_file_actions_destroy(actions);
    if (refusal === 0) return this.#child(pid[0]!);
    if (this.#children.size === 0) this.#unwatch();
    return undefined;
  }

  /** What it has started runs on. */
  [Symbol.dispose](): void {
    if (this.#children.size > 0) this.#unwatch();
    this.#children.clear();
    this.#library?.close();
    this.#library = undefined;
  }

  #calls(): Calls | undefined {
    if (!this.#isTried && isLinux && mayCallC()) {
      try {
        this.#library = openLibrary(SYMBOLS);
      } catch {
        // A C library that lacks one of them.
      }
    }
    this.#isTried = true;
    return this.#library?.symbols;
  }

  #child(pid: number): Spawned {
    const { promise, resolve } = Promise.withResolvers<SpawnStatus>();
    this.#children.set(pid, resolve);
    return { pid, status: promise };
  }

  #watch(): void {
    Deno.addSignalListener("SIGCHLD", this.#collect);
  }

  #unwatch(): void {
    Deno.removeSignalListener("SIGCHLD", this.#collect);
  }

  /** Several ends may come as one signal. */
  #collectEnded(): void {
    const status = new Int32Array(1);
    for (const [pid, over] of this.#children) {
      const ended = this.#library!.symbols.waitpid(pid, status, WNOHANG);
      if (ended === 0) continue;
      this.#children.delete(pid);
      if (this.#children.size === 0) this.#unwatch();
      // As pid 1 somebody else may have collected it: nobody knows how it ended.
      over(ended < 0 ? { code: null, signal: "SIGKILL" } : statusOf(status[0]!));
    }
  }
}

/** The working directory, and standard descriptors that are closed. */
function fileActions(calls: Calls, cwd: string): Uint8Array<ArrayBuffer> {
  const actions = new Uint8Array(STRUCT_BYTES);
  calls.posix_spawn_file_actions_init(actions);
  calls.posix_spawn_file_actions_addchdir_np(actions, cText(cwd));
  for (const [fd, mode] of [O_RDONLY, O_WRONLY, O_WRONLY].entries()) {
    calls.posix_spawn_file_actions_addopen(actions, fd, NULL_DEVICE, mode, 0);
  }
  return actions;
}

/** A session of its own, and no signal blocked or, as SIGPIPE is here, ignored. */
function attributes(calls: Calls): Uint8Array<ArrayBuffer> {
  const made = new Uint8Array(STRUCT_BYTES);
  calls.posix_spawnattr_init(made);
  calls.posix_spawnattr_setflags(made, SETSIGDEF | SETSIGMASK | SETSID);
  const signals = new BigUint64Array(STRUCT_BYTES / 8);
  calls.posix_spawnattr_setsigmask(made, signals);
  signals[0] = 1n << BigInt(SIGPIPE - 1);
  calls.posix_spawnattr_setsigdefault(made, signals);
  return made;
}

function statusOf(status: number): SpawnStatus {
  const signal = status & 0x7f;
  if (signal === 0) return { code: status >> 8 & 0xff, signal: null };
  return { code: 128 + signal, signal: SIGNAL_NAMES[signal - 1] ?? "SIGKILL" };
}

interface CTexts {
  /** An array of pointers to the texts, and a null. */
  readonly pointers: BigUint64Array<ArrayBuffer>;
  /** What they point to. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

function cTexts(texts: readonly string[]): CTexts {
  const all = texts.map(cText);
  const bytes = new Uint8Array(all.reduce((sum, { length }) => sum + length, 0));
  const pointers = new BigUint64Array(all.length + 1);
  const base = Deno.UnsafePointer.value(Deno.UnsafePointer.of(bytes));
  let at = 0;
  for (const [index, text] of all.entries()) {
    pointers[index] = base + BigInt(at);
    bytes.set(text, at);
    at += text.length;
  }
  return { pointers, bytes };
}

function cText(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(`${text}\0`);
}
