/** Who is signed in to the dashboard, handed from a daemon that ends to the next one. */

import { readFileIfAny, removeFile, replaceFile } from "../platform/atomic_file.ts";
import { sealed, unsealed } from "../platform/state_file.ts";
import type { OpenSession, Sessions } from "../auth/sessions.ts";

/** Leaves the sessions for the next daemon, in a file that is as private as the token's. */
export function keepSessions(path: string, sessions: Sessions): void {
  const open = sessions.list();
  if (open.length > 0) replaceFile(path, `${sealed(open)}\n`);
}

/** Takes what the daemon before left, once: a daemon that is killed later leaves nobody signed in. */
export function takeSessions(path: string, sessions: Sessions): void {
  const text = readFileIfAny(path);
  if (text === undefined) return;
  removeFile(path);
  try {
    sessions.restore(unsealed(text) as OpenSession[]);
  } catch {
    // Damaged: everybody signs in again.
  }
}
