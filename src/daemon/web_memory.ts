/** What the next daemon needs of the web listener: its settings, and the sessions of the dashboard. */

import type { OpenSession, Sessions } from "../auth/sessions.ts";
import { parseWeb } from "../model/config_schema.ts";
import type { WebSettings } from "../model/listen_address.ts";
import { readFileIfAny, removeFile, replaceFile } from "../platform/atomic_file.ts";
import { lstatIfAny } from "../platform/stat.ts";
import { readState, removeState, sealed, unsealed, writeState } from "../platform/state_file.ts";

/**
 * The settings in effect when the last daemon ended; undefined if the web listener was stopped or the
 * file is damaged.
 */
export function recallWeb(path: string, warn: (message: string) => void): WebSettings | undefined {
  // Without the file its backup copy must not start the listener.
  if (lstatIfAny(path) === undefined) removeState(path);
  const { value, problems } = readState(path, (value) => {
    const { listen } = value as Partial<WebSettings>;
    // Other keys have defaults, but a default address may not be what was set.
    if (typeof listen !== "string") throw new Error('"listen" is missing');
    return parseWeb(value);
  });
  for (const problem of problems) warn(problem);
  if (value === undefined && problems.length > 0) {
    warn("The web listener stays stopped; to start it: procsup web start");
  }
  return value;
}

export function rememberWeb(path: string, settings: WebSettings): void {
  writeState(path, settings, { durable: true });
}

/** Writes the open sessions, at each change, to a file that only the user can read. */
export function keepSessions(path: string, sessions: Sessions): void {
  const open = sessions.list();
  if (open.length > 0) replaceFile(path, `${sealed(open)}\n`);
  else removeFile(path);
}

/** Restores the sessions of the previous daemon. */
export function restoreSessions(path: string, sessions: Sessions): void {
  const text = readFileIfAny(path);
  if (text === undefined) return;
  try {
    sessions.restore(unsealed(text) as OpenSession[]);
  } catch {
    // Damaged: users sign in again.
    removeFile(path);
  }
}
