/** The watched folders and files. Links are not followed, so a loop of links does no harm. */

import { dirname, join, relative } from "../../npm/path.js";
import { DEFAULT_IGNORES, type IgnoreTest, ignoreTest } from "./filter.ts";

/** One watched path: a folder with all below it, or a file. */
export interface WatchRoot {
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
