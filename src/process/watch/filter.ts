/** Which files of a watched folder do not count. Pure. */

import { pathTest } from "../../model/glob.ts";

/**
 * Files that never count: data of tools, and what editors write beside an open file. A path in
 * `watch.paths` is watched even so.
 */
export const DEFAULT_IGNORES: readonly string[] = [
  ".git",
  ".hg",
  ".svn",
  "node_modules",
  "__pycache__",
  ".DS_Store",
  "*.swp",
  "*.swx",
  "*~",
  ".#*",
  "#*#",
  "4913",
];

/** Whether a path, given relative to the watched folder, does not count. */
export type IgnoreTest = (relative: string) => boolean;

/**
 * Compiles globs. One without a slash matches names at any depth (`*.log`), one with a slash
 * matches paths relative to the watched folder (`tmp/*.txt`, `src/gen/**`). A folder that matches
 * is ignored with everything in it. Throws `invalid_config`.
 */
export function ignoreTest(globs: readonly string[]): IgnoreTest {
  const tests = globs.map((glob) => {
    const bare = glob.replace(/^\.?\//, "").replace(/\/(\*\*)?$/, "");
    const anchored = bare.includes("/") || /^\.?\//.test(glob);
    return pathTest(anchored ? bare : `**/${bare}`);
  });
  return (relative) => tests.some((test) => test(relative));
}
