/** Authenticates requests, and ends sessions and streams whose credential is revoked or expires. */

import { ProcsupError } from "../model/errors.ts";
import { plainText, shortened } from "../model/plain_text.ts";
import { endedBy } from "../protocol/shutdown_notice.ts";
import { type ErrorJson, errorJson } from "../protocol/envelope.ts";
import type { NamedTokens } from "./named_tokens.ts";
import { accountOf, Revocations, type SessionOwner, type Sessions, whenPast } from "./sessions.ts";
import { readAuthorization, type Signable, type Signature } from "../protocol/session_signature.ts";
import { includesRole, type Role } from "../verbs/verb.ts";
import { type Clock, systemClock } from "../platform/clock.ts";
import { commandHint, type Hint } from "../model/hint.ts";

export interface Principal {
  /** Name of the token; empty for the daemon's own. */
  readonly name: string;
  readonly role: Role;
  readonly via: "token" | "session";
  /** Identifies its token or session. Never shown. */
  readonly credential: string;
  /** For a session: hash of the body that it signed. */
  readonly signedBody?: string;
  /**
   * Account that its connections count for: the name of the token, even for its sessions; empty for the
   * owner.
   */
  readonly account: string;
  /** The apps that exist for it, see `isWithin()`; undefined for all. */
  readonly only?: readonly string[] | undefined;
  /** The name that an MCP client gives itself, unverified; undefined for other requests. */
  readonly agent?: string | undefined;
}

/** Maximum length of an agent's name in records. */
const AGENT_CHARS = 40;

/** The name of who asked, for records. */
export function actorOf({ account, agent }: Pick<Principal, "account" | "agent">): string {
  const who = account === "" ? "owner" : `token ${account}`;
  if (agent === undefined) return who;
  // Without parentheses, the name cannot imitate another sender.
  const name = shortened(plainText(agent).replace(/[()\s]+/g, " ").trim(), AGENT_CHARS);
  return `agent ${name} (${who})`;
}

/** Throws `forbidden` if the role does not include the needed one. */
export function allowRole(
  principal: Pick<Principal, "role"> | undefined,
  needed: Role | "open",
): void {
  if (needed === "open") return;
  if (principal === undefined) throw unauthorized();
  const { role } = principal;
  if (includesRole(role, needed)) return;
  throw new ProcsupError("forbidden", `Token has role "${role}"; this needs "${needed}"`, {
    hint: tokenHint(needed),
  });
}

/** The error for a request without a valid credential. */
export function unauthorized(): ProcsupError {
  return new ProcsupError("unauthorized", "The token is missing or wrong", {
    hint: tokenHint("read"),
  });
}

function tokenHint(role: Role): Hint {
  return {
    text: "Ask the owner of the daemon for one",
    command: { verb: "token create", target: "<name>", flags: { role } },
  };
}

/** The credentials of a request. */
interface Credentials {
  readonly authorization: string | undefined;
  readonly address: string;
  /** What a session must have signed; undefined where sessions cannot come. */
  readonly request?: Pick<Signable, "method" | "path">;
}

interface GatekeeperParts {
  /** Whether an `Authorization` header carries the daemon's own token. */
  readonly isOwner: (authorization: string) => boolean;
  readonly tokens: NamedTokens;
  readonly sessions: Sessions;
  readonly attempts: SignInRateLimit;
  readonly clock?: Pick<Clock, "now" | "after">;
}

