/** An app's two log files, made before it starts and never through somebody's link. */

import { messageOf, ProcsupError } from "../model/errors.ts";
import { dirname } from "../npm/path.js";
import type { LogPaths } from "../model/log_paths.ts";
import { lstatIfAny } from "../platform/stat.ts";
import { folderProblem, wayProblem } from "../platform/way.ts";

/** Absolute paths of an app's log files. */
export interface LogFiles {
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * The log files of the app `name`: `<apps>/<name>/stdout.log` and `stderr.log`, unless it has paths of
 * its own. Of two streams in one file, that is the log of stdout.
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
 * Makes the folder of an app (0700) and the files (0600) that are not there yet. Three system calls
 * when all are. Throws `ProcsupError` `start_failed` when one of them is a link or of another kind, or
 * cannot be made, or when another user could exchange a path of its own.
 */
export function prepareLogFiles(appFolder: string, files: LogFiles): void {
  makeFolder(appFolder);
  for (const path of [files.stdout, files.stderr]) {
    if (dirname(path) !== appFolder) {
      makeFolder(dirname(path), 0o755);
      const problem = ownLogProblem(path);
      if (problem !== undefined) refuse(path, problem);
    }
    prepare(path, "isFile", createFile);
  }
}

/**
 * What is wrong with a path for a log outside of the home: the supervisor writes there with its own
 * rights, so that no other user may exchange the file or a folder above it. As in logrotate.
 */
export function ownLogProblem(path: string): string | undefined {
  try {
    const folder = dirname(path);
    if (lstatIfAny(folder) === undefined) return wayProblem(folder);
    const info = lstatIfAny(path);
    if (info !== undefined && !info.isFile) return "it is not a file";
    return folderProblem(folder) ?? wayProblem(path);
  } catch (error) {
    return messageOf(error);
  }
}

function makeFolder(path: string, mode = 0o700): void {
  prepare(path, mode === 0o700 ? "isDirectory" : "any", (path) => {
    Deno.mkdirSync(path, { recursive: true, mode });
  });
}

function prepare(
  path: string,
  kind: "isFile" | "isDirectory" | "any",
  create: (path: string) => void,
) {
  const info = attempt(path, () => lstatIfAny(path));
  if (info === undefined) attempt(path, () => create(path));
  else if (kind === "any") return;
  else if (info.isSymlink) refuse(path, "it is a symbolic link");
  else if (!info[kind]) refuse(path, kind === "isFile" ? "it is not a file" : "it is not a folder");
}

/** Fails when something has come into being at the path since we looked, a link included. */
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
      {
        cause: error,
      },
    );
  }
}

function refuse(path: string, why: string): never {
  throw new ProcsupError("start_failed", `Refusing log ${JSON.stringify(path)}: ${why}`);
}
