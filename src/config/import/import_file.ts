/** Converts a file of another tool, named by the user. */

import { readForeignFile } from "../../platform/foreign_file.ts";
import type { ConfigDocument } from "../document.ts";
import { Places } from "../document.ts";
import { kindOf } from "../file_kind.ts";
import { ConfigProblem } from "../problem.ts";
import { readDocument } from "../read_document.ts";
import { readYaml } from "../read_yaml.ts";
import { IMPORTERS } from "./foreign.ts";
import type { Note } from "./imported.ts";
import { importedYaml } from "./write_yaml.ts";

/** Names of the tools. */
export const IMPORTER_NAMES: readonly string[] = IMPORTERS.map(({ name }) => name);

/** A converted file. */
export interface ImportedFile {
  readonly yaml: string;
  readonly notes: readonly Note[];
}

/** Converts a file as that tool's, whatever the file is called. Throws `ConfigProblem`. */
export async function importFile(
  tool: string,
  file: string,
  env: Readonly<Record<string, string>>,
): Promise<ImportedFile> {
  const importer = IMPORTERS.find(({ name }) => name === tool)!;
  const document = await read(tool, file, env);
  if (!importer.matches({ ...document, kind: tool })) {
    throw new ConfigProblem(file, `it is no file of ${tool}`);
  }
  const imported = importer.convert(document, { env });
  const name = file.slice(file.lastIndexOf("/") + 1);
  return { yaml: await importedYaml(imported, name), notes: imported.notes };
}

/** Files of text alone may be called anything; the others are read by what they are. */
async function read(
  tool: string,
  file: string,
  env: Readonly<Record<string, string>>,
): Promise<ConfigDocument> {
  if (tool === "procfile" || tool === "supervisord") {
    const text = readText(file);
    return { file, text, value: text, places: new Places() };
  }
  if (kindOf(file) !== undefined) return await readDocument(file, env);
  return await readYaml(file, readText(file));
}

function readText(file: string): string {
  try {
    return readForeignFile(file);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw new ConfigProblem(file, "no such file");
    throw error;
  }
}
