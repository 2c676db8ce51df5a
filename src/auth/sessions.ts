/**
 * Signing in from a browser: by a code that works once, or by a token. A session is a cookie and a
 * secret: a browser sends the cookie to every port of the host, also to those of other programs, but
 * the secret is known to the dashboard's own pages only.
 */

import { sameText } from "../model/same_text.ts";
import { getCookies, setCookie } from "../npm/http.js";
import type { Principal } from "./principal.ts";

/** How long the printed link may wait to be opened. */
export const CODE_MS = 60_000;

/** How long one stays signed in. */
export const SESSION_MS = 24 * 3_600_000;

/** Name of the cookie. */
export const COOKIE = "procsup_session";

/** Name of the header that carries the secret. */
export const SECRET_HEADER = "procsup-session";

const MAX_CODES = 100;
const MAX_SESSIONS = 1000;

/** Whom a session is for. */
export interface SessionOwner extends Pick<Principal, "name" | "role"> {
  /** When the named token was made that it is owed to: the session ends with it. */
  readonly tokenOf?: string;
}

/** What a browser gets to sign in with. */
export interface SessionKeys {
  /** Value of the cookie. */
  readonly session: string;
  readonly secret: string;
}

interface Session {
  readonly secret: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
  readonly owner: SessionOwner;
}

/** A session, to be kept for the next daemon. */
export interface OpenSession extends Session, SessionKeys {}

/** Codes and sessions that are good at the moment. */
export class Sessions {
  readonly #now: () => number;
  readonly #codes = new Map<string, { readonly until: number; readonly owner: SessionOwner }>();
  readonly #sessions = new Map<string, Session>();
  readonly #changed: () => void;

  /** `now` gives milliseconds; `changed` is called after a session was opened or ended. */
  constructor(now: () => number = Date.now, changed: () => void = () => {}) {
    this.#now = now;
    this.#changed = changed;
  }

  /** A new one-time code; without an owner it is the owner's of the daemon. */
  code(owner: SessionOwner = { name: "dashboard", role: "admin" }): string {
    forgetFirst(this.#codes, MAX_CODES - 1);
    const code = random();
    this.#codes.set(code, { until: this.#now() + CODE_MS, owner });
    return code;
  }

  /** Turns a code into a session, once; undefined if it is not valid. */
  signIn(code: string): SessionKeys | undefined {
    const found = this.#codes.get(code);
    this.#codes.delete(code);
    if (found === undefined || found.until < this.#now()) return undefined;
    return this.open(found.owner);
  }

  /** A new session. */
  open(owner: SessionOwner): SessionKeys {
    forgetFirst(this.#sessions, MAX_SESSIONS - 1);
    const [session, secret] = [random(), random()];
    this.#sessions.set(session, { secret, until: this.#now() + SESSION_MS, owner });
    this.#changed();
    return { session, secret };
  }

  /** Whom a session is for; undefined for an unknown session, and with a wrong secret. */
  ownerOf({ session, secret }: SessionKeys): SessionOwner | undefined {
    const found = this.has(session) ? this.#sessions.get(session) : undefined;
    return found !== undefined && sameText(secret, found.secret) ? found.owner : undefined;
  }

  /** Whether there is a session for a cookie, which says nothing about who sent it. */
  has(session: string): boolean {
    const found = this.#sessions.get(session);
    if (found !== undefined && found.until >= this.#now()) return true;
    this.#sessions.delete(session);
    return false;
  }

  /** All that are good. */
  list(): OpenSession[] {
    return [...this.#sessions].map(([session, rest]) => ({ session, ...rest }))
      .filter(({ until }) => until >= this.#now());
  }

  /** Takes over sessions of the daemon before. */
  restore(all: readonly OpenSession[]): void {
    for (const { session, ...rest } of all) {
      if (typeof rest.secret === "string") this.#sessions.set(session, rest);
    }
  }

  /** Ends one session, or all. */
  signOut(session?: string): void {
    if (session === undefined) this.#sessions.clear();
    else this.#sessions.delete(session);
    this.#changed();
  }
}

/** The session that a `Cookie` header carries. */
export function sessionIn(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  try {
    return getCookies(new Headers({ cookie: header }))[COOKIE];
  } catch {
    // Cookies of other programs on this host come along, well-formed or not.
    return undefined;
  }
}

/** The `Set-Cookie` header that signs in, or out without a session; `origin` is that of the page. */
export function sessionCookie(session: string | undefined, origin: string | undefined): string {
  const headers = new Headers();
  setCookie(headers, {
    name: COOKIE,
    value: session ?? "",
    path: "/",
    maxAge: session === undefined ? 0 : SESSION_MS / 1000,
    httpOnly: true,
    sameSite: "Strict",
    secure: origin?.startsWith("https:") ?? false,
  });
  return headers.get("set-cookie")!;
}

/** 256 bits: too many to guess. */
function random(): string {
  return crypto.getRandomValues(new Uint8Array(32)).toHex();
}

/** Makes room by dropping the oldest. */
function forgetFirst(map: Map<string, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return;
    map.delete(key);
  }
}
