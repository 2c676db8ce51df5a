/** The configurations that a program gives. */

import type { ProcessConfigInput } from "../model/config_input.ts";
import { ProcsupError } from "../model/errors.ts";
import { isMap, type Keyed, mergePatch, onlyGiven } from "../model/merge_patch.ts";
import { quote } from "../model/quote.ts";
import { dirname } from "../npm/path.js";
import { absolute } from "../platform/paths.ts";
import { refuseUnknown } from "./known_keys.ts";
import type { ConfigSet } from "./options.ts";

const KEYS = ["defaults", "processes"];

/** A configuration for each process, over the defaults. Throws `invalid_config`. */
export function configsOf(set: ConfigSet): ProcessConfigInput[] {
  refuseUnknown("configuration", set, KEYS);
  const { defaults = {}, processes } = set;
  checkMap('"defaults"', defaults);
  checkMap('"processes"', processes);
  return Object.entries(processes).map(([name, config]) => {
    checkMap(`"processes.${name}"`, config);
    // `name` comes last: the key of the map is the name.
    return { ...mergePatch(defaults, onlyGiven(config)), name } as ProcessConfigInput;
  });
}

function checkMap(what: string, value: unknown): void {
  if (isMap(value)) return;
  const message = `Invalid ${what} ${quote(value)}: expected an object`;
  throw new ProcsupError("invalid_config", message);
}

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
