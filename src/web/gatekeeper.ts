/** Lets requests in: who is it, and may they do that. */

import { ProcsupError } from "../model/errors.ts";
import type { Attempts } from "./attempts.ts";
import type { NamedTokens } from "./named_tokens.ts";
import { mayAct, type Principal, roleFor } from "./roles.ts";
import { sessionIn, type Sessions } from "./sessions.ts";

/** What a request shows. */
export interface Credentials {
  readonly authorization: string | undefined;
  readonly cookie: string | undefined;
  /** Where it comes from. */
  readonly address: string;
}

/** Where credentials are looked up. */
export interface GatekeeperParts {
  /** Whether an `Authorization` header carries the daemon's own token. */
  readonly isOwner: (authorization: string) => boolean;
  readonly tokens: NamedTokens;
  readonly sessions: Sessions;
  readonly attempts: Attempts;
}

/** The one door of the web surface. */
export class Gatekeeper {
  readonly sessions: Sessions;
  readonly #parts: GatekeeperParts;

  constructor(parts: GatekeeperParts) {
    this.#parts = parts;
    this.sessions = parts.sessions;
  }

  /**
   * Who it is. Throws `unauthorized`, and `rate_limited` instead after ten wrong tokens a minute
   * from one address; a right one is always let in, so that nobody can lock out a neighbour.
   */
  async identify(credentials: Credentials): Promise<Principal> {
    const known = this.recognise(credentials);
    if (known !== undefined) return known;
    const { authorization, address } = credentials;
    if (authorization === undefined) throw unauthorized();
    return await this.#byToken(authorization, address);
  }

  /** Who it is, where that can be told at once; undefined says nothing about who it is not. */
  recognise({ authorization, cookie }: Credentials): Principal | undefined {
    if (authorization === undefined) {
      const role = this.sessions.roleOf(sessionIn(cookie) ?? "");
      return role && { name: "dashboard", role, via: "cookie" };
    }
    return this.#parts.isOwner(authorization)
      ? { name: "", role: "admin", via: "token" }
      : undefined;
  }

  /** Turns a one-time code into a session. Throws as `identify()` does. */
  signIn(code: string, address: string): string {
    const session = this.sessions.signIn(code);
    if (session !== undefined) return session;
    this.#countFailure(address);
    throw new ProcsupError("unauthorized", "This link has been used, or is older than a minute", {
      hint: "procsup web open",
    });
  }

  async #byToken(authorization: string, address: string): Promise<Principal> {
    const secret = /^Bearer\s+(\S+)\s*$/i.exec(authorization)?.[1];
    const found = secret === undefined ? undefined : await this.#parts.tokens.find(secret);
    if (found !== undefined) return { name: found.name, role: found.role, via: "token" };
    this.#countFailure(address);
    throw unauthorized();
  }

  #countFailure(address: string): void {
    const wait = this.#parts.attempts.fail(address);
    if (wait === 0) return;
    throw new ProcsupError("rate_limited", `Too many failed sign-ins: try again in ${wait} s`);
  }
}

/** Throws `forbidden` when it takes another role to carry out an action. */
export function allow(principal: Principal, action: string): void {
  const needed = roleFor(action);
  if (mayAct(principal.role, needed)) return;
  throw new ProcsupError(
    "forbidden",
    `This token is for "${principal.role}", it takes "${needed}"`,
  );
}

function unauthorized(): ProcsupError {
  return new ProcsupError("unauthorized", "The token is missing or wrong", {
    hint: "It is in the file token of the daemon's home",
  });
}
