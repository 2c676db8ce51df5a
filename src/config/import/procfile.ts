/** Converts Procfiles: lines with a name and a shell command. */

import { dirname, join } from "../../npm/path.js";
import { lookAt } from "../../platform/stat.ts";
import type { ConfigDocument } from "../document.ts";
import { readDotenv } from "../env_file.ts";
import { ConfigProblem } from "../problem.ts";
import { type ImportContext, type Imported, type Importer, ImportResult } from "./imported.ts";

const LINE = /^([A-Za-z0-9_.-]+)\s*:\s*(.+)$/;

/**
 * Ports as in foreman: the base for the first process, unless PORT sets another one, and one step
 * more for each further one.
 */
const BASE_PORT = 5000;
const PORT_STEP = 100;

/** Heroku's process that runs before the processes of a new version start. */
const RELEASE = "release";

export const procfile: Importer = {
  name: "procfile",
  matches: ({ kind }) => kind === "procfile",
  convert,
};

function convert({ file, text }: ConfigDocument, context: ImportContext): Imported {
  const result = new ImportResult(file);
  const dotenv = join(dirname(file), ".env");
  const hasEnv = lookAt(dotenv)?.isFile === true;
  const own = hasEnv ? Number(readDotenv(dotenv).PORT) : NaN;
  const { env, inForeground, isWritten } = context;
  const base = own || (isWritten ? NaN : Number(env.PORT)) || BASE_PORT;
  const lines = linesOf(file, text);
  const hasRelease = lines.some(([name]) => name === RELEASE);
  for (const [index, [name, command]] of lines.entries()) {
    const taken = result.add(name, {
      command,
      env: { PORT: String(base + PORT_STEP * index) },
      env_file: hasEnv ? ".env" : undefined,
      // foreman restarts nothing. Without its terminal, a process is kept up.
      restart_policy: name === RELEASE || inForeground ? "never" : undefined,
      depends_on: hasRelease && name !== RELEASE ? { [RELEASE]: "completed_ok" } : undefined,
    });
    if (name === RELEASE) {
      result.note(taken, "release: it runs first; the others start after it has succeeded");
    }
  }
  if (lines.length === 0) {
    throw new ConfigProblem(file, "no process: expected lines of name: command");
  }
  // foreman ends with the first process that does.
  const critical = Object.keys(result.processes).filter((name) => name !== RELEASE);
  return { ...result.imported(), run: { critical }, uses: own ? [] : ["PORT"] };
}

/** Parses names and commands. Throws `ConfigProblem`. */
function linesOf(file: string, text: string): (readonly [name: string, command: string])[] {
  return text.split("\n").flatMap((raw, index) => {
    const line = raw.trim();
    const [, name, command] = LINE.exec(line) ?? [];
    if (name !== undefined) return [[name, command!] as const];
    if (line === "" || line.startsWith("#")) return [];
    const place = { file, line: index + 1, column: 1 };
    throw new ConfigProblem(file, 'expected "name: command"', { place });
  });
}
