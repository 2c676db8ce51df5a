/** The watched folders and files, and those that links in them point to. */

import { pathTest } from "../../model/glob.ts";
import { dirname, join, relative, resolve } from "@std/path";
import type { OtherUser } from "../../platform/users/as_user.ts";
import { actingAs } from "../../platform/files/foreign_file.ts";

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
  // Kubernetes writes a mounted ConfigMap there, then points `..data` to it.
  "..*_*_*",
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

/** A folder that is watched with all below it, or a file. */
interface WatchRoot {
  /** Absolute, links resolved: the form in which the system reports changes. */
  readonly path: string;
  /** Where a link to it is; `path` without one. Globs and people get paths below it. */
  readonly at: string;
  /** The watched path that it belongs to; globs are relative to it. */
  readonly base: string;
  readonly isFile: boolean;
}

/** What is watched at a moment. */
export interface Look {
  /** Every folder to watch. */
  readonly folders: readonly string[];
  /** Every file that counts, and every link. */
  readonly files: readonly string[];
  /** Why some of the watched paths cannot be watched now. */
  readonly problems: readonly string[];
}

/** The watched paths, without what is ignored. */
export class WatchTree {
  readonly #cwd: string;
  readonly #paths: readonly string[];
  readonly #ignored: IgnoreTest;
  /** Absolute paths that never count, whatever is watched. */
  readonly #own: readonly string[];
  readonly #user: OtherUser | undefined;
  readonly #mostFolders: number;
  #base: string;
  #scope: Scope = { roots: [], links: new Set() };

  /** Paths are relative to `cwd`, which is watched itself if there are none. */
  constructor(
    cwd: string,
    paths: readonly string[],
    ignore: readonly string[],
    own: readonly string[],
    user?: OtherUser,
    mostFolders = MAX_FOLDERS,
  ) {
    this.#user = user;
    this.#mostFolders = mostFolders;
    this.#cwd = this.#base = cwd;
    this.#paths = paths.length === 0 ? ["."] : paths;
    this.#ignored = ignoreTest([...DEFAULT_IGNORES, ...ignore]);
    this.#own = own;
  }

