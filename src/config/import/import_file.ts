/** Converts a file of another tool, named by the user. */

import { basename } from "../../npm/path.js";
import { readForeignFile } from "../../platform/foreign_file.ts";
import { type ConfigDocument, isMap, Places } from "../document.ts";
import { kindOf } from "../file_kind.ts";
import { ConfigProblem } from "../problem.ts";
import { readDocument, readYaml } from "../read_document.ts";
import { IMPORTERS } from "./foreign.ts";
import type { Imported, Note } from "./imported.ts";

/** Names of the tools. */
export const IMPORTER_NAMES: readonly string[] = IMPORTERS.map(({ name }) => name);

/** A converted file. */
export interface ImportedFile {
  readonly yaml: string;
  readonly notes: readonly Note[];
}

/** Converts a file of a tool; its name does not matter. Throws `ConfigProblem`. */
export async function importFile(
  tool: string,
  file: string,
  env: Readonly<Record<string, string>>,
): Promise<ImportedFile> {
  const importer = IMPORTERS.find(({ name }) => name === tool)!;
  const document = await read(tool, file, env);
  if (!importer.matches({ ...document, kind: tool })) {
    throw new ConfigProblem(file, `not a ${tool} file`);
  }
  const imported = importer.convert(document, { env });
  return { yaml: await importedYaml(imported, basename(file)), notes: imported.notes };
}

/** A text file may have any name; other files are read by their kind. */
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

/** The text. */
export async function importedYaml(imported: Imported, from: string): Promise<string> {
  const yaml = await import("../../npm/yaml.ts");
  const { processes, profiles = {}, notes } = imported;
  const document = new yaml.Document(escaped({
    version: 1,
    processes,
    ...(Object.keys(profiles).length === 0 ? {} : { profiles }),
  }));
  const head = [`Made from ${from} by procsup import.`, ...about(notes, undefined)];
  document.commentBefore = comment(head);
  const made = document.get("processes");
  if (yaml.isMap(made)) {
    for (const { key } of made.items) {
      const lines = yaml.isScalar(key) ? about(notes, String(key.value)) : [];
      if (lines.length > 0 && yaml.isScalar(key)) key.commentBefore = comment(lines);
    }
  }
  return document.toString({ lineWidth: 0 });
}

function about(notes: readonly Note[], process: string | undefined): string[] {
  return notes.filter((note) => note.process === process).map(({ text }) => `not taken: ${text}`);
}

function comment(lines: readonly string[]): string {
  return lines.map((line) => ` ${line.replaceAll("\n", " ")}`).join("\n");
}

/** Keys in which variables are filled in. */
const FILLED: ReadonlySet<string> = new Set(["env", "args", "sockets", "url", "tcp_endpoint"]);

/** Doubles a `$` that would start a variable. */
function escaped(value: unknown, within = ""): unknown {
  if (typeof value === "string") {
    return FILLED.has(within) ? value.replace(/\$(?=[${])/g, "$$$$") : value;
  }
  if (Array.isArray(value)) return value.map((item) => escaped(item, within));
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      escaped(inner, FILLED.has(within) ? within : key),
    ]),
  );
}
