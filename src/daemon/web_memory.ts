/** How the web surface listened, for the next daemon. */

import type { WebSettings } from "../model/listen_address.ts";
import { parseWeb } from "../model/config_schema.ts";
import { lstatIfAny } from "../platform/stat.ts";
import { readState, removeState, writeState } from "../platform/state_file.ts";

/**
 * The settings in force when the last daemon ended; undefined while the web surface was stopped.
 * Nothing listens because of a damaged file.
 */
export function recallWeb(path: string, warn: (message: string) => void): WebSettings | undefined {
  // The copy of a file that was removed must not open anything.
  if (lstatIfAny(path) === undefined) forgetWeb(path);
  const { value, problems } = readState(path, (value) => {
    const { listen } = value as Partial<WebSettings>;
    // Any other key has a default, with which nobody may have meant to listen.
    if (typeof listen !== "string") throw new Error('"listen" is missing');
    return parseWeb(value);
  });
  for (const problem of problems) warn(problem);
  if (value === undefined && problems.length > 0) {
    warn("The web surface stays stopped: procsup web start");
  }
  return value;
}

/** Keeps them. */
export function rememberWeb(path: string, settings: WebSettings): void {
  writeState(path, settings, { durable: true });
}

/** Forgets them: the next daemon does not listen. */
export function forgetWeb(path: string): void {
  removeState(path);
}
