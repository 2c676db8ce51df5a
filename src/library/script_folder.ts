/** The working directory of processes that a program starts. */

import { dirname } from "../npm/path.js";
import { absolute } from "../platform/paths.ts";

type Keyed = Record<string, unknown>;

/**
 * Makes `cwd` of a configuration in wire form absolute. Without one, a script runs in its own
 * folder, where the files that identify its runtime are; anything else in the current directory.
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

/** True for a script. An entrypoint may also be a program: it needs a file extension. */
function isScript(key: string, value: unknown): boolean {
  if (typeof value !== "string" || !value.includes("/")) return false;
  return key === "script" || /\.[a-z]+$/i.test(value);
}
