/** Procfile: lines of a name and a shell line. */

import { parseDotenv } from "../../model/dotenv.ts";
import { dirname, join } from "../../npm/path.js";
import { readForeignFile } from "../../platform/foreign_file.ts";
import { lookAt } from "../../platform/stat.ts";
import { type ConfigDocument, placeAt } from "../document.ts";
import { ConfigProblem } from "../problem.ts";
import { type Imported, type Importer, ImportResult } from "./imported.ts";
import { shellCommand } from "./shell_line.ts";

const LINE = /^([A-Za-z0-9_.-]+)\s*:\s*(.+)$/;

/** Ports as foreman assigns them: the base for the first process, a step more for each next one. */
const BASE_PORT = 5000;
const PORT_STEP = 100;

/** Procfiles. */
export const procfile: Importer = {
  name: "procfile",
  matches: ({ kind }) => kind === "procfile",
  convert,
};

function convert({ file, text }: ConfigDocument): Imported {
  const result = new ImportResult();
  const dotenv = join(dirname(file), ".env");
  const hasEnv = lookAt(dotenv)?.isFile === true;
  const base = hasEnv ? Number(parseDotenv(readForeignFile(dotenv), dotenv).PORT) : NaN;
  let offset = 0;
  for (const raw of text.split("\n")) {
    const line = raw.trim();
    const [, name, command] = LINE.exec(line) ?? [];
    if (name !== undefined) {
      const count = Object.keys(result.processes).length;
      result.add(name, {
        ...shellCommand(command!),
        env: { PORT: String((base || BASE_PORT) + PORT_STEP * count) },
        ...(hasEnv ? { env_file: ".env" } : {}),
      });
    } else if (line !== "" && !line.startsWith("#")) {
      throw new ConfigProblem(file, 'expected "name: command"', {
        place: placeAt(file, text, { offset, length: raw.length }),
      });
    }
    offset += raw.length + 1;
  }
  return result;
}
