/** Where a process runs that a program starts. */

import { dirname } from "../npm/path.js";
import { absolute } from "../platform/paths.ts";

type Keyed = Record<string, unknown>;

/**
 * A configuration in wire form whose `cwd` is absolute. Without one a script runs in its own folder,
 * whose files then tell its runtime; anything else in the current directory.
 */
export function inScriptFolder(wire: Keyed): Keyed {
  const { cwd } = wire;
  if (cwd !== undefined) {
    return { ...wire, cwd: typeof cwd === "string" && cwd !== "" ? absolute(cwd) : cwd };
  }
  const key = ["script", "entrypoint"].find((name) => isScript(name, wire[name]));
  if (key === undefined) return { ...wire, cwd: absolute(".") };
  const script = absolute(String(wire[key]));
  return { ...wire, [key]: script, cwd: dirname(script) };
}

/** An entrypoint may be a program as well: only one with the extension of a file is taken for a script. */
function isScript(key: string, value: unknown): boolean {
  if (typeof value !== "string" || !value.includes("/")) return false;
  return key === "script" || /\.[a-z]+$/i.test(value);
}
