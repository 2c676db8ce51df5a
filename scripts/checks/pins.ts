/**
 * Checks where packages are pinned. deno.json has the versions, but its names only work for
 * programs that run under it. A program that imports the library by path has its own import map, so
 * the library imports packages from src/npm, with full specifiers.
 */

import { type Edge, reachedFrom } from "./import_graph.ts";

/** Modules that other programs import; see `exports` in deno.json. */
const ENTRIES = ["src/mod.ts", "src/client.ts", "src/config_entry.ts"];

const DOORWAY = /^src\/npm\//;

/** The specifiers that deno.json maps names to. */
export function readPins(root: string): Set<string> {
  const { imports } = JSON.parse(Deno.readTextFileSync(`${root}/deno.json`));
  return new Set(Object.values(imports as Record<string, string>));
}

/**
 * One message for each package that is imported with a full specifier elsewhere, in another
 * version, or by a name that other programs lack.
 */
export function pinViolations(edges: readonly Edge[], pins: ReadonlySet<string>): string[] {
  const inLibrary = new Set(ENTRIES.flatMap((entry) => [...reachedFrom(entry, edges)]));
  return edges.flatMap(({ from, says }) => {
    const problem = problemOf(says, DOORWAY.test(from), inLibrary.has(from), pins);
    return problem === undefined ? [] : [`${from} imports ${says}: ${problem}`];
  });
}

function problemOf(
  says: string,
  inDoorway: boolean,
  inLibrary: boolean,
  pins: ReadonlySet<string>,
): string | undefined {
  if (/^(npm|jsr|https?):/.test(says)) {
    if (!inDoorway) return "packages are named in full in src/npm alone";
    return pins.has(says) ? undefined : "this version is not the one of deno.json";
  }
  const portable = /^(\.{0,2}\/|node:)/.test(says);
  if (!inLibrary || portable) return undefined;
  return "the library is imported by path as well, where this name means nothing: use src/npm";
}
