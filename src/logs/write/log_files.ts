/** Creates an app's two log files before it starts, and never follows a symbolic link. */

import { messageOf, ProcsupError } from "../../model/errors.ts";
import { dirname } from "@std/path";
import type { LogPaths } from "../../model/log_paths.ts";
import { lstatIfAny } from "../../platform/files/stat.ts";
import { sharedFileProblem } from "../../platform/files/way.ts";

export interface LogFiles {
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * The log files of an app: `<apps>/<name>/stdout.log` and `stderr.log`, unless its configuration names
 * others. If both streams share one file, it is the log of stdout.
 */
export function logFiles(appsFolder: string, name: string, own: LogPaths = {}): LogFiles {
  const folder = `${appsFolder}/${name}`;
  const merged = own.stderr === own.stdout;
  return {
    stdout: own.stdout ?? `${folder}/stdout.log`,
    stderr: (merged ? undefined : own.stderr) ?? `${folder}/stderr.log`,
  };
}

/**
 * Creates the folder of an app (0700) and the files (0600) that are missing, with three system calls if
 * none is. Returns the logs that nothing was ever written to, since their folder is new. Throws
 * `start_failed` if one is a link or of another kind, cannot be created, or has a path that another user
 * could replace. `mode`, in octal digits, is that of files outside the home.
 */
export function prepareLogFiles(
  appFolder: string,
  files: LogFiles,
  mode?: string,
): ReadonlySet<string> {
  const isNew = prepare(appFolder, "isDirectory", (path) => {
    Deno.mkdirSync(path, { recursive: true, mode: 0o700 });
  });
  const unwritten = new Set<string>();
  for (const path of new Set([files.stdout, files.stderr])) {
    const isOwn = dirname(path) !== appFolder;
    if (isOwn) prepareOwnFolder(path);
    if (isNew && !isOwn) {
      attempt(path, () => createFile(path));
      unwritten.add(path);
    } else prepare(path, "isFile", createFile);
    // No other user can replace it meanwhile: that was checked.
    if (isOwn && mode !== undefined) attempt(path, () => Deno.chmodSync(path, parseInt(mode, 8)));
  }
  return unwritten;
}

/** The folder of a log outside the home may be a link, so the whole path is checked. */
function prepareOwnFolder(path: string): void {
  refuseUnsafe(path);
  const folder = dirname(path);
  if (attempt(folder, () => lstatIfAny(folder)) !== undefined) return;
  attempt(folder, () => Deno.mkdirSync(folder, { recursive: true, mode: 0o755 }));
  // Another user may have been faster, in a folder such as /tmp.
  refuseUnsafe(path);
}

function refuseUnsafe(path: string): void {
  const problem = sharedFileProblem(path);
  if (problem !== undefined) refuse(path, problem);
}

/** Creates what is missing. True if it did. */
function prepare(
  path: string,
  kind: "isFile" | "isDirectory",
  create: (path: string) => void,
): boolean {
  const info = attempt(path, () => lstatIfAny(path));
  if (info === undefined) attempt(path, () => create(path));
  else if (info.isSymlink) refuse(path, "it is a symbolic link");
  else if (!info[kind]) refuse(path, kind === "isFile" ? "it is not a file" : "it is not a folder");
  return info === undefined;
}

/** Fails if something was created at the path meanwhile, even a link. */
function createFile(path: string): void {
  Deno.openSync(path, { write: true, createNew: true, mode: 0o600 }).close();
}

function attempt<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw new ProcsupError(
      "start_failed",
      `Cannot use log ${JSON.stringify(path)}: ${messageOf(error)}`,
      { cause: error },
    );
  }
}

function refuse(path: string, why: string): never {
  throw new ProcsupError("start_failed", `Cannot use log ${JSON.stringify(path)}: ${why}`);
}
