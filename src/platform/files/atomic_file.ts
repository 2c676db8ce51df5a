/** Writes files so that they exist whole or not at all. */

import { ifPossible } from "../../model/errors.ts";
import { dirname } from "@std/path";
import { ifAny } from "./stat.ts";

/**
 * Replaces a file atomically: readers never see half of it, even if the writer is killed. Not
 * synced: it survives a killed daemon, not a loss of power.
 */
export function replaceFile(path: string, content: string): void {
  replaceBy(path, (temporary) => {
    Deno.writeTextFileSync(temporary, content, { mode: 0o600, createNew: true });
  });
}

/** Replaces a file atomically, and syncs it and its directory entry to the disk. */
export function replaceFileDurably(path: string, content: string): void {
  replaceBy(path, (temporary) => writeDurably(temporary, content));
  syncFolderOf(path);
}

/** Creates a file that must not exist yet, and syncs it to the disk. */
export function writeDurably(path: string, content: string): void {
  using file = Deno.openSync(path, { write: true, createNew: true, mode: 0o600 });
  writeAll(file, new TextEncoder().encode(content));
  file.syncSync();
}

/** Syncs the folder of a file to the disk. */
export function syncFolderOf(path: string): void {
  using directory = Deno.openSync(dirname(path));
  directory.syncSync();
}

function replaceBy(path: string, write: (temporary: string) => void): void {
  const temporary = `${path}.tmp`;
  try {
    afresh(temporary, () => write(temporary));
    Deno.renameSync(temporary, path);
  } catch (error) {
    // On a full disk half a file would use up the remaining space.
    removeIfPossible(temporary);
    throw error;
  }
}

/** Creates a file, never through a link. Removes one that a killed writer left. */
export function afresh(path: string, make: () => void): void {
  try {
    make();
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    Deno.removeSync(path);
    make();
  }
}

/** Removes a file; ignores failures. */
export function removeIfPossible(path: string): void {
  // It was never created, or the disk is read-only.
  ifPossible(() => Deno.removeSync(path));
}

/** A single write may be short, on a full disk for instance. */
function writeAll(file: Deno.FsFile, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;) {
    written += file.writeSync(bytes.subarray(written));
  }
}

/** Appends to a file. Returns false if the file does not exist. */
export function appendToFile(path: string, content: string): boolean {
  try {
    Deno.writeTextFileSync(path, content, { append: true, create: false });
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Removes a file if it exists. */
export function removeFile(path: string): void {
  ifAny(() => Deno.removeSync(path));
}

/** The text of a file; undefined if the file does not exist. */
export function readFileIfAny(path: string): string | undefined {
  return ifAny(() => Deno.readTextFileSync(path));
}
