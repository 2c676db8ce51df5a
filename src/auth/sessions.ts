/**
 * Sessions of browsers, opened with a one-time code or a token. A session belongs to one tab: it is
 * named by the tab's public key, and only requests signed with the private key are of it. There are
 * no cookies, which browsers would send to every port of the host, even to other programs.
 */

import { ProcsupError } from "../model/errors.ts";
import { sameText } from "../model/secret_values.ts";
import { type Cancel, type Clock, systemClock } from "../platform/clock.ts";
import {
  isPublicKey,
  macOf,
  type Proof,
  randomText,
  type Signable,
  type Signature,
} from "../protocol/session_signature.ts";
import type { Role } from "../verbs/verb.ts";
import { DaemonKey } from "./daemon_key.ts";

/** How long a sign-in link is valid. */
export const CODE_MS = 60_000;

/** How long a session lasts. */
export const SESSION_MS = 24 * 3_600_000;

/** How old a signed request may be, and how far ahead the tab's clock. */
const WINDOW_MS = 60_000;

const MAX_CODES = 100;
const MAX_SESSIONS = 1000;
/** Maximum number of codes of a session that wait to be used; a new one replaces the oldest. */
const MAX_PASSES: Readonly<Record<PassFor, number>> = { reload: 1, tab: 10 };
/** Maximum number of requests of a session within the window. */
const MAX_NONCES = 20_000;

export interface SessionOwner {
  readonly name: string;
  readonly role: Role;
  /** Creation time of the named token behind the session, which ends with the token. */
  readonly tokenOf?: string;
  /** When the token expires, in milliseconds since the epoch. */
  readonly until?: number;
}

interface Session {
  /** Milliseconds since the epoch. */
  readonly until: number;
  readonly owner: SessionOwner;
  /** The same for all tabs that one sign-in opened. */
  readonly family: string;
  /** Where the daemon listened: at another address, another program may pass requests on. */
  readonly place: string;
}

/** A session to save for the next daemon. `session` is the public key of the tab. */
export interface OpenSession extends Session {
  readonly session: string;
}

/** What a tab may pass its session to: itself after a reload, or another tab. */
export type PassFor = "reload" | "tab";

export class Sessions {
  readonly #clock: Pick<Clock, "now" | "after">;
  readonly #key: DaemonKey;
  readonly #codes = new Map<string, { readonly until: number; readonly owner: SessionOwner }>();
  readonly #sessions = new Map<string, Session>();
  /** One-time codes of sessions, by their purpose. */
  readonly #passes = new Map<string, Readonly<Record<PassFor, readonly string[]>>>();
  /** The nonces that a session has used, with the time until which they are remembered. */
  readonly #nonces = new Map<string, Map<string, number>>();
  readonly #endings = new Revocations();
  readonly #changed: () => void;
  #epoch = randomText();
  #place = "";

  /** `changed` is called after a session was opened or ended. */
  constructor(
    clock: Pick<Clock, "now" | "after"> = systemClock,
    changed: () => void = () => {},
    key: DaemonKey = new DaemonKey(),
  ) {
    this.#clock = clock;
    this.#changed = changed;
    this.#key = key;
  }

  /**
   * Call it when the daemon begins to listen. Another program may have had the port before: what tabs
   * signed until then, and all codes, are void.
   */
  listenAt(place: string): void {
    this.#place = place;
    this.#epoch = randomText();
    this.#codes.clear();
    this.#passes.clear();
    this.#nonces.clear();
  }

