/** Reads one configuration file of any format, and refuses what no configuration needs. */

import { messageOf } from "../model/errors.ts";
import { readForeignFile } from "../platform/foreign_file.ts";
import { type ConfigDocument, isMap, type Path, placeIn, Places } from "./document.ts";
import { type FileKind, kindOf } from "./file_kind.ts";
import { ConfigProblem } from "./problem.ts";
import { readJson } from "./read_json.ts";
import { readModule } from "./read_module.ts";
import { readToml } from "./read_toml.ts";
import { readYaml } from "./read_yaml.ts";

const MAX_BYTES = 4 * 1024 * 1024;
const MAX_NODES = 500_000;
const MAX_DEPTH = 64;

/**
 * Reads a file by its kind; text of other tools' formats comes back as text. `given` is taken instead
 * of what the file holds. Throws `ConfigProblem`.
 */
export async function readDocument(
  file: string,
  env: Readonly<Record<string, string>>,
  given?: string,
): Promise<ConfigDocument & { readonly kind: FileKind }> {
  const kind = kindOf(file);
  if (kind === undefined) {
    throw new ConfigProblem(file, "no configuration by its name", {
      advice: "expected .yaml, .yml, .toml, .json, .jsonc or .config.ts",
    });
  }
  if (given !== undefined && kind === "module") {
    throw new ConfigProblem(file, "a program must stand in a file to be run", {
      advice: "send YAML, TOML or JSON",
    });
  }
  try {
    const document = await parse(kind, file, given ?? readText(file), env);
    return { ...checkedDocument(document), kind };
  } catch (error) {
    // The stack of one of the parsers was full.
    if (error instanceof RangeError) throw new ConfigProblem(file, "nested too deeply");
    throw error;
  }
}

function readText(file: string): string {
  try {
    return readForeignFile(file, { maxBytes: MAX_BYTES });
  } catch (error) {
    const missing = error instanceof Deno.errors.NotFound;
    const why = missing ? "no such file" : `cannot be read: ${messageOf(error)}`;
    throw new ConfigProblem(file, why);
  }
}

async function parse(
  kind: FileKind,
  file: string,
  text: string,
  env: Readonly<Record<string, string>>,
): Promise<ConfigDocument> {
  switch (kind) {
    case "yaml":
    case "compose":
      return await readYaml(file, text);
    case "toml":
      return await readToml(file, text);
    case "json":
    case "jsonc":
      return readJson(file, text, kind === "jsonc");
    case "module":
      return { file, text: "", value: await readModule(file, env), places: new Places() };
    case "procfile":
    case "supervisord":
      return { file, text, value: text, places: new Places() };
  }
}

/**
 * Refuses what aliases can make of a small file (a large value, or one that contains itself), deep
 * nesting, and the key `__proto__`.
 */
export function checkedDocument(document: ConfigDocument): ConfigDocument {
  let nodes = 0;
  const refuse = (what: string, path: Path, part: "key" | "value" = "value"): never => {
    const place = placeIn(document, path, part);
    throw new ConfigProblem(document.file, what, place === undefined ? {} : { place });
  };
  const look = (value: unknown, path: Path, around: readonly unknown[]): void => {
    if (++nodes > MAX_NODES) refuse(`it holds more than ${MAX_NODES} values`, []);
    if (typeof value !== "object" || value === null) return;
    if (around.includes(value)) refuse("this contains itself", path);
    if (path.length > MAX_DEPTH) refuse(`nested more than ${MAX_DEPTH} deep`, path);
    const inside = [...around, value];
    if (Array.isArray(value)) {
      return value.forEach((item, index) => look(item, [...path, index], inside));
    }
    if (!isMap(value)) return;
    for (const [key, inner] of Object.entries(value)) {
      if (key === "__proto__") refuse('the key "__proto__" is not possible', [...path, key], "key");
      look(inner, [...path, key], inside);
    }
  };
  look(document.value, [], []);
  return document;
}
