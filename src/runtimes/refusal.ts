/** Errors of apps that cannot be started. */

import { ProcsupError } from "../model/errors.ts";

/** Throws `invalid_config`: `Cannot start "api": <problem>`. */
export function refuse(name: string, problem: string, hint?: string, field?: string): never {
  const message = `Cannot start ${JSON.stringify(name)}: ${problem}`;
  throw new ProcsupError("invalid_config", message, { hint, field });
}

/** Throws `invalid_config` for an entrypoint: `entrypoint "/srv/api.ts" <problem>`. */
export function refuseEntrypoint(
  name: string,
  entrypoint: string,
  problem: string,
  hint?: string,
): never {
  refuse(name, `entrypoint ${JSON.stringify(entrypoint)} ${problem}`, hint, "entrypoint");
}
