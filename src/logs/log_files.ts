/** An app's two log files, made before it starts and never through somebody's link. */

import { messageOf, ProcsupError } from "../model/errors.ts";
import { dirname } from "../npm/path.js";
import { lstatIfAny } from "../platform/stat.ts";

/** Absolute paths of an app's log files. */
export interface LogFiles {
  readonly stdout: string;
  readonly stderr: string;
}

/** The log files of the app `name`: `<apps>/<name>/stdout.log` and `stderr.log`. */
export function logFiles(appsFolder: string, name: string): LogFiles {
  return {
    stdout: `${appsFolder}/${name}/stdout.log`,
    stderr: `${appsFolder}/${name}/stderr.log`,
  };
}

/**
 * Makes the folder (0700) and the files (0600) that are not there yet. Three system calls when all
 * are. Throws `ProcsupError` `start_failed` when one of them is a link or of another kind, or
 * cannot be made.
 */
export function prepareLogFiles(files: LogFiles): void {
  prepare(dirname(files.stdout), "isDirectory", (path) => {
    Deno.mkdirSync(path, { recursive: true, mode: 0o700 });
  });
  prepare(files.stdout, "isFile", createFile);
  prepare(files.stderr, "isFile", createFile);
}

function prepare(path: string, kind: "isFile" | "isDirectory", create: (path: string) => void) {
  const info = attempt(path, () => lstatIfAny(path));
  if (info === undefined) attempt(path, () => create(path));
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
