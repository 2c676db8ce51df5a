/** The watched folders and files. Links are not followed, so a loop of links does no harm. */

import { pathTest } from "../../model/glob.ts";
import { dirname, join, relative, resolve } from "../../npm/path.js";
import { watchFailure } from "../../platform/watch_paths.ts";

/**
 * Files that never count: data of tools, and what editors write beside an open file. A path in
 * `watch.paths` is watched even so.
 */
const DEFAULT_IGNORES: readonly string[] = [
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
type IgnoreTest = (relative: string) => boolean;

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

/** One watched path: a folder with all below it, or a file. */
interface WatchRoot {
  /** Absolute, links resolved: the form in which the system reports changes. */
  readonly path: string;
  readonly isFile: boolean;
}

/** The watched paths, without what is ignored. */
export class WatchTree {
  readonly #cwd: string;
  readonly #roots: readonly WatchRoot[];
  readonly #ignored: IgnoreTest;
  /** Absolute paths that never count, whatever is watched. */
  readonly #own: readonly string[];

  constructor(
    cwd: string,
    roots: readonly WatchRoot[],
    ignore: readonly string[],
    own: readonly string[],
  ) {
    this.#cwd = cwd;
    this.#roots = roots;
    this.#ignored = ignoreTest([...DEFAULT_IGNORES, ...ignore]);
    this.#own = own;
  }

  /** Whether a change of this path counts. */
  counts(path: string): boolean {
    if (this.#own.some((own) => isWithin(path, own))) return false;
    return this.#roots.some((root) =>
      path === root.path ||
      (!root.isFile && isWithin(path, root.path) &&
        !this.#ignored(relative(root.path, path)))
    );
  }

  /** A path as shown to people: relative to the working directory. */
  shown(path: string): string {
    return isWithin(path, this.#cwd) && path !== this.#cwd ? relative(this.#cwd, path) : path;
  }

  /** Whether every watched path exists. */
  async allThere(): Promise<boolean> {
    const found = await Promise.all(this.#roots.map(({ path }) => isThere(path)));
    return found.every((there) => there);
  }

  /** Every folder to watch, with those of single files; every file, and the folders above it. */
  async walk(): Promise<{ folders: string[]; all: Set<string> }> {
    const folders = new Set<string>();
    const all = new Set<string>();
    for await (const { path, isFolder } of this.entries()) {
      if (isFolder) folders.add(path);
      else for (let at = path; at !== "/" && !all.has(at); at = dirname(at)) all.add(at);
    }
    for (const { path, isFile } of this.#roots) if (isFile) folders.add(dirname(path));
    return { folders: [...folders], all };
  }

  /** Every existing folder and file that counts, a folder before its entries. */
  async *entries(): AsyncGenerator<{ path: string; isFolder: boolean }> {
    for (const { path, isFile } of this.#roots) {
      if (!isFile) yield* this.#below(path);
      else if (await isThere(path)) yield { path, isFolder: false };
    }
  }

  async *#below(folder: string): AsyncGenerator<{ path: string; isFolder: boolean }> {
    const open = [folder];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const entries = await entriesOf(next);
      if (entries === undefined) continue;
      yield { path: next, isFolder: true };
      for (const entry of entries) {
        const path = join(next, entry.name);
        if (!this.counts(path)) continue;
        if (entry.isDirectory) open.push(path);
        else yield { path, isFolder: false };
      }
    }
  }
}

/** Undefined if the folder was removed meanwhile or is not readable: it cannot be watched. */
async function entriesOf(folder: string): Promise<Deno.DirEntry[] | undefined> {
  try {
    return await Array.fromAsync(Deno.readDir(folder));
  } catch {
    return undefined;
  }
}

function isThere(path: string): Promise<boolean> {
  return Deno.lstat(path).then(() => true, () => false);
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || folder === "/" || path.startsWith(`${folder}/`);
}

/** The resolved paths, and why others cannot be watched. */
interface Roots {
  /** The working directory, links resolved. */
  readonly base: string;
  readonly roots: readonly WatchRoot[];
  readonly problems: readonly string[];
}

/** The watched paths, links resolved: the system reports changes in this form. */
export async function resolveRoots(cwd: string, paths: readonly string[]): Promise<Roots> {
  const roots: WatchRoot[] = [];
  const problems: string[] = [];
  for (const path of paths.length === 0 ? [cwd] : paths) {
    try {
      const real = await Deno.realPath(resolve(cwd, path));
      roots.push({ path: real, isFile: !(await Deno.stat(real)).isDirectory });
    } catch (error) {
      problems.push(`cannot watch "${path}": ${watchFailure(error)}`);
    }
  }
  const base = await Deno.realPath(cwd).catch(() => cwd);
  return { base, roots, problems };
}
