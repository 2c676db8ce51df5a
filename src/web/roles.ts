/** Who was let in. */

import type { Role } from "../protocol/verbs/verb.ts";

/** Somebody who was let in. */
export interface Principal {
  /** Name of the token; empty for the daemon's own. */
  readonly name: string;
  readonly role: Role;
  readonly via: "token" | "cookie";
  /** By what it was let in: a name for it, or a session. Told to nobody. */
  readonly credential: string;
  /** Whose share of the connections it uses: the token's name, also in a session; empty for the owner. */
  readonly account: string;
}
