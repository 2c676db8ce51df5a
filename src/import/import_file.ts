/** Converts a file of another tool that the user names. */

import { shellWord } from "../model/shell_line.ts";
import { basename, dirname, join } from "@std/path";
import type { ConfigDocument } from "../config/document.ts";
import { discover, discoverConvertible, isOwnName, kindOf } from "../config/file_kind.ts";
import { loadConfig, type LoadedConfig } from "../config/load_config.ts";
import { ConfigProblem, type Note } from "../config/problem.ts";
import { readDocument, readText } from "../config/read_document.ts";
import { type FileContent, type ForeignFormat, foreignFormat } from "../config/read_files.ts";
import { offeredTools, type Tool } from "../config/tools.ts";
import type { ImportContext, Imported, Keys } from "./imported.ts";
import { withoutEnvironment } from "./program_references.ts";
import { keyNames } from "../model/key_table.ts";
import { jsonFields } from "../model/log_level.ts";
import { nameFromPath } from "../model/name.ts";
import { PROCESS_KEYS } from "../model/process_keys.ts";
import type { ProcsupError } from "../model/errors.ts";
import { readForeignFile } from "../platform/files/foreign_file.ts";
import { lookAt } from "../platform/files/stat.ts";
import { mapOf } from "../model/merge_patch.ts";

export interface ImportedFile {
  readonly yaml: string;
  readonly notes: readonly Note[];
  /** What `procsup config validate` says about it here, such as a missing program. */
  readonly missing: readonly ProcsupError[];
  /** Whether the result depends on the folder that it is in. */
  readonly hasRelativePaths: boolean;
}

/** What `procsup config validate` finds in a configuration. */
export type Findings = (loaded: LoadedConfig) => Promise<readonly ProcsupError[]>;

export interface ImportOptions extends ImportContext {
  readonly findings: Findings;
  /** The tool; by default it is recognized by name and content of the file. */
  readonly tool?: string;
}

/** Converts a file. Throws `ConfigProblem`, or `ConfigProblems` if procsup would refuse the result. */
export async function importFile(file: string, options: ImportOptions): Promise<ImportedFile> {
  const named = offeredTools().find(({ name }) => name === options.tool);
  const document = await read(named, file, options.env);
  const importer = await importerOf(file, named, document);
  const converted = await importer.convert(document, { ...options, isWritten: true });
  const imported = { ...converted, notes: [...document.notes ?? [], ...converted.notes] };
  const yaml = await importedYaml(imported, basename(file));
  const written = { file: join(dirname(file), "procsup.yaml"), text: yaml };
  const loaded = await loadedFrom({ ...written, origins: imported.origins }, options.env);
  const elsewhere = await loadedFrom(
    { file: "/nonexistent/procsup.yaml", text: yaml },
    options.env,
  );
  const wires = [loaded, elsewhere].map(({ processes }) =>
    JSON.stringify(processes.map(({ wire }) => wire))
  );
  return {
    ...{ yaml, notes: imported.notes, hasRelativePaths: wires[0] !== wires[1] },
    missing: await options.findings(loaded),
  };
}

/** The importer of the named tool, or of the one that the file belongs to. */
async function importerOf(file: string, named: Tool | undefined, document: Read) {
  const found: ForeignFormat | undefined = await foreignFormat(document);
  const importer = named === undefined ? found?.importer : await named.importer();
  if (importer !== undefined && (importer === found?.importer || importer.matches(document))) {
    return importer;
  }
  const what = named === undefined
    ? "cannot tell which tool this file belongs to"
    : `not a ${named.name} file`;
  const word = shellWord(basename(file));
  const advice = found === undefined
    ? `name the tool: procsup import ${offeredTools().map(({ name }) => name).join("|")} ${word}`
    : `it is a ${found.tool.name} file: procsup import ${found.tool.name} ${word}`;
  throw new ConfigProblem(file, what, { advice });
}

/** Loads what is written. Throws `ConfigProblems` if procsup would refuse it anywhere. */
async function loadedFrom(content: FileContent, env: Env): Promise<LoadedConfig> {
  return await loadConfig({ files: [content.file], content, env, assumeVariables: true });
}

type Env = Readonly<Record<string, string>>;

/** A document, and notes on what was found out while reading it. */
type Read = ConfigDocument & { readonly kind: string; readonly notes?: readonly Note[] };

/**
 * Reads a file. With a tool given, it may have any name. If it is a program, values from the
 * environment become references.
 */
async function read(tool: Tool | undefined, file: string, env: Env): Promise<Read> {
  const byName = kindOf(file) ?? kindOf(file.replace(/\.(example|sample|dist|tmpl|bak)$/i, ""));
  const kind = tool?.format === "text"
    ? tool.kind
    : byName ?? (tool === undefined ? undefined : "yaml");
  const document = await readDocument(file, env, { kind });
  const { value, set } = document;
  const source = set === undefined ? "" : readText(file);
  const referring = set !== undefined && /\benv\b/.test(source)
    ? await withoutEnvironment({ value, set }, file, source, env)
    : {};
  return { ...document, ...referring, kind: tool?.name ?? document.kind };
}

