import { ProcsupError } from "../model/errors.ts";
import { includesRole, type Role } from "../protocol/verbs/verb.ts";

export interface Principal {
  /** Name of the token; empty for the daemon's own. */
  readonly name: string;
  readonly role: Role;
  readonly via: "token" | "cookie";
  /** Identifies its token or session. Never shown. */
  readonly credential: string;
  /**
   * Account that its connections count for: the name of the token, even for its sessions; empty for the
   * owner.
   */
  readonly account: string;
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
  throw new ProcsupError("forbidden", `Token has role "${role}"; this needs "${needed}"`);
}

/** The error for a request without a valid credential. */
export function unauthorized(): ProcsupError {
  return new ProcsupError("unauthorized", "The token is missing or wrong", {
    hint: "The token is in the file `token` in the daemon's home",
  });
}
