/** Which files are configurations, by their names, and whose. */

import { ProcsupError } from "../model/errors.ts";
import { lookAt } from "../runtimes/executable.ts";

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

/** What a file may be called to be found without being named; the first that is there counts. */
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

/** How a file of this name is read, undefined when the name is none of a configuration. */
export function kindOf(path: string): FileKind | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return KINDS.find(([pattern]) => pattern.test(name))?.[1];
}

/** Whether `start` takes a file of this name for a configuration and not for a script. */
export function isConfigName(path: string): boolean {
  return kindOf(path) !== undefined && !NOT_OURS.test(path.slice(path.lastIndexOf("/") + 1));
}

/** The configuration of a folder, undefined when it has none. */
export function discover(folder: string): string | undefined {
  return DISCOVERED.map((name) => `${folder.replace(/\/$/, "")}/${name}`)
    .find((path) => lookAt(path)?.isFile);
}

/** The same, or the failure that says what was looked for. */
export function discovered(folder: string): string {
  const found = discover(folder);
  if (found !== undefined) return found;
  throw new ProcsupError("bad_request", `There is no procsup.yaml in "${folder}"`, {
    hint: `Name a file, or make one of: ${DISCOVERED.join(", ")}`,
  });
}
