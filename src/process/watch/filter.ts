/** Which files of a watched folder do not count. Pure. */

import { globToRegExp } from "../../npm/glob_to_regexp.ts";

/**
 * What never counts: what tools keep for themselves, and what editors write beside a file that is
 * open. A path given to `watch.paths` is watched even so.
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
 * Compiles globs. One without a slash holds for names at any depth (`*.log`), one with a slash for
 * paths from the watched folder on (`tmp/*.txt`, `src/gen/**`). A folder that matches is ignored with
 * all in it.
 */
export function ignoreTest(globs: readonly string[]): IgnoreTest {
  const names: RegExp[] = [];
  const paths: RegExp[] = [];
  for (const glob of globs) {
    const bare = glob.replace(/^\.?\//, "").replace(/\/(\*\*)?$/, "");
    const anchored = bare.includes("/") || /^\.?\//.test(glob);
    (anchored ? paths : names).push(globToRegExp(bare, { extended: true, globstar: true }));
  }
  return (relative) => {
    const parts = relative.split("/");
    return parts.some((name, i) =>
      names.some((regex) => regex.test(name)) ||
      (paths.length > 0 && paths.some((regex) => regex.test(parts.slice(0, i + 1).join("/"))))
    );
  };
}
