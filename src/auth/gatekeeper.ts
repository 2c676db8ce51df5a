/** Lets requests in: who is it, and may they do that. */

import { ProcsupError } from "../model/errors.ts";
import type { SignInRateLimit } from "./sign_in_limit.ts";
import type { NamedTokens } from "./named_tokens.ts";
import { type Principal, unauthorized } from "./principal.ts";
import { sessionIn, type SessionKeys, type SessionOwner, type Sessions } from "./sessions.ts";

/** What a request shows. */
export interface Credentials {
  readonly authorization: string | undefined;
  readonly cookie: string | undefined;
  /** What proves that the cookie comes from a page of ours; see `Sessions`. */
  readonly secret?: string | undefined;
  /** Where it comes from. */
  readonly address: string;
}

/** A browser that has just signed in. */
export interface SignedIn {
  readonly principal: Principal;
  readonly keys: SessionKeys;
}

/** Where credentials are looked up. */
export interface GatekeeperParts {
  /** Whether an `Authorization` header carries the daemon's own token. */
  readonly isOwner: (authorization: string) => boolean;
  readonly tokens: NamedTokens;
  readonly sessions: Sessions;
  readonly attempts: SignInRateLimit;
}

/** The one door of every surface. */
export class Gatekeeper {
  readonly sessions: Sessions;
  readonly #parts: GatekeeperParts;
  readonly #revocations = new Revocations();
  /** How often the daemon's own token was replaced. */
  #rotations = 0;

  constructor(parts: GatekeeperParts) {
    this.#parts = parts;
    this.sessions = parts.sessions;
  }

  /**
   * Who it is. Throws `unauthorized`, and `rate_limited` instead after ten wrong tokens a minute
   * from one address. A right token is always accepted: no client can lock out another one.
   */
  async identify(credentials: Credentials): Promise<Principal> {
    const known = this.recognise(credentials);
    if (known !== undefined) return known;
    const { authorization, address } = credentials;
    if (authorization === undefined) throw unauthorized();
    return await this.#byToken(authorization, address);
  }

  /** Who it is, if that is known at once. Undefined: not authenticated yet. */
  recognise({ authorization, cookie, secret = "" }: Credentials): Principal | undefined {
    if (authorization === undefined) {
      return this.#bySession({ session: sessionIn(cookie) ?? "", secret });
    }
    return this.#parts.isOwner(authorization)
      ? { name: "", role: "admin", via: "token", credential: this.#owner, account: "" }
      : undefined;
  }

  /** Turns a one-time code into a session. Throws as `identify()` does. */
  signIn(code: string, address: string): SignedIn {
    const keys = this.sessions.signIn(code);
    const principal = keys && this.#bySession(keys);
    if (principal !== undefined) return { principal, keys: keys! };
    this.#countFailure(address);
    throw new ProcsupError("unauthorized", "This link has been used, or is older than a minute", {
      hint: "procsup web open",
    });
  }

  /** A one-time code. It signs in with the role of the principal that asks for it. */
  code(principal: Principal | undefined): string {
    return this.sessions.code(principal && this.#ownerFor(principal));
  }

  /** A session for who shows a token, with that token's role and for as long as it is good. */
  openSession(principal: Principal): SignedIn {
    if (principal.via === "cookie") {
      throw new ProcsupError("bad_request", "You are signed in already");
    }
    const keys = this.sessions.open(this.#ownerFor(principal));
    return { principal: this.#bySession(keys)!, keys };
  }

  /** Ends a session, or all, and whatever is kept open by it. */
  signOut(session?: string): void {
    const ended = session === undefined
      ? this.sessions.list().map((one) => one.session)
      : [session];
    this.sessions.signOut(session);
    for (const one of ended) this.#revocations.revoke(one);
  }

  /** Ends a named token, its sessions, and whatever is kept open by them. Throws `not_found`. */
  revoke(name: string): void {
    this.#parts.tokens.revoke(name);
    this.#revocations.revoke(tokenCredential(name));
    for (const { session, owner } of this.sessions.list()) {
      if (owner.name === name && owner.tokenOf !== undefined) this.signOut(session);
    }
  }

  /** The daemon's own token was replaced: whatever is kept open by the old one ends, and all sessions. */
  ownerChanged(): void {
    const old = this.#owner;
    this.#rotations++;
    this.#revocations.revoke(old);
    this.signOut();
  }

  /** Calls `act` when the credential is revoked, or now if it was. Returns an unsubscribe function. */
  whenRevoked(principal: Principal, act: () => void): () => void {
    if (!this.#isValid(principal)) act();
    return this.#revocations.subscribe(principal.credential, act);
  }

  #isValid({ name, via, credential }: Principal): boolean {
    if (via === "cookie") return this.sessions.has(credential);
    return name === "" ? credential === this.#owner : this.#parts.tokens.madeAt(name) !== undefined;
  }

  /** Credential of the daemon's own token. */
  get #owner(): string {
    return `owner ${this.#rotations}`;
  }

  #ownerFor({ name, role }: Principal): SessionOwner {
    const made = name === "" ? undefined : this.#parts.tokens.madeAt(name);
    return made === undefined ? { name: "dashboard", role } : { name, role, tokenOf: made };
  }

  #bySession(keys: SessionKeys): Principal | undefined {
    const owner = this.sessions.ownerOf(keys);
    if (owner === undefined) return undefined;
    const { name, role, tokenOf } = owner;
    const account = tokenOf === undefined ? "" : name;
    // Another token of that name is another one's.
    const isValid = tokenOf === undefined || this.#parts.tokens.madeAt(name) === tokenOf;
    if (isValid) return { name, role, via: "cookie", credential: keys.session, account };
    this.signOut(keys.session);
    return undefined;
  }

  async #byToken(authorization: string, address: string): Promise<Principal> {
    const secret = /^Bearer\s+(\S+)\s*$/i.exec(authorization)?.[1];
    const found = secret === undefined ? undefined : await this.#parts.tokens.find(secret);
    if (found !== undefined) {
      const { name, role } = found;
      return { name, role, via: "token", credential: tokenCredential(name), account: name };
    }
    this.#countFailure(address);
    throw unauthorized();
  }

  #countFailure(address: string): void {
    const wait = this.#parts.attempts.fail(address);
    if (wait === 0) return;
    throw new ProcsupError("rate_limited", `Too many failed sign-ins: try again in ${wait} s`);
  }
}

function tokenCredential(name: string): string {
  return `token ${name}`;
}

/** A stream that ends with an error when the credential of its reader is revoked. */
export function untilRevoked<T>(
  stream: ReadableStream<T>,
  principal: Principal,
  gatekeeper: Gatekeeper,
): ReadableStream<T> {
  const over = new AbortController();
  const reason = () => new ProcsupError("unauthorized", "The token was revoked");
  const undo = gatekeeper.whenRevoked(principal, () => over.abort(reason()));
  return stream.pipeThrough(new TransformStream<T, T>({ flush: undo, cancel: undo }), {
    signal: over.signal,
  });
}

/** Listeners for revoked credentials; forgets a credential with its last listener. */
class Revocations {
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

  /** Calls its listeners. */
  revoke(credential: string): void {
    for (const act of [...this.#listeners.get(credential) ?? []]) act();
  }
}
