/**
 * Where versions of packages may stand. They are pinned in deno.json, but its names mean something
 * only to programs that run under it: whoever imports the library by path has an import map of their
 * own. What the library needs therefore comes through src/npm, which names each package in full.
 */

import { type Edge, reachedFrom } from "./import_graph.ts";

/** The modules that others import; see `exports` in deno.json. */
const ENTRIES = ["src/mod.ts", "src/client.ts", "src/config_entry.ts"];

const DOORWAY = /^src\/npm\//;

/** What the names of deno.json stand for. */
export function readPins(root: string): Set<string> {
  const { imports } = JSON.parse(Deno.readTextFileSync(`${root}/deno.json`));
  return new Set(Object.values(imports as Record<string, string>));
}

/** Packages that are named in full elsewhere, in another version, or by a name that others lack. */
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
