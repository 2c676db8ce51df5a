/** Paths of the command line. Pure. */

/** The absolute form of a path that is meant against a folder, without `.` and `..`. */
export function pathAgainst(cwd: string, path: string): string {
  const parts: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${cwd}/${path}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}
