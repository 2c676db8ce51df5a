/** Starts this program again: from its source, as one file, or as a bundle with a launcher. */

import { dirname, fromFileUrl } from "@std/path";

/** Own path of the portable executable or the npm launcher, set by it. Only bundles use it. */
const EXECUTABLE = "PROCSUP_EXECUTABLE";

/** Names of the bundles of the portable executable and of the npm package; see scripts/compile/. */
const PORTABLE_ENTRY = "/portable_entry.js";
const NPM_ENTRY = "/npm_entry.js";

/** A supervisor makes little garbage and lives long: a small nursery saves 15 MB of memory. */
const SMALL_HEAP = "--v8-flags=--max-semi-space-size=1";

/** The settings of deno.json as flags; the launchers in scripts/compile/ have the same. */
const BUNDLE_FLAGS = ["-q", "--no-config", "--no-lock", "--unstable-lazy-dynamic-imports"];

interface OwnProgram {
  /** Whether it is one file made by `deno compile`. */
  readonly standalone: boolean;
  /** URL of the main module. */
  readonly mainModule: string;
  /** Path of the program that runs it. */
  readonly execPath: string;
  /** Path of the portable executable or the launcher, if it is set. */
  readonly executable: string | undefined;
}

/** Command line that starts this program again; a command and its flags follow it. */
export function ownWords(program: OwnProgram = current()): readonly [string, ...string[]] {
  const { standalone, mainModule, execPath, executable } = program;
  if (standalone) return [execPath];
  if (executable && isBundle(mainModule)) return [executable];
  return fixedWords(program);
}

/**
 * Like `ownWords()`, but starts the unpacked files of this version instead of the executable or
 * launcher, which may be another version by then. A file made by `deno compile` unpacks nothing.
 */
export function fixedWords(program: OwnProgram = current()): readonly [string, ...string[]] {
  const { standalone, mainModule, execPath } = program;
  if (standalone) return [execPath];
  const own = isBundle(mainModule) ? BUNDLE_FLAGS : [];
  return [execPath, "run", "-A", "--no-prompt", ...own, SMALL_HEAP, pathOf(mainModule)];
}

/** Whether this is the procsup program, and not one that imports the library. */
export function isProcsup(): boolean {
  const { mainModule } = Deno;
  return isBundle(mainModule) || mainModule === new URL("../../main.ts", import.meta.url).href;
}

function isBundle(mainModule: string): boolean {
  return mainModule.endsWith(PORTABLE_ENTRY) || mainModule.endsWith(NPM_ENTRY);
}

function pathOf(module: string): string {
  return module.startsWith("file://") ? fromFileUrl(module) : module;
}

/** Folder that the portable executable was unpacked to; undefined in any other form. */
export function unpackedFolder(): string | undefined {
  const { mainModule } = current();
  return mainModule.endsWith(PORTABLE_ENTRY) ? dirname(pathOf(mainModule)) : undefined;
}

/**
 * Folder of the npm package's bundle, and the command of a copy of it; undefined in other forms.
 */
export function npmBundle(
  program: OwnProgram = current(),
): { folder: string; wordsFor(copy: string): readonly [string, ...string[]] } | undefined {
  if (!program.mainModule.endsWith(NPM_ENTRY)) return undefined;
  return {
    folder: dirname(pathOf(program.mainModule)),
    wordsFor: (copy) => fixedWords({ ...program, mainModule: copy + NPM_ENTRY }),
  };
}

function current(): OwnProgram {
  return {
    standalone: Deno.build.standalone,
    mainModule: Deno.mainModule,
    execPath: Deno.execPath(),
    executable: Deno.env.get(EXECUTABLE),
  };
}
