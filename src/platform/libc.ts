/** The few system calls that Deno lacks. Loaded at the first use. */

import { isLinux } from "./os.ts";

const errnoSymbol = isLinux ? "__errno_location" : "__error";
const ERRNO = { [errnoSymbol]: { parameters: [], result: "pointer" } } as const;

/** Where the C library is: glibc, musl, macOS. */
const NAMES = isLinux
  ? ["libc.so.6", `libc.musl-${Deno.build.arch}.so.1`, "libc.so"]
  : ["libSystem.B.dylib", "libc.dylib"];

let errnoLocation: (() => Deno.PointerValue) | undefined;

/** The error number of the call just made, which has returned -1. */
export function errno(): number {
  return new Deno.UnsafePointerView(errnoLocation!()!).getInt32();
}

/** Whether C calls are permitted. Never prompts: a library's user may not be there to answer. */
export function mayCallC(): boolean {
  return Deno.permissions.querySync({ name: "ffi" }).state === "granted";
}

/** Opened libraries, by their tables of symbols. */
const opened = new Map<Deno.ForeignLibraryInterface, unknown>();

/**
 * Loads only these symbols of the C library, since each one costs time. A table is opened once and
 * stays open. Throws if the library cannot be loaded.
 */
export function openLibc<S extends Deno.ForeignLibraryInterface>(
  symbols: S,
): Deno.StaticForeignLibraryInterface<S> {
  // Before any call, since this would change the number.
  errnoLocation ??= openLibrary(ERRNO).symbols[errnoSymbol]! as () => Deno.PointerValue;
  if (!opened.has(symbols)) opened.set(symbols, openLibrary(symbols).symbols);
  return opened.get(symbols) as Deno.StaticForeignLibraryInterface<S>;
}

/** Like `openLibc()`, but the caller closes the library. */
export function openLibrary<S extends Deno.ForeignLibraryInterface>(
  symbols: S,
): Deno.DynamicLibrary<S> {
  const failures: string[] = [];
  for (const name of NAMES) {
    try {
      return Deno.dlopen(name, symbols);
    } catch (error) {
      failures.push((error as Error).message);
    }
  }
  throw new Error(`Cannot load the C library: ${failures.join("; ")}`);
}

/** Numbers that differ between the systems. */
export const C = isLinux
  ? {
    AF_UNIX: 1,
    AF_INET: 2,
    AF_INET6: 10,
    SOL_SOCKET: 1,
    SO_REUSEADDR: 2,
    SO_REUSEPORT: 15,
    SO_ACCEPTCONN: 30,
    IPV6_V6ONLY: 26,
    FIOCLEX: 0x5451n,
    EADDRINUSE: 98,
    EADDRNOTAVAIL: 99,
    EAFNOSUPPORT: 97,
  }
  : {
    AF_UNIX: 1,
    AF_INET: 2,
    AF_INET6: 30,
    SOL_SOCKET: 0xffff,
    SO_REUSEADDR: 4,
    SO_REUSEPORT: 0x200,
    SO_ACCEPTCONN: 2,
    IPV6_V6ONLY: 27,
    FIOCLEX: 0x20006601n,
    EADDRINUSE: 48,
    EADDRNOTAVAIL: 49,
    EAFNOSUPPORT: 47,
  };

/** Numbers that are the same on all systems. */
export const EACCES = 13;
/** As `EACCES`, from calls that need a privilege. */
export const EPERM = 1;
export const SOCK_STREAM = 1;
export const SOCK_DGRAM = 2;
/** Protocol level of IPv6 options. */
export const IPPROTO_IPV6 = 41;
