/**
 * Sessions of browsers, opened with a one-time code or a token. A session is a cookie and a secret.
 * Browsers send the cookie to every port of the host, even to other programs, but only the dashboard's
 * own pages know the secret.
 */

import { ifPossible } from "../model/errors.ts";
import { sameText } from "../model/secret_values.ts";
import { getCookies, setCookie } from "../npm/http.js";
import { type Cancel, type Clock, systemClock } from "../platform/clock.ts";
import { checksum } from "../platform/state_file.ts";
import type { Role } from "../protocol/verbs/verb.ts";

/** How long a sign-in link is valid. */
export const CODE_MS = 60_000;

/** How long a session lasts. */
export const SESSION_MS = 24 * 3_600_000;

const COOKIE = "procsup_session";

const MAX_CODES = 100;
const MAX_SESSIONS = 1000;

export interface SessionOwner {
  readonly name: string;
  readonly role: Role;
  /** Creation time of the named token behind the session, which ends with the token. */
  readonly tokenOf?: string;
  /** When the token expires, in milliseconds since the epoch. */
  readonly until?: number;
}

/** What a browser needs to authenticate. */
export interface SessionKeys {
  readonly session: string;
  readonly secret: string;
}

interface Session {
  readonly secret: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
  readonly owner: SessionOwner;
}

/** A session to save for the next daemon. */
export interface OpenSession extends Session, SessionKeys {}

export class Sessions {
  readonly #clock: Pick<Clock, "now" | "after">;
  readonly #codes = new Map<string, { readonly until: number; readonly owner: SessionOwner }>();
  readonly #sessions = new Map<string, Session>();
  readonly #endings = new Revocations();
  readonly #changed: () => void;
  /** Name of the cookie. */
  readonly cookie: string;

  /** `changed` is called after a session was opened or ended. `daemon` names the cookie. */
  constructor(
    clock: Pick<Clock, "now" | "after"> = systemClock,
    changed: () => void = () => {},
    daemon?: string,
  ) {
    this.#clock = clock;
    this.#changed = changed;
    this.cookie = cookieName(daemon);
  }

