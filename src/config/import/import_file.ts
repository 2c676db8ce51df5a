/** Converts a file of another tool that the user names. */

import { shellWord } from "../../model/shell_line.ts";
import { basename, dirname, join } from "../../npm/path.js";
import type { ConfigDocument } from "../document.ts";
import { kindOf } from "../file_kind.ts";
import { loadConfig } from "../load_config.ts";
import { ConfigProblem, ConfigProblems, type Note } from "../problem.ts";
import { readDocument, readText } from "../read_document.ts";
import { foreignFormat, IMPORTERS } from "../read_files.ts";
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

type Env = Readonly<Record<string, string>>;

/** A document, and notes on what was found out while reading it. */
type Read = ConfigDocument & { readonly kind: string; readonly notes?: readonly Note[] };

/** Tools whose files are not YAML, whatever they are called. */
const TEXTS = ["procfile", "supervisord", "systemd"] as const;

/**
 * Reads a file. With a tool given, it may have any name. If it is a program, values from the
 * environment become references.
 */
async function read(tool: string | undefined, file: string, env: Env): Promise<Read> {
  const own = TEXTS.find((kind) => kind === tool) ?? kindOf(file);
  const kind = own ?? (tool === undefined ? undefined : "yaml");
  const document = await readDocument(file, env, { kind });
  const { value, set } = document;
  const source = set === undefined ? "" : readText(file);
  const referring = set !== undefined && /\benv\b/.test(source)
    ? await withoutEnvironment({ value, set }, file, source, env)
    : {};
  return { ...document, ...referring, kind: tool ?? document.kind };
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
  return `not converted: ${process === undefined ? "" : `${process}: `}${text}`;
}

function comment(lines: readonly string[]): string {
  return lines.map((line) => ` ${line.replaceAll("\n", " ")}`).join("\n");
}
