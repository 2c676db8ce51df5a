/** A process as it stands in a list: agents pay for every word they read. */

import { wireKeys } from "../model/key_spelling.ts";
import { parseConfig } from "../model/config_schema.ts";
import type { ProcessJson } from "../protocol/wire.ts";

/** Keys that say what it is, default or not. */
const ALWAYS: ReadonlySet<string> = new Set(["name", "entrypoint", "cwd"]);

/** The same process, its configuration only as far as it differs from the defaults. */
export function briefProcess(process: ProcessJson): ProcessJson {
  const config = Object.entries(process.config).filter(([key, value]) =>
    ALWAYS.has(key) || JSON.stringify(value) !== defaults().get(key)
  );
  return { ...process, config: Object.fromEntries(config) };
}

let known: ReadonlyMap<string, string> | undefined;

/** Each key's default, as JSON. */
function defaults(): ReadonlyMap<string, string> {
  known ??= new Map(
    Object.entries(wireKeys(parseConfig({ name: "app", entrypoint: "app", cwd: "/" })))
      .map(([key, value]) => [key, JSON.stringify(value)]),
  );
  return known;
}
