/** Converts Procfiles: lines with a name and a shell command, and the settings of foreman and overmind. */

import { basename, dirname, join } from "@std/path";
import { ifPossible } from "../model/errors.ts";
import { readForeignFile } from "../platform/files/foreign_file.ts";
import { lookAt } from "../platform/files/stat.ts";
import type { ConfigDocument, Place } from "../config/document.ts";
import { readDotenv } from "../config/env_file.ts";
import { ConfigProblem } from "../config/problem.ts";
import { type ImportContext, type Imported, type Importer, lost, rowFor } from "./imported.ts";
import { ImportResult } from "./import_result.ts";

const LINE = /^([A-Za-z0-9_.-]+)\s*:\s*(.+)$/;

/**
 * Ports as in foreman: the base for the first process, unless PORT sets another one, and one step
 * more for each further one.
 */
const BASE_PORT = 5000;
const PORT_STEP = 100;

/** Heroku's process that runs before the processes of a new version start. */
const RELEASE = "release";

const DOTENV = ".env";
const OVERMIND_ENV = ".overmind.env";

export const procfile: Importer = {
  matches: ({ kind }) => kind === "procfile",
  convert,
};

function convert(document: ConfigDocument, context: ImportContext): Imported {
  const { file, text } = document;
  const lines = linesOf(file, text);
  const placeOf = ([name]: readonly unknown[]): Place | undefined => {
    const line = lines.find((one) => one.name === name)?.line;
    return line === undefined ? undefined : { file, line, column: 1 };
  };
  const result = new ImportResult(document, { context, placeOf });
  const folder = dirname(file);
  const files = [DOTENV, OVERMIND_ENV].filter((name) =>
    lookAt(join(folder, name))?.isFile === true
  );
  const variables = Object.assign({}, ...files.map((name) => readDotenv(join(folder, name))));
  const overmind = overmindSettings(files.includes(OVERMIND_ENV) ? variables : {}, basename(file));
  const own = overmind.port ?? Number(variables.PORT);
  const { env, inForeground, isWritten } = context;
  const base = own || (isWritten ? NaN : Number(env.PORT)) || BASE_PORT;
  const hasRelease = lines.some(({ name }) => name === RELEASE);
  const unlike = files.includes(DOTENV) ? unlikeForeman(join(folder, DOTENV)) : {};
  for (const [index, { name, command }] of lines.entries()) {
    const count = overmind.count(name);
    const port = { PORT: String(base + overmind.step * index) };
    const taken = result.add(name, {
      command,
      env: { ...(isWritten ? {} : unlike), ...(overmind.hasPorts ? port : {}) },
      env_file: files,
      instances: count > 1 ? count : undefined,
      increment_env: count > 1 && overmind.hasPorts ? "PORT" : undefined,
      autostart: count === 0 ? false : undefined,
      ...overmind.stop(name),
      // foreman restarts nothing. Without its terminal, a process is kept up.
      restart_policy: overmind.restarts(name)
        ? "always"
        : name === RELEASE || inForeground
        ? "never"
        : undefined,
      depends_on: hasRelease && name !== RELEASE ? { [RELEASE]: "completed_ok" } : undefined,
    }, { path: [name], keys: { entrypoint: name, args: name } });
    if (name === RELEASE) {
      result.note(taken, "release: it runs first; the others start after it has succeeded");
    }
  }
  const inEnv = (name: string, why: string) => lost([], why, `${DOTENV} ${name}`);
  if (isWritten) {
    const why = "foreman keeps what follows a # in its value: quote it";
    result.note(undefined, ...Object.keys(unlike).map((name) => inEnv(name, why)));
  }
  result.note(undefined, ...overmind.lost);
  if (lines.length === 0) {
    throw new ConfigProblem(file, "no process: expected lines of name: command");
  }
  // foreman ends with the first process that does.
  const critical = Object.keys(result.processes)
    .filter((name) => name !== RELEASE && !overmind.mayEnd(name));
  return { ...result.imported(), run: { critical }, uses: own ? [] : ["PORT"] };
}

interface Line {
  readonly name: string;
  readonly command: string;
  /** Counted from 1. */
  readonly line: number;
}

/** Parses names and commands. Throws `ConfigProblem`. */
function linesOf(file: string, text: string): Line[] {
  return text.split("\n").flatMap((raw, index) => {
    const line = raw.trim();
    const [, name, command] = LINE.exec(line) ?? [];
    if (name !== undefined) return [{ name, command: command!, line: index + 1 }];
    if (line === "" || line.startsWith("#")) return [];
    const place = { file, line: index + 1, column: 1 };
    throw new ConfigProblem(file, 'expected "name: command"', { place });
  });
}

/** Variables that foreman reads otherwise: it has no comments after a value, and no `export`. */
function unlikeForeman(path: string): Record<string, string> {
  const text = ifPossible(() => readForeignFile(path)) ?? "";
  const set = readDotenv(path);
  const pairs = [...text.matchAll(/^([A-Za-z_0-9]+)=(.*?)\r?$/gm)].map(([, name, value]) =>
    [name!, value!] as const
  );
  return Object.fromEntries(
    pairs.filter(([name, value]) => /^[^'"].*\s#/.test(value) && set[name] !== value),
  );
}

/** What overmind's variables say. */
function overmindSettings(variables: Readonly<Record<string, string>>, file: string) {
  const setting = (name: string) => variables[`OVERMIND_${name}`] ?? "";
  const list = (name: string) => setting(name).split(",").map((one) => one.trim()).filter(Boolean);
  const pairs = (name: string) =>
    new Map(list(name).map((pair) => pair.split("=") as [string, string]));
  const isOn = (name: string) => /^(1|t|true)$/i.test(setting(name));
  const counts = pairs("FORMATION");
  const signals = pairs("STOP_SIGNALS");
  const isOf = (names: readonly string[], name: string) =>
    names.includes(name) || names.includes("all");
  const [ignored, only] = [list("IGNORED_PROCESSES"), list("PROCESSES")];
  return {
    port: Number(setting("PORT")) || undefined,
    step: Number(setting("PORT_STEP")) || PORT_STEP,
    hasPorts: !isOn("NO_PORT"),
    count: (name: string) =>
      ignored.includes(name) || (only.length > 0 && !only.includes(name))
        ? 0
        : Number(counts.get(name) ?? counts.get("all") ?? 1),
    restarts: (name: string) => isOf(list("AUTO_RESTART"), name),
    mayEnd: (name: string) => isOn("ANY_CAN_DIE") || isOf(list("CAN_DIE"), name),
    stop: (name: string) => ({
      stop_signal: signals.has(name) ? `SIG${signals.get(name)!.replace(/^SIG/, "")}` : undefined,
      stop_timeout: setting("TIMEOUT") === "" ? undefined : `${Number(setting("TIMEOUT"))}s`,
    }),
    lost: Object.entries(variables).flatMap(([name, value]) => {
      const why = rowFor(OVERMIND_LOST, name);
      if (why === undefined || (name === "OVERMIND_PROCFILE" && basename(value) === file)) {
        return [];
      }
      return [lost([], why, `${OVERMIND_ENV} ${name}=${value}`)];
    }),
  };
}

/** Settings of overmind that change what runs, and what to do instead. */
const OVERMIND_LOST: Readonly<Record<string, string>> = {
  OVERMIND_PROCFILE: "overmind reads that file: import it in place of this one",
  OVERMIND_ROOT: "cwd of each process",
  OVERMIND_ENV: "env_file of each process",
  OVERMIND_SKIP_ENV: "env_file: remove .env",
  OVERMIND_SHELL: "entrypoint: the shell, with args",
};