  /** Whether a change of this path counts. */
  counts(path: string, { roots, links }: Scope = this.#scope): boolean {
    if (this.#own.some((own) => isWithin(path, own))) return false;
    return links.has(path) || roots.some((root) => this.#isBelow(path, root));
  }

  #isBelow(path: string, root: WatchRoot): boolean {
    if (path === root.path) return true;
    return !root.isFile && isWithin(path, root.path) &&
      !this.#ignored(relative(root.base, inTree(path, root)));
  }

  /** A path as shown to people: relative to the working directory. */
  shown(path: string): string {
    const root = this.#scope.roots.find((root) => this.#isBelow(path, root));
    const at = root === undefined ? path : inTree(path, root);
    return isWithin(at, this.#base) && at !== this.#base ? relative(this.#base, at) : at;
  }

  /** Resolves the watched paths, and finds all that is below them now. */
  async look(): Promise<Look> {
    const scope: Scope = { roots: [], links: new Set() };
    const problems: string[] = [];
    this.#base = (await followed(this.#cwd)).real;
    for (const path of this.#paths) {
      const { real, links, info } = await followed(resolve(this.#cwd, path));
      for (const link of links) scope.links.add(link);
      scope.roots.push({ path: real, at: real, base: real, isFile: info?.isDirectory === false });
      const folder = info?.isDirectory ? real : dirname(real);
      if (info !== undefined && !this.#mayRead(folder)) {
        problems.push(`cannot watch "${path}": the app's user may not read ${folder}`);
      }
      if (info === undefined) {
        problems.push(`cannot watch "${path}" yet: no such file or directory`);
      }
    }
    const found = { folders: new Set<string>(), files: new Set<string>() };
    // Links add roots meanwhile.
    for (const root of scope.roots) await this.#add(root, found, scope);
    if (found.folders.size >= this.#mostFolders) {
      problems.push(`more than ${this.#mostFolders} folders: only the first ones are watched`);
    }
    for (const link of scope.links) {
      found.files.add(link);
      const folder = dirname(link);
      // A watch on what cannot be read would fail, and those on all others with it.
      if (await this.#entriesOf(folder) !== undefined) found.folders.add(folder);
    }
    this.#scope = scope;
    return { folders: [...found.folders], files: [...found.files], problems };
  }

  async #add(root: WatchRoot, { folders, files }: Found, scope: Scope): Promise<void> {
    if (root.isFile) {
      if (!this.#mayRead(dirname(root.path))) return;
      folders.add(dirname(root.path));
      files.add(root.path);
      return;
    }
    const open = [root.path];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (folders.size >= this.#mostFolders) return;
      const entries = folders.has(next) ? undefined : await this.#entriesOf(next);
      if (entries === undefined) continue;
      folders.add(next);
      for (const { name, isDirectory, isSymlink } of entries) {
        const path = join(next, name);
        if (!this.counts(path, scope)) continue;
        if (isDirectory) open.push(path);
        else files.add(path);
        if (isSymlink) await this.#follow(path, root, scope);
      }
    }
  }

  /** Undefined if it was removed meanwhile, or if the app's user or we may not read it. */
  async #entriesOf(folder: string): Promise<Deno.DirEntry[] | undefined> {
    if (!this.#mayRead(folder)) return undefined;
    return await Array.fromAsync(Deno.readDir(folder)).catch(() => undefined);
  }

  /** A link of the app's user must not lead root to a folder that the user cannot read. */
  #mayRead(folder: string): boolean {
    if (this.#user === undefined) return true;
    try {
      return actingAs(this.#user, () => Deno.readDirSync(folder).next().done !== undefined);
    } catch (error) {
      return !(error instanceof Deno.errors.PermissionDenied);
    }
  }

  /** Adds what a link in a watched folder points to, unless it is watched already. */
  async #follow(link: string, root: WatchRoot, scope: Scope): Promise<void> {
    const { real, links, info } = await followed(link);
    for (const each of links) scope.links.add(each);
    if (info === undefined || this.counts(real, scope)) return;
    // A link to a folder above would add all that is beside the watched paths.
    if (scope.roots.some(({ path }) => isWithin(path, real))) return;
    if (!await mayFollow(link, info)) return;
    const { base } = root;
    scope.roots.push({ path: real, at: inTree(link, root), base, isFile: !info.isDirectory });
  }
}

/** More would keep the daemon busy at each change of a folder. */
const MAX_FOLDERS = 20_000;

/** The paths that count. */
interface Scope {
  readonly roots: WatchRoot[];
  /** Links on the way to what is watched: one that points elsewhere is a change. */
  readonly links: Set<string>;
}

interface Found {
  readonly folders: Set<string>;
  readonly files: Set<string>;
}

/** A path below a root, as if its link were a folder. */
function inTree(path: string, root: WatchRoot): string {
  return join(root.at, relative(root.path, path));
}

/** A link that another user made must not lead the daemon through the files of others. */
async function mayFollow(link: string, target: Deno.FileInfo): Promise<boolean> {
  const { uid } = await Deno.lstat(link);
  return uid === target.uid || uid === Deno.uid() || uid === 0;
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || folder === "/" || path.startsWith(`${folder}/`);
}

/** Links in a row, as the kernel limits them. */
const MAX_LINKS = 40;

interface Followed {
  /** The path with links resolved, as far as it exists. */
  readonly real: string;
  /** Every link on the way. */
  readonly links: readonly string[];
  /** Undefined if it does not exist. */
  readonly info?: Deno.FileInfo;
}

async function followed(path: string): Promise<Followed> {
  const links: string[] = [];
  const rest = path.split("/");
  let real = "/";
  let info: Deno.FileInfo | undefined;
  while (rest.length > 0) {
    const next = join(real, rest.shift()!);
    info = await Deno.lstat(next).catch(() => undefined);
    const target = info?.isSymlink ? await Deno.readLink(next).catch(() => undefined) : undefined;
    if (info === undefined || links.length > MAX_LINKS) return { real: join(next, ...rest), links };
    if (target === undefined) {
      real = next;
      continue;
    }
    links.push(next);
    if (target.startsWith("/")) real = "/";
    rest.unshift(...target.split("/"));
  }
  return { real, links, info: info! };
}
