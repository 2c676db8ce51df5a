/** How this very program is started again: from its source, as one file, or as the portable form. */

import { dirname } from "./paths.ts";

/** Set by the portable executable: its own path. Only its bundle believes it. */
const EXECUTABLE = "PROCSUP_EXECUTABLE";

/** Name of the portable executable's bundle; see scripts/compile/. */
const PORTABLE_ENTRY = "/portable_entry.js";

/** A supervisor makes little garbage and lives long: a small nursery saves 15 MB of memory. */
const SMALL_HEAP = "--v8-flags=--max-semi-space-size=1";

/** How this program was started. */
export interface OwnProgram {
  /** Whether it is one file made by `deno compile`. */
  readonly standalone: boolean;
  /** URL of the main module. */
  readonly mainModule: string;
  /** Path of the program that runs it. */
  readonly execPath: string;
  /** Path of the portable executable, where it said so. */
  readonly executable: string | undefined;
}

/** Words that start this program again; a command and its flags go behind them. */
export function ownWords(program: OwnProgram = current()): readonly [string, ...string[]] {
  const { standalone, mainModule, execPath, executable } = program;
  if (standalone) return [execPath];
  if (executable && mainModule.endsWith(PORTABLE_ENTRY)) return [executable];
  return fixedWords(program);
}

/**
 * As `ownWords`, but past the portable executable, which may be another version by then: it starts
 * what was unpacked of this one. A file made by `deno compile` has no such second way.
 */
export function fixedWords(program: OwnProgram = current()): readonly [string, ...string[]] {
  const { standalone, mainModule, execPath } = program;
  if (standalone) return [execPath];
  const path = mainModule.startsWith("file://")
    ? decodeURIComponent(new URL(mainModule).pathname)
    : mainModule;
  const own = mainModule.endsWith(PORTABLE_ENTRY) ? ["-q", "--no-config", "--no-lock"] : [];
  return [execPath, "run", "-A", "--no-prompt", ...own, SMALL_HEAP, path];
}

/** Folder that the portable executable was unpacked to; undefined in any other form. */
export function unpackedFolder(): string | undefined {
  const { mainModule } = current();
  return mainModule.endsWith(PORTABLE_ENTRY) ? dirname(new URL(mainModule).pathname) : undefined;
}

function current(): OwnProgram {
  return {
    standalone: Deno.build.standalone,
    mainModule: Deno.mainModule,
    execPath: Deno.execPath(),
    executable: Deno.env.get(EXECUTABLE),
  };
}
