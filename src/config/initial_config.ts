/** Creates a first configuration for a folder. */

import { jsonFields } from "../model/log_level.ts";
import { nameFromPath } from "../model/name.ts";
import { basename, join } from "../npm/path.js";
import { readForeignFile } from "../platform/foreign_file.ts";
import { lookAt } from "../platform/stat.ts";
import { isMap } from "../model/merge_patch.ts";
import { COMPOSE_FILES, discover, isOwnName } from "./file_kind.ts";
import { type ImportedFile, importFile } from "./import/import_file.ts";

/** A configuration, and the file it was made from. */
export interface InitialConfig extends ImportedFile {
  readonly from: string;
}

/** Files that indicate what to run, and their commands. The first one that exists wins. */
const COMMANDS:
  readonly (readonly [file: string, command: (text: string) => string | undefined])[] = [
    ["package.json", (text) => nodeCommand(text)],
    ["deno.json", (text) => taskOf(text)],
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
  const composed = COMPOSE_FILES.map((name) => join(folder, name)).find((path) =>
    lookAt(path)?.isFile
  );
  const foreign = found !== undefined && !isOwnName(found) ? found : undefined;
  const command = foreign === undefined ? commandIn(folder) : undefined;
  const source = foreign ?? (command === undefined ? composed : undefined);
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

function taskOf(text: string): string | undefined {
  return hasStart(jsonFields(text)?.tasks) ? "deno task start" : undefined;
}

function hasStart(scripts: unknown): boolean {
  return isMap(scripts) && "start" in scripts;
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