/** Authenticates requests on every surface. */
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
   * Identifies the sender. Throws `unauthorized`; after ten wrong tokens in a minute from one address
   * it throws `rate_limited` instead. A valid token is always accepted, so clients cannot lock each
   * other out.
   */
  async identify(credentials: Credentials): Promise<Principal> {
    const { authorization, address, request } = credentials;
    if (authorization === undefined) throw unauthorized();
    const signature = readAuthorization(authorization);
    if (signature !== undefined) return await this.#bySession(signature, request);
    if (this.#parts.isOwner(authorization)) return this.#principalOf("", "admin");
    return await this.#byToken(authorization, address);
  }

  /** Turns a one-time code into a session of a tab. Throws like `identify()`. */
  async signIn(code: string, tab: string, address: string): Promise<Principal> {
    const isOpen = await this.sessions.signIn(code, tab);
    const principal = isOpen ? this.#ofSession(tab) : undefined;
    if (principal !== undefined) return principal;
    this.#countFailure(address);
    throw new ProcsupError(
      "unauthorized",
      "This link was used already, or is older than a minute",
      { hint: commandHint("web open") },
    );
  }

  /** Creates a one-time code that signs in with the role of `principal`. */
  code(principal: Principal | undefined): string {
    return this.sessions.code(principal && this.#ownerFor(principal));
  }

  /**
   * Opens a session of a tab for the holder of a token. It has the token's role and ends with the
   * token.
   */
  async openSession(principal: Principal, tab: string): Promise<Principal> {
    if (principal.via === "session") {
      throw new ProcsupError("bad_request", "You are signed in already");
    }
    await this.sessions.open(this.#ownerFor(principal), tab);
    return this.#ofSession(tab)!;
  }

  /** Revokes a named token and ends its sessions, with all that depends on them. Throws `not_found`. */
  revoke(name: string): void {
    const credential = this.#credentialOf(name);
    this.#parts.tokens.revoke(name);
    this.#revocations.revoke(credential);
    this.sessions.signOut((owner) => accountOf(owner) === name);
  }

  /**
   * Call it after replacing the daemon's own token. Ends all sessions, and all that depends on the old
   * token.
   */
  ownerChanged(): void {
    const old = this.#credentialOf("");
    this.#rotations++;
    this.#revocations.revoke(old);
    this.sessions.signOut(() => true);
  }

  /**
   * Calls `act` when the credential is revoked or expires, or now if it did. Returns an unsubscribe
   * function.
   */
  whenRevoked(principal: Principal, act: () => void): () => void {
    if (!this.#isValid(principal)) act();
    const { name, via, credential } = principal;
    if (via === "session") return this.sessions.whenEnded(credential, act);
    const unsubscribe = this.#revocations.subscribe(credential, act);
    const end = this.#parts.tokens.valid(name)?.expires_at;
    if (end === undefined) return unsubscribe;
    const cancel = whenPast(Date.parse(end), this.#parts.clock ?? systemClock, act);
    return () => {
      unsubscribe();
      cancel();
    };
  }

  #isValid({ name, via, credential }: Principal): boolean {
    if (via === "session") return this.sessions.has(credential);
    const isKnown = name === "" || this.#parts.tokens.valid(name) !== undefined;
    return isKnown && credential === this.#credentialOf(name);
  }

  /** Identifies a token. A later one of the same name is another. */
  #credentialOf(name: string): string {
    return name === ""
      ? `owner ${this.#rotations}`
      : `token ${name} ${this.#parts.tokens.valid(name)?.created_at}`;
  }

  #ownerFor(principal: Principal): SessionOwner {
    const { account, role } = principal;
    const token = this.#parts.tokens.valid(account);
    const isRevoked = account !== "" && token === undefined;
    // Since it was identified.
    if (isRevoked || !this.#isValid(principal)) throw unauthorized();
    const { created_at: tokenOf, expires_at: end } = token ?? {};
    return {
      name: account || "dashboard",
      role,
      ...tokenOf !== undefined && { tokenOf },
      ...end !== undefined && { until: Date.parse(end) },
    };
  }

  async #bySession(
    signature: Signature,
    request: Credentials["request"],
  ): Promise<Principal> {
    const { session, body } = signature;
    const owner = request && await this.sessions.ownerOf(signature, request);
    const principal = owner && this.#ofSession(session);
    if (principal === undefined) throw unauthorized();
    return { ...principal, signedBody: body };
  }

  #ofSession(session: string): Principal | undefined {
    const owner = this.sessions.owner(session);
    if (owner === undefined) return undefined;
    const { name, role, tokenOf } = owner;
    const token = tokenOf === undefined ? undefined : this.#parts.tokens.used(name);
    // A new token of the same name does not continue the sessions of an old one.
    if (tokenOf === token?.created_at) {
      const account = accountOf(owner);
      return { name, role, via: "session", credential: session, account, only: token?.only };
    }
    this.sessions.signOut(session);
    return undefined;
  }

  async #byToken(authorization: string, address: string): Promise<Principal> {
    const secret = /^Bearer\s+(\S+)\s*$/i.exec(authorization)?.[1];
    const found = secret === undefined ? undefined : await this.#parts.tokens.find(secret);
    if (found !== undefined) return this.#principalOf(found.name, found.role, found.only);
    this.#countFailure(address);
    throw unauthorized();
  }

  #principalOf(name: string, role: Role, only?: readonly string[]): Principal {
    return { name, role, via: "token", credential: this.#credentialOf(name), account: name, only };
  }

  #countFailure(address: string): void {
    const seconds = this.#parts.attempts.fail(address);
    if (seconds > 0) throw new RateLimitedError(seconds);
  }
}

/** The error for too many failed sign-ins. */
export class RateLimitedError extends ProcsupError {
  /** Time to wait before the next attempt. */
  readonly seconds: number;

  constructor(seconds: number) {
    super("rate_limited", `Too many failed sign-ins: try again in ${seconds} s`);
    this.seconds = seconds;
  }
}

/**
 * Ends a stream when the credential of its reader is revoked or expires. `last` makes the last item,
 * which tells the reader why: a stream that breaks off means that the daemon is gone.
 */
export function untilRevoked<T>(
  stream: ReadableStream<T>,
  { principal, gatekeeper, last }: {
    readonly principal: Principal;
    readonly gatekeeper: Gatekeeper;
    readonly last?: (error: ErrorJson) => T;
  },
): ReadableStream<T> {
  const reason = principal.via === "session" ? "The session has ended" : "The token was revoked";
  const error = new ProcsupError("unauthorized", reason);
  return endedBy(
    stream,
    (end) => gatekeeper.whenRevoked(principal, () => end(last?.(errorJson(error)))),
  );
}

const WINDOW_MS = 60_000;
const MAX_FAILURES = 10;
const MAX_ADDRESSES = 10_000;

/** Failed sign-ins in the last minute. */
export class SignInRateLimit {
  readonly #clock: Pick<Clock, "steady">;
  readonly #failures = new Map<string, number[]>();

  constructor(clock: Pick<Clock, "steady"> = systemClock) {
    this.#clock = clock;
  }

  /** Notes a failure. Returns the seconds to wait after too many, otherwise 0. */
  fail(address: string): number {
    const now = this.#clock.steady();
    const recent = (this.#failures.get(address) ?? []).filter((at) => at > now - WINDOW_MS);
    // More failures do not extend the wait.
    if (recent.length < MAX_FAILURES) {
      this.#remember(address, [...recent, now]);
      return 0;
    }
    return Math.ceil((recent[0]! + WINDOW_MS - now) / 1000);
  }

  #remember(address: string, times: number[]): void {
    // Move it to the end, so that the address without failures for the longest time is dropped first.
    this.#failures.delete(address);
    this.#failures.set(address, times);
    if (this.#failures.size > MAX_ADDRESSES) {
      this.#failures.delete(this.#failures.keys().next().value!);
    }
  }
}
