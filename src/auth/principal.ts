/** Who sent a request, and what they may do. */

import { ProcsupError } from "../model/errors.ts";
import { includesRole, type Role } from "../protocol/verbs/verb.ts";

/** An authenticated client. */
export interface Principal {
  /** Name of the token; empty for the daemon's own. */
  readonly name: string;
  readonly role: Role;
  readonly via: "token" | "cookie";
  /** Its token by a name, or its session. Never shown. */
  readonly credential: string;
  /** Whose share of the connections it uses: the name of the token, of a session too; empty for the owner. */
  readonly account: string;
}

/** Throws `forbidden` for a role that does not include the one that is needed. */
export function allowRole(
  principal: Pick<Principal, "role"> | undefined,
  needed: Role | "open",
): void {
  if (needed === "open") return;
  if (principal === undefined) throw unauthorized();
  const { role } = principal;
  if (includesRole(role, needed)) return;
  throw new ProcsupError("forbidden", `Token has role "${role}"; this needs "${needed}"`);
}

/** The refusal of a request without a valid credential. */
export function unauthorized(): ProcsupError {
  return new ProcsupError("unauthorized", "The token is missing or wrong", {
    hint: "It is in the file token of the daemon's home",
  });
}
