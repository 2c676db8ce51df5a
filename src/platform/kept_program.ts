/**
 * The program that a detached daemon runs from. npm replaces a package in place: a daemon that ran from
 * it would miss what it has not loaded yet, and could not be brought back. So it runs from a copy, 3 MB
 * in its home.
 */

import { readFileIfAny } from "./atomic_file.ts";
import { readDaemonRecord } from "./daemon_record.ts";
import { fixedWords, npmBundle } from "./own_program.ts";

/** Written into the bundle when it is built. */
const BUILD_ID = "build_id";

/** Words of the very build that `keepProgram()` gives for a home, which need not be there yet. */
export function keptWords(home: string): readonly string[] {
  const npm = npmBundle();
  return npm === undefined ? fixedWords() : npm.wordsFor(copyOf(npm.folder, home));
}

/** Copies the program into a home where that is needed, and removes copies that no daemon runs from. */
export function keepProgram(home: string): void {
  const npm = npmBundle();
  if (npm === undefined) return;
  const copy = copyOf(npm.folder, home);
  if (readFileIfAny(`${copy}/${BUILD_ID}`) !== undefined) return;
  removeOthers(home);
  const temporary = `${copy}.${Deno.pid}`;
  Deno.mkdirSync(temporary, { recursive: true, mode: 0o700 });
  for (const { name, isFile } of Deno.readDirSync(npm.folder)) {
    if (isFile) Deno.copyFileSync(`${npm.folder}/${name}`, `${temporary}/${name}`);
  }
  try {
    Deno.renameSync(temporary, copy);
  } catch {
    // Another one was faster.
    Deno.removeSync(temporary, { recursive: true });
  }
}

function copyOf(folder: string, home: string): string {
  return `${home}/program/${Deno.readTextFileSync(`${folder}/${BUILD_ID}`).trim()}`;
}

function removeOthers(home: string): void {
  const used = readDaemonRecord(home)?.words.join("\n") ?? "";
  try {
    for (const { name } of Deno.readDirSync(`${home}/program`)) {
      const path = `${home}/program/${name}`;
      if (!used.includes(`${path}/`)) Deno.removeSync(path, { recursive: true });
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
