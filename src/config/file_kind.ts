/** Recognises configuration files, of procsup and of other tools, by their names. */

import { ProcsupError } from "../model/errors.ts";
import { basename, join } from "../npm/path.js";
import { lookAt } from "../platform/stat.ts";

/** How a file is read. */
export type FileKind =
  | "yaml"
  | "toml"
  | "json"
  | "jsonc"
  | "module"
  | "procfile"
  | "supervisord"
  | "compose";

/** Names that are searched for when no file is named; the first one that exists is used. */
export const DISCOVERED: readonly string[] = [
  "procsup.yaml",
  "procsup.yml",
  "procsup.toml",
  "procsup.json",
  "procsup.jsonc",
  "procsup.config.ts",
  "procsup.config.js",
  "procsup.config.mjs",
];

const KINDS: readonly (readonly [RegExp, FileKind])[] = [
  [/^Procfile(\..+)?$|\.procfile$/i, "procfile"],
  [/^process-compose.*\.ya?ml$/i, "compose"],
  [/\.ya?ml$/i, "yaml"],
  [/\.toml$/i, "toml"],
  [/\.jsonc$/i, "jsonc"],
  [/\.json$|^dump\.pm2(\.bak)?$/i, "json"],
  [/\.(conf|ini)$/i, "supervisord"],
  [/\.config\.([cm]?js|[cm]?ts)$/i, "module"],
  [/^procsup\.([cm]?js|[cm]?ts)$/i, "module"],
];

const NOT_OURS = /^(package(-lock)?|tsconfig|jsconfig|deno|composer|bunfig|Cargo|pyproject)\.\w+$/;

/** How a file of this name is read; undefined if it is not the name of a configuration. */
export function kindOf(path: string): FileKind | undefined {
  const name = basename(path);
  return KINDS.find(([pattern]) => pattern.test(name))?.[1];
}

/** Whether `start` reads a file of this name as a configuration instead of running it. */
export function isConfigName(path: string): boolean {
  return kindOf(path) !== undefined && !NOT_OURS.test(basename(path));
}

/** The configuration file in a folder. */
export function discover(folder: string): string | undefined {
  return DISCOVERED.map((name) => join(folder, name)).find((path) => lookAt(path)?.isFile);
}

/** The same. Throws `bad_request` if the folder has no configuration file. */
export function discovered(folder: string): string {
  const found = discover(folder);
  if (found !== undefined) return found;
  throw new ProcsupError("bad_request", `No procsup.yaml in "${folder}"`, {
    hint: `Name a file, or create one of: ${DISCOVERED.join(", ")}`,
  });
}
