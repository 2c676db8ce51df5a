/** The files that a pattern of an `include` matches. */

import { ifPossible } from "../model/errors.ts";
import { nameTest } from "../model/glob.ts";
import { lookAt } from "../platform/files/stat.ts";

/** The files that match an absolute pattern of `*`, `?` and `[…]`, sorted. */
export function filesMatching(pattern: string): string[] {
  let found = [""];
  for (const part of pattern.split("/").slice(1)) {
    found = /[*?[]/.test(part)
      ? found.flatMap((folder) => namesIn(folder, part).map((name) => `${folder}/${name}`))
      : found.map((folder) => `${folder}/${part}`);
  }
  return found.filter((path) => lookAt(path)?.isFile).toSorted();
}

function namesIn(folder: string, pattern: string): string[] {
  const isWanted = nameTest(pattern);
  const entries = ifPossible(() => [...Deno.readDirSync(folder || "/")]) ?? [];
  return entries.map(({ name }) => name)
    .filter((name) => isWanted(name) && (!name.startsWith(".") || pattern.startsWith(".")));
}
