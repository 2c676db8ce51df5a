/** Recognizes configuration files of procsup and of other tools by their names. */

import { ProcsupError } from "../model/errors.ts";
import { basename, join } from "@std/path";
import { lookAt } from "../platform/files/stat.ts";
import { type Format, offeredTools } from "./tools.ts";

/** procsup's file names, in the order of the search if no file is named. */
const OWN: readonly string[] = [
  ...["procsup.yaml", "procsup.yml", "procsup.toml", "procsup.json", "procsup.jsonc"],
  ...["procsup.config.ts", "procsup.config.js", "procsup.config.mjs"],
];

/** File names of other tools that are searched next. */
function others(): string[] {
  return offeredTools()
    .flatMap(({ searched = [], convertOnly }) => convertOnly ? [] : searched);
}

const OWN_MODULE = /^procsup\.([cm]?js|[cm]?ts)$/i;

/** The kinds of files that no tool knows by their names. */
const KINDS: readonly (readonly [RegExp, Format])[] = [
  [/\.ya?ml$/i, "yaml"],
  [/\.toml$/i, "toml"],
  [/\.jsonc$/i, "jsonc"],
  [/\.json$/i, "json"],
  [/\.config\.([cm]?js|[cm]?ts)$/i, "module"],
];

const NOT_OURS = /^(package(-lock)?|tsconfig|jsconfig|deno|composer|bunfig|Cargo|pyproject)\.\w+$/;

/** The kind of a file of this name; undefined if it is not a configuration. */
export function kindOf(path: string): string | undefined {
  const name = basename(path);
  if (OWN_MODULE.test(name)) return "module";
  return [...offeredTools().flatMap(({ files }) => files), ...KINDS]
    .find(([pattern]) => pattern.test(name) || pattern.test(path))?.[1];
}

/** The format of files of a kind. */
export function formatOf(kind: string): Format {
  return offeredTools().find((tool) => tool.kind === kind)?.format ?? kind as Format;
}

/** Whether `start` reads a file of this name as a configuration, rather than running it. */
export function isConfigName(path: string): boolean {
  return kindOf(path) !== undefined && !NOT_OURS.test(basename(path));
}

/** Whether the name is that of a procsup file, which is never treated as another tool's. */
export function isOwnName(path: string): boolean {
  return /^procsup\b/.test(basename(path));
}

/** The configuration file in a folder: procsup's own, else another tool's; undefined if there is none. */
export function discover(folder: string): string | undefined {
  return firstIn(folder, [...OWN, ...others()]);
}

/** The file of another tool in a folder, if it must be converted first. */
export function discoverConvertible(folder: string): string | undefined {
  return firstIn(
    folder,
    offeredTools().flatMap(({ searched = [], convertOnly }) => convertOnly ? searched : []),
  );
}

function firstIn(folder: string, names: readonly string[]): string | undefined {
  return names.map((name) => join(folder, name)).find((path) => lookAt(path)?.isFile);
}

/** Like `discover()`, but throws `bad_request` if the folder has no configuration file. */
export function discovered(folder: string): string {
  const found = discover(folder);
  if (found !== undefined) return found;
  throw new ProcsupError("bad_request", `No procsup.yaml in "${folder}"`, {
    hint: {
      text: `Name a file, add one of ${["procsup.yaml", ...others()].join(", ")}, or create one`,
      command: { verb: "init" },
    },
  });
}
