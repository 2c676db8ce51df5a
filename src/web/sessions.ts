/** Signing in from a browser: a code that works once, then a cookie. All in memory. */

import type { Role } from "./roles.ts";

/** How long the printed link may wait to be opened. */
export const CODE_MS = 60_000;

/** How long one stays signed in. */
export const SESSION_MS = 24 * 3_600_000;

/** Name of the cookie. */
export const COOKIE = "procsup_session";

const MAX_CODES = 100;
const MAX_SESSIONS = 1000;

/** Codes and sessions that are good at the moment. */
export class Sessions {
  readonly #now: () => number;
  readonly #codes = new Map<string, number>();
  readonly #sessions = new Map<string, { readonly until: number; readonly role: Role }>();

  /** `now` gives milliseconds. */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** A new one-time code. */
  code(): string {
    forgetFirst(this.#codes, MAX_CODES - 1);
    const code = secret();
    this.#codes.set(code, this.#now() + CODE_MS);
    return code;
  }

  /** Turns a code into a session, once; undefined when it is not good (any more). */
  signIn(code: string): string | undefined {
    const until = this.#codes.get(code);
    this.#codes.delete(code);
    if (until === undefined || until < this.#now()) return undefined;
    forgetFirst(this.#sessions, MAX_SESSIONS - 1);
    const session = secret();
    this.#sessions.set(session, { until: this.#now() + SESSION_MS, role: "admin" });
    return session;
  }

  /** The role of a session; undefined when there is no such session. */
  roleOf(session: string): Role | undefined {
    const found = this.#sessions.get(session);
    if (found === undefined) return undefined;
    if (found.until >= this.#now()) return found.role;
    this.#sessions.delete(session);
    return undefined;
  }

  /** Ends one session, or all. */
  signOut(session?: string): void {
    if (session === undefined) this.#sessions.clear();
    else this.#sessions.delete(session);
  }
}

/** The session that a `Cookie` header carries. */
export function sessionIn(header: string | undefined): string | undefined {
  for (const pair of header?.split(";") ?? []) {
    const [name, value] = pair.trim().split("=");
    if (name === COOKIE) return value;
  }
  return undefined;
}

/** The `Set-Cookie` header that signs in, or out without a session. */
export function sessionCookie(session: string | undefined): string {
  const age = session === undefined ? 0 : SESSION_MS / 1000;
  return `${COOKIE}=${session ?? ""}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${age}`;
}

/** 256 bits: whoever looks them up by guessing does not live to find one. */
function secret(): string {
  return crypto.getRandomValues(new Uint8Array(32)).toHex();
}

/** Makes room by dropping the oldest. */
function forgetFirst(map: Map<string, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return;
    map.delete(key);
  }
}