  /** Creates a one-time code, by default for the owner of the daemon. */
  code(owner: SessionOwner = { name: "dashboard", role: "admin" }): string {
    const [oldest] = this.#codes.keys();
    if (this.#codes.size >= MAX_CODES) this.#codes.delete(oldest!);
    const code = random();
    this.#codes.set(code, { until: this.#clock.now() + CODE_MS, owner });
    return code;
  }

  /** Turns a code into a session; undefined if it is invalid. A code works once. */
  signIn(code: string): SessionKeys | undefined {
    const found = this.#codes.get(code);
    this.#codes.delete(code);
    if (found === undefined || found.until < this.#clock.now()) return undefined;
    return this.open(found.owner);
  }

  /** Opens a session. At the limit, the oldest one of the account with the most ends. */
  open(owner: SessionOwner): SessionKeys {
    if (this.#sessions.size >= MAX_SESSIONS) this.#endOne(accountOf(owner));
    const [session, secret] = [random(), random()];
    this.#sessions.set(session, {
      secret,
      until: Math.min(this.#clock.now() + SESSION_MS, owner.until ?? Infinity),
      owner,
    });
    this.#changed();
    return { session, secret };
  }

  /** The owner of a session; undefined if the session is unknown or the secret wrong. */
  ownerOf({ session, secret }: SessionKeys): SessionOwner | undefined {
    const found = this.has(session) ? this.#sessions.get(session) : undefined;
    return found !== undefined && sameText(secret, found.secret) ? found.owner : undefined;
  }

  /** Whether a session exists for a cookie. This does not authenticate the sender. */
  has(session: string): boolean {
    const found = this.#sessions.get(session);
    if (found !== undefined && found.until >= this.#clock.now()) return true;
    this.#sessions.delete(session);
    return false;
  }

  /** Calls `act` when a valid session ends or expires. Returns a function that cancels this. */
  whenEnded(session: string, act: () => void): Cancel {
    const found = this.#sessions.get(session);
    if (found === undefined) return () => {};
    const unsubscribe = this.#endings.subscribe(session, act);
    const cancel = whenPast(found.until, this.#clock, act);
    return () => {
      unsubscribe();
      cancel();
    };
  }

  /** All valid sessions. */
  list(): OpenSession[] {
    return [...this.#sessions].map(([session, rest]) => ({ session, ...rest }))
      .filter(({ until }) => until >= this.#clock.now());
  }

  /** Restores sessions of the previous daemon. */
  restore(all: readonly OpenSession[]): void {
    for (const { session, ...rest } of all) {
      if (typeof rest.secret === "string") this.#sessions.set(session, rest);
    }
  }

  /** Ends a session, or those of some owners, and everything that depends on them. */
  signOut(ended: string | ((owner: SessionOwner) => boolean)): void {
    const all = typeof ended === "string"
      ? [ended]
      : [...this.#sessions].filter(([, { owner }]) => ended(owner)).map(([session]) => session);
    for (const session of all) this.#sessions.delete(session);
    this.#changed();
    for (const session of all) this.#endings.revoke(session);
  }

  #endOne(newcomer: string): void {
    const owned = [...this.#sessions].map(([id, { owner }]) => [id, accountOf(owner)] as const);
    const [first] = owned.find(([, account]) => account === newcomer) ?? owned[0]!;
    this.signOut(placeToFree(owned, newcomer) ?? first);
  }
}

/** The account of a session: the name of its token; empty for the owner. */
export function accountOf({ name, tokenOf }: SessionOwner): string {
  return tokenOf === undefined ? "" : name;
}

/** The longest time of a timer. */
const MAX_WAIT_MS = 2 ** 31 - 1;

/** Calls `act` after a time, in milliseconds since the epoch. Returns a function that cancels this. */
export function whenPast(
  time: number,
  clock: Pick<Clock, "now" | "after">,
  act: () => void,
): Cancel {
  let cancel: Cancel;
  const wait = () => {
    // Once more if the machine's clock was set back meanwhile.
    const over = () => clock.now() <= time ? wait() : act();
    cancel = clock.after(Math.min(time - clock.now() + 1, MAX_WAIT_MS), over);
  };
  wait();
  return () => cancel();
}

/** Listeners for revoked credentials. Forgets a credential with its last listener. */
export class Revocations {
  readonly #listeners = new Map<string, Set<() => void>>();

  /** Calls `act` when the credential is revoked. Returns an unsubscribe function. */
  subscribe(credential: string, act: () => void): () => void {
    const all = this.#listeners.get(credential) ?? new Set();
    this.#listeners.set(credential, all.add(act));
    return () => {
      all.delete(act);
      if (all.size === 0) this.#listeners.delete(credential);
    };
  }

  revoke(credential: string): void {
    for (const act of [...this.#listeners.get(credential) ?? []]) act();
  }
}

/**
 * The oldest place of the account with the most places. Undefined if that account would then have
 * fewer than the newcomer's. `taken` lists places with their accounts, the oldest first.
 */
export function placeToFree<T>(
  taken: Iterable<readonly [T, string]>,
  newcomer: string,
): T | undefined {
  const places = Map.groupBy(taken, ([, account]) => account);
  const own = places.get(newcomer)?.length ?? 0;
  const [most] = [...places.values()].sort((a, b) => b.length - a.length);
  return most !== undefined && most.length > own + 1 ? most[0]![0] : undefined;
}

/**
 * The name of a daemon's cookie. Browsers send a cookie to every port of a host: daemons with the same
 * name would sign each other out. Not by port: a tunnel of ssh has another one.
 */
export function cookieName(daemon?: string): string {
  return daemon === undefined ? COOKIE : `${COOKIE}_${checksum(daemon)}`;
}

/** The session in a `Cookie` header, by the name of the cookie. */
export function sessionIn(header: string | undefined, name: string): string | undefined {
  if (header === undefined) return undefined;
  // The header also has the cookies of other programs on this host, which may be malformed.
  return ifPossible(() => getCookies(new Headers({ cookie: header }))[name]);
}

/** The `Set-Cookie` header that signs in, or out if there is no session. `origin` is that of the page. */
export function sessionCookie(
  name: string,
  session: string | undefined,
  origin: string | undefined,
): string {
  const headers = new Headers();
  setCookie(headers, {
    name,
    value: session ?? "",
    path: "/",
    maxAge: session === undefined ? 0 : SESSION_MS / 1000,
    httpOnly: true,
    sameSite: "Strict",
    secure: origin?.startsWith("https:") ?? false,
  });
  return headers.get("set-cookie")!;
}

function random(): string {
  return crypto.getRandomValues(new Uint8Array(32)).toHex();
}
