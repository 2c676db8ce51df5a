/**
 * The program that a detached daemon runs from: a copy in its home, 3 MB. npm replaces a package in
 * place, so a daemon that ran from the package could not load the rest of it, nor be restarted.
 */

import { basename } from "../npm/path.js";
import { readFileIfAny } from "./atomic_file.ts";
import { readDaemonRecord } from "./daemon_record.ts";
import { fixedWords, npmBundle } from "./own_program.ts";
import { ifAny, namesIn } from "./stat.ts";

/** File that is written into the bundle when it is built. */
const BUILD_ID = "build_id";

/** Command line of the copy that `keepProgram()` makes for a home. It need not exist yet. */
export function keptWords(home: string): readonly string[] {
  const npm = npmBundle();
  return npm === undefined ? fixedWords() : npm.wordsFor(copyOf(npm.folder, home));
}

/** Copies the program into a home if needed. Removes copies of other versions that no daemon runs. */
export function keepProgram(home: string): void {
  const npm = npmBundle();
  if (npm === undefined) return;
  const copy = copyOf(npm.folder, home);
  if (isKept(copy)) return;
  removeOthers(home, basename(copy));
  const temporary = `${copy}.${Deno.pid}`;
  try {
    Deno.mkdirSync(temporary, { recursive: true, mode: 0o700 });
    for (const { name, isFile } of Deno.readDirSync(npm.folder)) {
      if (isFile) Deno.copyFileSync(`${npm.folder}/${name}`, `${temporary}/${name}`);
    }
    Deno.renameSync(temporary, copy);
  } catch (error) {
    ifAny(() => Deno.removeSync(temporary, { recursive: true }));
    // Another process may have been faster.
    if (!isKept(copy)) throw error;
  }
}

function isKept(copy: string): boolean {
  return readFileIfAny(`${copy}/${BUILD_ID}`) !== undefined;
}

function copyOf(folder: string, home: string): string {
  return `${home}/program/${Deno.readTextFileSync(`${folder}/${BUILD_ID}`).trim()}`;
}

/** Copies of this version stay: another process may be making one at this moment. */
function removeOthers(home: string, own: string): void {
  const used = readDaemonRecord(home)?.words.join("\n") ?? "";
  for (const name of namesIn(`${home}/program`)) {
    if (name === own || name.startsWith(`${own}.`)) continue;
    const path = `${home}/program/${name}`;
    if (!used.includes(`${path}/`)) ifAny(() => Deno.removeSync(path, { recursive: true }));
  }
}
