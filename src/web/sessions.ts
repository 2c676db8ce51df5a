/** Signing in from a browser: by a code that works once, or a token; then a cookie. In memory only. */

import type { Principal } from "./roles.ts";

/** How long the printed link may wait to be opened. */
export const CODE_MS = 60_000;

/** How long one stays signed in. */
export const SESSION_MS = 24 * 3_600_000;

/** Name of the cookie. */
export const COOKIE = "procsup_session";

const MAX_CODES = 100;
const MAX_SESSIONS = 1000;

/** Whom a session is for. */
export interface SessionOwner extends Pick<Principal, "name" | "role"> {
  /** When the named token was made that it is owed to: the session ends with it. */
  readonly tokenOf?: string;
}

/** A session, to be given to the next daemon. */
export interface OpenSession {
  readonly session: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
  readonly owner: SessionOwner;
}

/** Codes and sessions that are good at the moment. */
export class Sessions {
  readonly #now: () => number;
  readonly #codes = new Map<string, { readonly until: number; readonly owner: SessionOwner }>();
  readonly #sessions = new Map<string, { readonly until: number; readonly owner: SessionOwner }>();

  /** `now` gives milliseconds. */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** A new one-time code; without an owner it is the owner's of the daemon. */
  code(owner: SessionOwner = { name: "dashboard", role: "admin" }): string {
    forgetFirst(this.#codes, MAX_CODES - 1);
    const code = secret();
    this.#codes.set(code, { until: this.#now() + CODE_MS, owner });
    return code;
  }

  /** Turns a code into a session, once; undefined when it is not good (any more). */
  signIn(code: string): string | undefined {
    const found = this.#codes.get(code);
    this.#codes.delete(code);
    if (found === undefined || found.until < this.#now()) return undefined;
    return this.open(found.owner);
  }

  /** A new session. */
  open(owner: SessionOwner): string {
    forgetFirst(this.#sessions, MAX_SESSIONS - 1);
    const session = secret();
    this.#sessions.set(session, { until: this.#now() + SESSION_MS, owner });
    return session;
  }

  /** Whom a session is for; undefined when there is no such session. */
  ownerOf(session: string): SessionOwner | undefined {
    const found = this.#sessions.get(session);
    if (found === undefined) return undefined;
    if (found.until >= this.#now()) return found.owner;
    this.#sessions.delete(session);
    return undefined;
  }

  /** All that are good. */
  list(): OpenSession[] {
    return [...this.#sessions].map(([session, rest]) => ({ session, ...rest }))
      .filter(({ until }) => until >= this.#now());
  }

  /** Takes over sessions of the daemon before. */
  restore(all: readonly OpenSession[]): void {
    for (const { session, until, owner } of all) this.#sessions.set(session, { until, owner });
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