  /** Creates a one-time code, by default for the owner of the daemon. */
  code(owner: SessionOwner = { name: "dashboard", role: "admin" }): string {
    const [oldest] = this.#codes.keys();
    if (this.#codes.size >= MAX_CODES) this.#codes.delete(oldest!);
    const code = longRandom();
    this.#codes.set(code, { until: this.#clock.now() + CODE_MS, owner });
    return code;
  }

  /** Creates a one-time code for a tab that continues a session. */
  pass(session: string, purpose: PassFor): string {
    const code = longRandom();
    const passes = this.#passes.get(session) ?? { reload: [], tab: [] };
    const codes = [...passes[purpose], code].slice(-MAX_PASSES[purpose]);
    this.#passes.set(session, { ...passes, [purpose]: codes });
    return code;
  }

  /**
   * Opens a session for a tab by a code, which works once. Resolves to false if the code is invalid.
   * Throws `bad_request` for an invalid public key.
   */
  async signIn(code: string, tab: string): Promise<boolean> {
    await this.#checkTab(tab);
    const found = this.#codes.get(code);
    this.#codes.delete(code);
    if (found !== undefined && found.until >= this.#clock.now()) {
      this.#add(tab, found.owner);
      return true;
    }
    return this.#continue(code, tab);
  }

  /** Opens a session for a tab. At the limit, the oldest one of the account with the most ends. */
  async open(owner: SessionOwner, tab: string): Promise<void> {
    await this.#checkTab(tab);
    this.#add(tab, owner);
  }

  /** The owner of the session that signed a request; undefined if the signature is not valid now. */
  async ownerOf(
    signature: Signature,
    request: Pick<Signable, "method" | "path">,
  ): Promise<SessionOwner | undefined> {
    const { session, epoch, time, nonce, mac } = signature;
    const now = this.#clock.now();
    if (!this.has(session) || Math.abs(now - time) > WINDOW_MS) return undefined;
    const expected = await macOf(await this.#key.sharedWith(session), signature, request);
    // Compare the epoch last: it may have changed meanwhile.
    if (!sameText(mac, expected) || epoch !== this.#epoch) return undefined;
    const owner = this.owner(session);
    return owner !== undefined && this.#isNew(session, nonce, now) ? owner : undefined;
  }

  /** Proves to a tab that it speaks with this daemon. Throws `bad_request` for an invalid key. */
  async prove(tab: string, nonce: string): Promise<Proof> {
    await this.#checkTab(tab);
    return await this.#key.prove(tab, { epoch: this.#epoch, time: this.#clock.now() }, nonce);
  }

  /** The public key by which the daemon proves itself. */
  daemonKey(): Promise<string> {
    return this.#key.publicText();
  }

  /** The owner of a session. This does not authenticate the sender. */
  owner(session: string): SessionOwner | undefined {
    return this.has(session) ? this.#sessions.get(session)?.owner : undefined;
  }

  /** Whether a session exists. This does not authenticate the sender. */
  has(session: string): boolean {
    const found = this.#sessions.get(session);
    if (found === undefined) return false;
    if (found.until >= this.#clock.now()) return found.place === this.#place;
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

  /** All sessions that have not expired. */
  list(): OpenSession[] {
    return [...this.#sessions].map(([session, rest]) => ({ session, ...rest }))
      .filter(({ until }) => until >= this.#clock.now());
  }

  /** Restores sessions of the previous daemon. */
  restore(all: readonly OpenSession[]): void {
    for (const { session, ...rest } of all) {
      if (isPublicKey(session)) this.#sessions.set(session, rest);
    }
  }

  /** Ends a session with those of the same sign-in, or those of some owners, and what depends on them. */
  signOut(ended: string | ((owner: SessionOwner) => boolean)): void {
    const family = typeof ended === "string" ? this.#sessions.get(ended)?.family : undefined;
    const isOver = (session: Session) =>
      typeof ended === "string" ? session.family === family : ended(session.owner);
    this.#end([...this.#sessions].filter(([, it]) => isOver(it)).map(([session]) => session));
  }

  #end(all: readonly string[]): void {
    for (const session of all) {
      this.#sessions.delete(session);
      this.#passes.delete(session);
      this.#nonces.delete(session);
    }
    this.#changed();
    for (const session of all) this.#endings.revoke(session);
  }

  /** A key stays with its account, and what an earlier session of it opened ends with that. */
  #add(tab: string, owner: SessionOwner, from?: Session): void {
    const before = this.owner(tab);
    if (before !== undefined && accountOf(before) !== accountOf(owner)) {
      throw new ProcsupError("bad_request", 'Invalid "key": it has a session of another account');
    }
    if (this.#sessions.has(tab)) this.#end([tab]);
    if (this.#sessions.size >= MAX_SESSIONS) this.#endOne(accountOf(owner));
    const now = this.#clock.now();
    this.#sessions.set(tab, {
      until: from?.until ?? Math.min(now + SESSION_MS, owner.until ?? Infinity),
      owner,
      family: from?.family ?? randomText(),
      place: this.#place,
    });
    this.#changed();
  }

  #continue(code: string, tab: string): boolean {
    for (const [session, { reload, tab: others }] of this.#passes) {
      const moves = reload.some((one) => sameText(code, one));
      const isPass = moves || others.some((one) => sameText(code, one));
      const from = this.#sessions.get(session);
      if (!isPass || from === undefined || !this.has(session)) continue;
      this.#passes.set(session, { reload, tab: others.filter((one) => one !== code) });
      this.#add(tab, from.owner, from);
      if (moves) this.#end([session]);
      return true;
    }
    return false;
  }

  async #checkTab(tab: unknown): Promise<void> {
    try {
      if (!isPublicKey(tab)) throw new TypeError("malformed");
      await this.#key.sharedWith(tab);
    } catch (cause) {
      const message = 'Invalid "key": expected a public key of P-256, uncompressed and in hex';
      throw new ProcsupError("bad_request", message, { cause });
    }
  }

  /** Whether a nonce was not used before. It is used now. */
  #isNew(session: string, nonce: string, now: number): boolean {
    const used = this.#nonces.getOrInsertComputed(session, () => new Map());
    for (const [old, until] of used) {
      if (until >= now) break;
      used.delete(old);
    }
    if (used.has(nonce) || used.size >= MAX_NONCES) return false;
    used.set(nonce, now + 2 * WINDOW_MS);
    return true;
  }

  #endOne(newcomer: string): void {
    const owned = [...this.#sessions].map(([id, { owner }]) => [id, accountOf(owner)] as const);
    const [first] = owned.find(([, account]) => account === newcomer) ?? owned[0]!;
    this.#end([placeToFree(owned, newcomer) ?? first]);
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

/** 256 random bits. */
function longRandom(): string {
  return randomText() + randomText();
}
