/** Decides whether `main.go` is run as a file or stands for its package. */

import { dirname, join } from "../npm/path.js";
import { lookAt } from "../platform/stat.ts";

/**
 * The folder of a `main.go` that must be run as a package: there are other Go files beside it, and it
 * is in the same module as `cwd`, as `go run` requires. Undefined for other files.
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

/** The nearest folder upward that has a go.mod. */
function moduleOf(folder: string): string | undefined {
  if (lookAt(join(folder, "go.mod"))?.isFile) return folder;
  return folder === "/" ? undefined : moduleOf(dirname(folder));
}
