/** `main.go`: a program by itself, or the one file of a package by which people call the whole. */

import { dirname, join } from "../npm/path.js";
import { lookAt } from "../platform/stat.ts";

/**
 * The folder of a `main.go` that is to be run as a package: it has other files of Go beside it, and is
 * in the module that `cwd` is in, as `go run` wants it. Undefined for any other file.
 */
export function goPackage(file: string, cwd: string): string | undefined {
  const folder = dirname(file);
  if (!file.endsWith("/main.go") || !hasOthers(folder)) return undefined;
  const module = moduleOf(folder);
  return module !== undefined && module === moduleOf(cwd) ? folder : undefined;
}

function hasOthers(folder: string): boolean {
  return [...Deno.readDirSync(folder)].some(({ name }) =>
    name !== "main.go" && name.endsWith(".go") && !name.endsWith("_test.go")
  );
}

/** The nearest folder from there up that has a go.mod. */
function moduleOf(folder: string): string | undefined {
  if (lookAt(join(folder, "go.mod"))?.isFile) return folder;
  return folder === "/" ? undefined : moduleOf(dirname(folder));
}
