/** Files that are there whole or not at all. */

import { dirname } from "../npm/path.js";

/**
 * Replaces a file in one step, so that a reader and a killed writer never leave half of it.
 * Not synced: it outlives a killed daemon, not a loss of power.
 */
export function replaceFile(path: string, content: string): void {
  replaceBy(path, (temporary) => {
    Deno.writeTextFileSync(temporary, content, { mode: 0o600, createNew: true });
  });
}

/** Replaces a file in one step and has it on the disk, directory entry included, before it returns. */
export function replaceFileDurably(path: string, content: string): void {
  replaceBy(path, (temporary) => writeDurably(temporary, content));
  syncFolderOf(path);
}

/** Makes a file that is not there yet, and has it on the disk before it returns. */
export function writeDurably(path: string, content: string): void {
  using file = Deno.openSync(path, { write: true, createNew: true, mode: 0o600 });
  writeAll(file, new TextEncoder().encode(content));
  file.syncSync();
}

/** Has the names in the folder of a file on the disk before it returns. */
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
    // On a full disk half a file would take the room that is left.
    removeIfPossible(temporary);
    throw error;
  }
}

/** Makes a new file, never through a link. One that a killed writer has left goes. */
export function afresh(path: string, make: () => void): void {
  try {
    make();
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    Deno.removeSync(path);
    make();
  }
}

/** Removes a file, without a word where that fails. */
export function removeIfPossible(path: string): void {
  try {
    Deno.removeSync(path);
  } catch {
    // It was never made, or the disk takes no change at all.
  }
}

/** A write may be short, on a full disk above all. */
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

/** Removes a file that may not be there. */
export function removeFile(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** The text of a file; undefined if the file does not exist. */
export function readFileIfAny(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
