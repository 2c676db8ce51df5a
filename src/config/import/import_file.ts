/** Converts a file of another tool that the user names. */

import { shellWord } from "../../model/shell_line.ts";
import { basename, dirname, join } from "../../npm/path.js";
import type { ConfigDocument } from "../document.ts";
import { COMPOSE_FILES, discover, isOwnName, kindOf } from "../file_kind.ts";
import { loadConfig } from "../load_config.ts";
import { ConfigProblem, ConfigProblems, type Note } from "../problem.ts";
import { readDocument, readText } from "../read_document.ts";
import { foreignFormat, IMPORTERS } from "../read_files.ts";
import type { ImportContext, Imported } from "./imported.ts";
import { withoutEnvironment } from "./program_references.ts";
import { jsonFields } from "../../model/log_level.ts";
import { nameFromPath } from "../../model/name.ts";
import { readForeignFile } from "../../platform/foreign_file.ts";
import { lookAt } from "../../platform/stat.ts";
import { mapOf } from "../../model/merge_patch.ts";

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

/** A configuration, and the file it was made from. */
export interface InitialConfig extends ImportedFile {
  readonly from: string;
}

/** Files that indicate what to run, and their commands. The first one that exists wins. */
const COMMANDS:
  readonly (readonly [file: string, command: (text: string) => string | undefined])[] = [
    ["package.json", nodeCommand],
    ["deno.json", (text) => hasStart(jsonFields(text)?.tasks) ? "deno task start" : undefined],
    ["bin/rails", () => "bin/rails server"],
    ["config.ru", () => "bundle exec puma"],
    ["manage.py", () => "python3 manage.py runserver"],
    ["artisan", () => "php artisan serve"],
    ["go.mod", () => "go run ."],
    ["Cargo.toml", () => "cargo run"],
    ...["server.js", "app.js", "index.js", "main.ts", "server.ts", "app.py", "main.py", "app.rb"]
      .map((name) => [name, () => name] as const),
  ];

/**
 * Converts another tool's file, or derives a configuration from the project's files. Throws
 * `ConfigProblem`.
 */
export async function initialConfig(
  folder: string,
  env: Readonly<Record<string, string>>,
): Promise<InitialConfig> {
  const found = discover(folder);
  const foreign = found !== undefined && !isOwnName(found) ? found : undefined;
  const command = foreign === undefined ? commandIn(folder) : undefined;
  const composed = COMPOSE_FILES.map((name) => join(folder, name));
  const source = foreign ??
    (command === undefined ? composed.find((path) => lookAt(path)?.isFile) : undefined);
  if (source !== undefined) return { ...await importFile(source, { env }), from: basename(source) };
  const name = nameFromPath(folder);
  const [from, line] = command ?? ["nothing: procsup recognizes no project in this folder"];
  return { from, yaml: text(name, line, lookAt(join(folder, ".env"))?.isFile === true), notes: [] };
}

function commandIn(folder: string): readonly [from: string, command: string] | undefined {
  for (const [file, commandOf] of COMMANDS) {
    const path = join(folder, file);
    if (!lookAt(path)?.isFile) continue;
    const command = commandOf(/json$/.test(file) ? readForeignFile(path) : "");
    if (command !== undefined) return [file, command];
  }
  return undefined;
}

function nodeCommand(text: string): string | undefined {
  const { scripts, main } = jsonFields(text) ?? {};
  if (hasStart(scripts)) return "npm start";
  return typeof main === "string" ? main : undefined;
}

function hasStart(scripts: unknown): boolean {
  return "start" in mapOf(scripts);
}

function text(name: string, command: string | undefined, hasEnv: boolean): string {
  const off = command === undefined ? "# " : "";
  return `# Written by procsup init. To check it: procsup config validate. To start it: procsup up.
version: 1
processes:${command === undefined ? " {}" : ""}
${off}  ${name}:
${off}    command: ${command ?? "node server.js"}
${hasEnv ? off : "    # "}${hasEnv ? "    " : ""}env_file: .env
    # env: { NODE_ENV: production }
    # sockets: ["127.0.0.1:8080"] # a port that all instances share, open over restarts
    # instances: max # one for each CPU
    # depends_on: [db]
    # health_check: { type: http, url: "http://127.0.0.1:8080/" }
    # max_memory: 512MB
    # watch: true
# cron:
#   - { name: cleanup, schedule: "@daily", command: "find tmp -mtime +7 -delete" }
`;
}
