/** The processes of a configuration. Pure. */

import type { ProcessConfigInput } from "../model/config_input.ts";
import { ProcsupError } from "../model/errors.ts";
import { isMap, mergePatch, onlyGiven } from "../model/merge_patch.ts";
import { quote } from "../model/quote.ts";
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
  const message = `Invalid ${what} ${quote(value)}: expected a map of names`;
  throw new ProcsupError("invalid_config", message);
}