/** Keys of a process in the order of the reference. */
const ORDER: readonly string[] = keyNames(PROCESS_KEYS);

function inOrder(keys: Keys): Keys {
  const rank = (key: string) => ORDER.indexOf(key);
  return Object.fromEntries(Object.entries(keys).sort(([a], [b]) => rank(a) - rank(b)));
}

async function importedYaml(imported: Imported, from: string): Promise<string> {
  const yaml = await import("../config/yaml_package.ts");
  const { processes, profiles = {}, run = {}, notes } = imported;
  const ordered = Object.entries(processes).map(([name, keys]) => [name, inOrder(keys)]);
  const document = new yaml.Document({
    version: 1,
    processes: Object.fromEntries(ordered),
    ...(Object.keys(profiles).length === 0 ? {} : { profiles }),
    ...(Object.keys(run).length === 0 ? {} : { run }),
  }, { aliasDuplicateObjects: false });
  // A note may be about a service that was not taken.
  const others = notes.filter(({ process = "" }) => !Object.hasOwn(processes, process));
  const head = [`Made from ${from} by procsup import.`, ...others.map(lineOf)];
  document.commentBefore = comment(head);
  const made = document.get("processes");
  if (yaml.isMap(made)) {
    for (const { key } of made.items) {
      if (!yaml.isScalar(key)) continue;
      const own = notes.filter(({ process }) => process === String(key.value));
      const lines = own.map((note) => lineOf({ ...note, process: undefined }));
      if (lines.length > 0) key.commentBefore = comment(lines);
    }
  }
  return document.toString({ lineWidth: 0 });
}

function lineOf({ process, text, place }: Note): string {
  const where = place === undefined ? "" : ` (${basename(place.file)}:${place.line})`;
  return `not converted: ${process === undefined ? "" : `${process}: `}${text}${where}`;
}

function comment(lines: readonly string[]): string {
  return lines.map((line) => ` ${line.replaceAll(/[\r\n\x85\u2028\u2029]+/g, " ")}`).join("\n");
}

/** A configuration, and the file it was made from. */
interface InitialConfig extends ImportedFile {
  readonly from: string;
}

type CommandOf = (text: string, folder: string) => string | undefined;

/** Files that indicate what to run, and their commands. The first one that exists wins. */
const COMMANDS: readonly (readonly [file: string, command: CommandOf])[] = [
  ["package.json", nodeCommand],
  ["deno.json", (text) => scriptOf(jsonFields(text)?.tasks, "deno task ")],
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
  { env, findings }: Pick<ImportOptions, "env" | "findings">,
): Promise<InitialConfig> {
  const found = discover(folder);
  const foreign = found !== undefined && !isOwnName(found) ? found : undefined;
  const command = foreign === undefined ? commandIn(folder) : undefined;
  const source = foreign ?? (command === undefined ? discoverConvertible(folder) : undefined);
  if (source !== undefined) {
    return { ...await importFile(source, { env, findings }), from: basename(source) };
  }
  const name = nameFromPath(folder);
  const hasEnv = lookAt(join(folder, ".env"))?.isFile === true;
  const made = async (from: string, line?: string, isOff = line === undefined) => {
    const yaml = text(name, line, hasEnv, isOff);
    const loaded = await loadedFrom({ file: join(folder, "procsup.yaml"), text: yaml }, env);
    return { from, yaml, notes: [], missing: await findings(loaded), hasRelativePaths: true };
  };
  const nothing = "nothing: procsup recognizes no project in this folder";
  if (command === undefined) return await made(nothing);
  const [from, line] = command;
  const { missing, ...config } = await made(from, line);
  if (missing.length === 0) return { ...config, missing };
  // What cannot start here is written as a comment.
  return { ...await made(from, line, true), missing };
}

function commandIn(folder: string): readonly [from: string, command: string] | undefined {
  for (const [file, commandOf] of COMMANDS) {
    const path = join(folder, file);
    if (!lookAt(path)?.isFile) continue;
    const command = commandOf(/json$/.test(file) ? readForeignFile(path) : "", folder);
    if (command !== undefined) return [file, command];
  }
  return undefined;
}

function nodeCommand(text: string, folder: string): string | undefined {
  const { scripts, main } = jsonFields(text) ?? {};
  if ("start" in mapOf(scripts)) return "npm start";
  // It may say anything: only what is plainly the path of a file is a command.
  const isPath = typeof main === "string" && /^(\.\/)?\w[\w./@-]*$/.test(main);
  if (isPath && lookAt(join(folder, main))?.isFile) return main;
  return scriptOf(scripts, "npm run ");
}

/** The command of the script that serves the project. */
function scriptOf(scripts: unknown, run: string): string | undefined {
  const name = ["start", "dev"].find((name) => name in mapOf(scripts));
  return name && `${run}${name}`;
}

function text(
  name: string,
  command: string | undefined,
  hasEnv: boolean,
  isOff: boolean,
): string {
  const off = isOff ? "# " : "";
  return `# Written by procsup init. To check it: procsup config validate. To start it: procsup up.
version: 1
processes:${isOff ? " {}" : ""}
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
