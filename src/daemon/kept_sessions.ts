/** Keeps dashboard sessions for the next daemon, even if this one is killed. */

import { readFileIfAny, removeFile, replaceFile } from "../platform/atomic_file.ts";
import { sealed, unsealed } from "../platform/state_file.ts";
import type { OpenSession, Sessions } from "../auth/sessions.ts";

/** Writes the open sessions to a file that only the user can read. */
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
