/** Converts a file of another tool that the user names. */

import { shellWord } from "../../model/shell_line.ts";
import { basename, dirname, join } from "../../npm/path.js";
import { readForeignFile } from "../../platform/foreign_file.ts";
import { type ConfigDocument, Places } from "../document.ts";
import { kindOf } from "../file_kind.ts";
import { loadConfig } from "../load_config.ts";
import { ConfigProblem, ConfigProblems, type Note } from "../problem.ts";
import { readDocument, readYaml } from "../read_document.ts";
import { foreignFormat, IMPORTERS } from "./foreign.ts";
import type { ImportContext, Imported } from "./imported.ts";
import { withoutEnvironment } from "./program_references.ts";

export const IMPORTER_NAMES: readonly string[] = IMPORTERS.map(({ name }) => name);

export interface ImportedFile {
  readonly yaml: string;
  readonly notes: readonly Note[];
}

export interface ImportOptions extends ImportContext {
  /** The tool; by default it is recognized by name and content of the file. */
  readonly tool?: string;
}

/** Converts a file. Throws `ConfigProblem`. */
export async function importFile(file: string, options: ImportOptions): Promise<ImportedFile> {
  const { tool } = options;
  const document = await read(tool, file, options.env);
  const found = foreignFormat(document);
  const importer = tool === undefined ? found : IMPORTERS.find(({ name }) => name === tool);
  if (importer === undefined || !(importer === found || importer.matches(document))) {
    const what = tool === undefined
      ? "cannot tell which tool this file belongs to"
      : `not a ${tool} file`;
    const word = shellWord(basename(file));
    const advice = found === undefined
      ? `name the tool: procsup import ${IMPORTER_NAMES.join("|")} ${word}`
      : `it is a ${found.name} file: procsup import ${found.name} ${word}`;
    throw new ConfigProblem(file, what, { advice });
  }
  const converted = importer.convert(document, { ...options, isWritten: true });
  const imported = { ...converted, notes: [...document.notes ?? [], ...converted.notes] };
  const yaml = await importedYaml(imported, basename(file));
  await check(file, yaml, options.env);
  return { yaml, notes: imported.notes };
}

/** Throws `ConfigProblem` if procsup would refuse the result, so that nothing unusable is written. */
async function check(file: string, text: string, env: Env): Promise<void> {
  const content = { file: join(dirname(file), "procsup.yaml"), text };
  try {
    await loadConfig({ files: [content.file], content, env, assumeVariables: true });
  } catch (error) {
    if (!(error instanceof ConfigProblems)) throw error;
    const what = error.problems.map((problem) => (problem as ConfigProblem).what);
    throw new ConfigProblem(file, what.join("; "));
  }
}

/** Reads a file. With a tool given, a text file may have any name. */
async function read(
  tool: string | undefined,
  file: string,
  env: Readonly<Record<string, string>>,
): ReturnType<typeof readImported> {
  if (tool === "procfile" || tool === "supervisord" || tool === "systemd") {
    const text = readText(file);
    return { file, text, value: text, places: new Places(), kind: tool };
  }
  const isNamed = kindOf(file) !== undefined || tool === undefined;
  const document = isNamed ? await readImported(file, env) : await readYaml(file, readText(file));
  return { ...document, kind: tool ?? kindOf(file)! };
}

type Env = Readonly<Record<string, string>>;

/** Reads a file by its kind. If it is a program, values from the environment become references. */
async function readImported(
  file: string,
  env: Env,
): Promise<ConfigDocument & { readonly kind: string; readonly notes?: readonly Note[] }> {
  const document = await readDocument(file, env);
  const { value, set } = document;
  const source = set === undefined ? "" : readText(file);
  return set !== undefined && /\benv\b/.test(source)
    ? { ...document, ...await withoutEnvironment({ value, set }, file, source, env) }
    : document;
}

function readText(file: string): string {
  try {
    return readForeignFile(file);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw new ConfigProblem(file, "no such file");
    throw error;
  }
}

async function importedYaml(imported: Imported, from: string): Promise<string> {
  const yaml = await import("../../npm/yaml.ts");
  const { processes, profiles = {}, run = {}, notes } = imported;
  const document = new yaml.Document({
    version: 1,
    processes,
    ...(Object.keys(profiles).length === 0 ? {} : { profiles }),
    ...(Object.keys(run).length === 0 ? {} : { run }),
  });
  // A note may be about a service that was not taken.
  const others = notes.filter(({ process = "" }) => !Object.hasOwn(processes, process));
  const head = [`Made from ${from} by procsup import.`, ...others.map(lineOf)];
  document.commentBefore = comment(head);
  const made = document.get("processes");
  if (yaml.isMap(made)) {
    for (const { key } of made.items) {
      if (!yaml.isScalar(key)) continue;
      const own = notes.filter(({ process }) => process === String(key.value));
      const lines = own.map(({ text }) => lineOf({ process: undefined, text }));
      if (lines.length > 0) key.commentBefore = comment(lines);
    }
  }
  return document.toString({ lineWidth: 0 });
}

function lineOf({ process, text }: Note): string {
  return `not taken: ${process === undefined ? "" : `${process}: `}${text}`;
}

function comment(lines: readonly string[]): string {
  return lines.map((line) => ` ${line.replaceAll("\n", " ")}`).join("\n");
}
