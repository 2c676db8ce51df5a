/** The configuration of an app in a request: keys in wire form, or their text in YAML. */

import { isMap, type Keyed } from "../model/merge_patch.ts";

/** The keys. Throws `invalid_config` for a text that is not a map in YAML. */
export async function keysIn(config: Keyed | string): Promise<Keyed> {
  if (typeof config !== "string") return config;
  const { readYaml } = await import("../config/read_document.ts");
  const { ConfigProblem } = await import("../config/problem.ts");
  const { value } = await readYaml(NAME, config);
  if (isMap(value)) return value;
  throw new ConfigProblem(NAME, "expected keys and values, such as max_memory: 64MB");
}

/** Stands for a file in messages. */
const NAME = "YAML";
