/** Who is signed in to the dashboard, kept for the next daemon: also after one that was killed. */

import { readFileIfAny, removeFile, replaceFile } from "../platform/atomic_file.ts";
import { sealed, unsealed } from "../platform/state_file.ts";
import type { OpenSession, Sessions } from "../auth/sessions.ts";

/** Writes the open sessions to a file that is as private as the token's. */
export function keepSessions(path: string, sessions: Sessions): void {
  const open = sessions.list();
  if (open.length > 0) replaceFile(path, `${sealed(open)}\n`);
  else removeFile(path);
}

/** Restores the sessions that the daemon before has kept. */
export function restoreSessions(path: string, sessions: Sessions): void {
  const text = readFileIfAny(path);
  if (text === undefined) return;
  try {
    sessions.restore(unsealed(text) as OpenSession[]);
  } catch {
    // Damaged: everyone signs in again.
    removeFile(path);
  }
}
