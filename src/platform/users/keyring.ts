/**
 * The session keyring of the kernel, which programs inherit. Whoever holds it can use its keys, such
 * as those of the login that started the daemon.
 */

import { mayCallC, openLibc } from "../libc.ts";
import { isLinux } from "../os.ts";

const SYMBOLS = {
  keyctl: {
    name: "syscall",
    parameters: ["i64", "i32", "i64", "i64", "i64"],
    result: "i64",
  },
} as const satisfies Deno.ForeignLibraryInterface;

/** Number of the system call, by architecture. */
const KEYCTL: Readonly<Record<string, bigint>> = { x86_64: 250n, aarch64: 219n };

const [GET_ID, JOIN_SESSION, LINK] = [0, 1, 8];
const [THREAD, SESSION] = [-1n, -3n];

/** The session keyring of this thread before the first program of another user; 0 without one. */
let own: bigint | undefined;

/**
 * Starts a program, for another user with a new session keyring. `start` must start it before it
 * returns, in this thread. Where the kernel has no keyrings, there is none to hand over.
 */
export function withOwnKeyring<T>(user: { readonly uid: number } | undefined, start: () => T): T {
  const keyctl = user === undefined ? undefined : keyctlHere();
  if (keyctl === undefined) return start();
  if (own === undefined) {
    own = keyctl(GET_ID, SESSION, 0n);
    // Keeps it while this thread has another one. Programs inherit no thread keyring.
    if (own > 0n) keyctl(LINK, own, THREAD);
  }
  keyctl(JOIN_SESSION, 0n, 0n);
  try {
    return start();
  } finally {
    // A keyring cannot be joined again. The next programs of our own user find its keys by a link.
    if (keyctl(JOIN_SESSION, 0n, 0n) > 0n && own > 0n) keyctl(LINK, own, SESSION);
  }
}

/** The identity of this thread's session keyring; 0 without one. */
export function sessionKeyring(): bigint {
  return keyctlHere()?.(GET_ID, SESSION, 0n) ?? 0n;
}

function keyctlHere(): ((act: number, first: bigint, second: bigint) => bigint) | undefined {
  const number = KEYCTL[Deno.build.arch];
  if (!isLinux || number === undefined || !mayCallC()) return undefined;
  const c = openLibc(SYMBOLS);
  return (act, first, second) => c.keyctl(number, act, first, second, 0n);
}
