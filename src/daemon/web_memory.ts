/** How the web surface listened, for the next daemon. */

import { messageOf } from "../model/errors.ts";
import type { WebSettings } from "../model/listen_address.ts";
import { parseWeb } from "../model/config_schema.ts";
import { readFileIfAny, removeFile, replaceFileDurably } from "../platform/atomic_file.ts";

/**
 * The settings in force when the last daemon ended; undefined while the web surface was stopped. A
 * damaged file is set aside: nothing listens because of it.
 */
export function recallWeb(path: string, warn: (message: string) => void): WebSettings | undefined {
  const text = readFileIfAny(path);
  if (text === undefined) return undefined;
  try {
    const wire = JSON.parse(text);
    if (typeof wire.listen !== "string") throw new Error('"listen" is missing');
    return parseWeb(wire);
  } catch (error) {
    const aside = `${path}.unreadable`;
    Deno.renameSync(path, aside);
    const what = `Unreadable state file "${path}": ${messageOf(error)}; set aside as "${aside}"`;
    warn(`Web: ${what}. The web surface stays stopped: procsup web start`);
    return undefined;
  }
}

/** Keeps them. */
export function rememberWeb(path: string, settings: WebSettings): void {
  replaceFileDurably(path, `${JSON.stringify(settings)}\n`);
}

/** Forgets them: the next daemon does not listen. */
export function forgetWeb(path: string): void {
  removeFile(path);
}
