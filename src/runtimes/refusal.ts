/** The one form of every "this cannot be started". */

import { ProcsupError } from "../model/errors.ts";

/** Throws `ProcsupError` `invalid_config`: `Cannot start "api": <problem>`. */
export function refuse(name: string, problem: string, hint?: string): never {
  throw new ProcsupError(
    "invalid_config",
    `Cannot start ${JSON.stringify(name)}: ${problem}`,
    hint === undefined ? undefined : { hint },
  );
}
