/** What stands for a value that is not told. */

import { ProcsupError } from "./errors.ts";

/** The values of `env` are told like this. */
export const MASK = "***";

/**
 * Throws `invalid_config` for a configuration in wire form that holds a mask: what was read from us and
 * is sent back would replace the value by it.
 */
export function refuseMasks({ env }: Readonly<Record<string, unknown>>): void {
  for (const [key, value] of Object.entries(env ?? {})) {
    if (value !== MASK) continue;
    throw new ProcsupError("invalid_config", `Invalid "env.${key}": "${MASK}" stands for a value`);
  }
}
