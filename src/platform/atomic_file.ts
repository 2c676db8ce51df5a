/** Files that are there whole or not at all. */

import { dirname } from "./paths.ts";

/**
 * Replaces a file in one step, so that a reader and a killed writer never leave half of it.
 * Not synced: it outlives a killed daemon, not a loss of power.
 */
export function replaceFile(path: string, content: string): void {
  const temporary = `${path}.tmp`;
  afresh(temporary, () => {
    Deno.writeTextFileSync(temporary, content, { mode: 0o600, createNew: true });
  });
  Deno.renameSync(temporary, path);
}

/** Replaces a file in one step and has it on the disk, directory entry included, before it returns. */
export function replaceFileDurably(path: string, content: string): void {
  const temporary = `${path}.tmp`;
  {
    using file = afresh(
      temporary,
      () => Deno.openSync(temporary, { write: true, createNew: true, mode: 0o600 }),
    );
    writeAll(file, new TextEncoder().encode(content));
    file.syncSync();
  }
  Deno.renameSync(temporary, path);
  using directory = Deno.openSync(dirname(path));
  directory.syncSync();
}

/** Makes a new file, never through a link. One that a killed writer has left goes. */
function afresh<T>(path: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    Deno.removeSync(path);
    return make();
  }
}

/** A write may be short, on a full disk above all. */
function writeAll(file: Deno.FsFile, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;) {
    written += file.writeSync(bytes.subarray(written));
  }
}

/** Adds to a file. Returns false, with nothing done, when there is none. */
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

/** The text of a file, or undefined when there is none. */
export function readFileIfAny(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
