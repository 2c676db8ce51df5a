/**
 * Files in which apps report that they are ready. Apps of another user cannot enter the home, so
 * their files are outside of it.
 */

import { removeFile } from "./atomic_file.ts";
import { FOR_OTHER_USERS, prepareForOtherUsers } from "./other_users.ts";
import { RunFiles } from "./run_files.ts";
import { lstatIfAny } from "./stat.ts";

const OUTSIDE = `${FOR_OTHER_USERS}/ready`;

/** The user who writes the file. */
export interface ReadyUser {
  readonly uid: number;
  readonly gid: number;
}

export class ReadyFiles {
  readonly #own: RunFiles;
  readonly #outside = new RunFiles(OUTSIDE);

  constructor(own: RunFiles) {
    this.#own = own;
  }

  /** Path of a run's file. One for another user is created here; throws file system errors. */
  path(runId: string, user?: ReadyUser): string {
    if (user === undefined) return `${this.#own.stem(runId)}.ready`;
    const path = outside(runId);
    prepareForOtherUsers();
    Deno.mkdirSync(OUTSIDE, { recursive: true });
    // Other users may enter the folder, but not list it.
    Deno.chmodSync(OUTSIDE, 0o711);
    Deno.writeTextFileSync(path, "", { createNew: true, mode: 0o600 });
    Deno.chownSync(path, user.uid, user.gid);
    return path;
  }

  /** Calls `act` once when a run reports that it is ready. Returns a cancel function. */
  when(runId: string, act: () => void): () => void {
    const files = lstatIfAny(outside(runId))?.isFile ? this.#outside : this.#own;
    return files.when(runId, "ready", act);
  }

  /** Removes the file outside of the home. */
  forget(runId: string): void {
    // Only root runs apps as others.
    if (Deno.uid() === 0) removeFile(outside(runId));
  }

  close(): void {
    this.#outside.close();
  }
}

function outside(runId: string): string {
  return `${OUTSIDE}/${runId}.ready`;
}
