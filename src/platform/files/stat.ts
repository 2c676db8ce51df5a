/** Looks at files that may not exist. */

import { ifPossible } from "../../model/errors.ts";

/** What `act` returns; undefined if it finds no file. Throws other failures. */
export function ifAny<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** What `act` resolves with; undefined if it finds no file. Throws other failures. */
export async function ifAnyAsync<T>(act: () => Promise<T>): Promise<T | undefined> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** File information, links not followed; undefined if there is no file. Throws other failures. */
export function lstatIfAny(path: string): Deno.FileInfo | undefined {
  return ifAny(() => Deno.lstatSync(path));
}

/** File information, links followed; undefined if there is no file that we may reach. */
export function lookAt(path: string): Deno.FileInfo | undefined {
  return ifPossible(() => Deno.statSync(path));
}

/** Names in a folder; empty if it does not exist. Throws any other failure. */
export function namesIn(folder: string): string[] {
  return ifAny(() => Array.from(Deno.readDirSync(folder), ({ name }) => name)) ?? [];
}
