/** supervisord's ini: programs, groups and `%(…)s`. */

import { type ConfigDocument, placeAt } from "../document.ts";
import { folderOf } from "../layer.ts";
import { ConfigProblem } from "../problem.ts";
import {
  type ImportContext,
  type Imported,
  type Importer,
  ImportResult,
  type Keys,
  seconds,
} from "./imported.ts";
import { IniError, parseIni, type Section } from "./ini.ts";
import { splitWords } from "./shell_line.ts";

/** Configurations of supervisord. */
export const supervisord: Importer = {
  name: "supervisord",
  matches: ({ kind }) => kind === "supervisord",
  convert,
};

/** Keys that mean what procsup does anyway. */
const NATURAL = new Set([
  "stopasgroup",
  "killasgroup",
  "numprocs",
  "numprocs_start",
  "process_name",
]);

/** Sections about supervisord itself. */
const OWN_SECTIONS =
  /^(supervisord|supervisorctl|unix_http_server|inet_http_server|rpcinterface:.*)$/;

type Expand = (text: string) => string;

const KEYS: Readonly<Record<string, (value: string, expand: Expand) => Keys>> = {
  command: (value) => {
    const [entrypoint, ...args] = splitWords(value);
    return { entrypoint, args };
  },
  directory: (value) => ({ cwd: value }),
  environment: (value) => ({ env: environment(value) }),
  user: (value) => ({ uid: value }),
  umask: (value) => ({ umask: value.padStart(3, "0") }),
  priority: (value) => ({ priority: Number(value) }),
  autostart: (value) => isTrue(value) ? {} : { autostart: false },
  autorestart: (value) => ({
    restart_policy: value.toLowerCase() === "unexpected"
      ? "on-failure"
      : isTrue(value)
      ? "always"
      : "never",
  }),
  exitcodes: (value) => ({ success_exit_codes: value.split(",").map(Number) }),
  startsecs: (value) => ({ min_uptime: seconds(value) }),
  startretries: (value) => ({ max_restarts: Number(value) }),
  stopsignal: (value) => ({ stop_signal: value.replace(/^(?!SIG)/i, "SIG") }),
  stopwaitsecs: (value) => ({ stop_timeout: seconds(value) }),
  stdout_logfile_maxbytes: (value) => value === "0" ? {} : ({ log: { max_size: value } }),
  stdout_logfile_backups: (value) => ({ log: { max_files: Number(value) } }),
};

function convert(document: ConfigDocument, { env }: ImportContext): Imported {
  const result = new ImportResult();
  const sections = sectionsOf(document);
  const groups = new Map<string, string>();
  for (const { name, keys } of sections) {
    const group = /^group:(.+)$/.exec(name)?.[1];
    if (group === undefined) continue;
    for (const program of (keys.get("programs") ?? "").split(",")) {
      groups.set(program.trim(), group);
    }
    if (keys.has("priority")) result.note(undefined, `[${name}] priority: give it to each process`);
  }
  const common = sections.find(({ name }) => name === "supervisord")?.keys.get("environment");
  const here = folderOf(document.file);
  for (const section of sections) {
    const [, name] = /^program:(.+)$/.exec(section.name) ?? [];
    if (name !== undefined) {
      addProgram(section, result, { name, group: groups.get(name), common, here, env });
    } else if (OWN_SECTIONS.test(section.name)) {
      result.note(undefined, `[${section.name}]: settings of supervisord itself`);
    } else if (!section.name.startsWith("group:")) {
      result.note(undefined, `[${section.name}]: not converted`);
    }
  }
  return result;
}

interface Program {
  readonly name: string;
  readonly group: string | undefined;
  readonly common: string | undefined;
  readonly here: string;
  readonly env: Readonly<Record<string, string>>;
}

function addProgram({ keys }: Section, result: ImportResult, program: Program): void {
  const count = Number(keys.get("numprocs") ?? 1);
  const first = Number(keys.get("numprocs_start") ?? 0);
  const counted = [...keys].some(([key, value]) =>
    key !== "process_name" && key in KEYS && value.includes("%(process_num)")
  );
  if (count > 1 && counted) {
    // Each instance has a command line of its own: they become processes of their own.
    const naming = keys.get("process_name") ?? "%(program_name)s_%(process_num)02d";
    for (let number = first; number < first + count; number++) {
      addOne(keys, result, program, expander(program, number)(naming), number);
    }
    return;
  }
  const name = addOne(keys, result, program, program.name, first);
  if (count > 1) result.processes[name]!.instances = count;
}

function addOne(
  keys: ReadonlyMap<string, string>,
  result: ImportResult,
  program: Program,
  name: string,
  number: number,
): string {
  const expand = expander(program, number);
  const converted: Keys = { min_uptime: "1s", stop_timeout: "10s" };
  if (program.common !== undefined) converted.env = environment(expand(program.common));
  const unmapped: string[] = [];
  for (const [key, value] of keys) {
    const convert = Object.hasOwn(KEYS, key) ? KEYS[key] : undefined;
    if (convert === undefined) {
      if (!NATURAL.has(key)) unmapped.push(key);
      continue;
    }
    for (const [to, made] of Object.entries(convert(expand(value), expand))) {
      const before = converted[to];
      const both = typeof made === "object" && !Array.isArray(made) && typeof before === "object";
      converted[to] = both ? { ...before, ...made as object } : made;
    }
  }
  if (program.group !== undefined) converted.namespace = program.group;
  const taken = result.add(name, converted);
  for (const key of unmapped) result.note(taken, `${key}: procsup has nothing for it`);
  return taken;
}

/** Fills in `%(…)s` and `%(…)02d`. */
function expander(program: Program, number: number): Expand {
  const known: Readonly<Record<string, string>> = {
    program_name: program.name,
    group_name: program.group ?? program.name,
    process_num: String(number),
    here: program.here,
    host_node_name: Deno.hostname(),
  };
  return (text) =>
    text.replace(/%%|%\((\w+)\)(0?)(\d*)([sd])/g, (whole, name?: string, zero = "", width = "") => {
      if (name === undefined) return "%";
      const value = name.startsWith("ENV_") ? program.env[name.slice(4)] : known[name];
      return value?.padStart(Number(width), zero === "0" ? "0" : " ") ?? whole;
    });
}

/** `KEY="value",KEY2=value` as a map. */
function environment(text: string): Record<string, string> {
  const pairs = text.matchAll(/([A-Za-z_]\w*)\s*=\s*("[^"]*"|'[^']*'|[^,]*)/g);
  return Object.fromEntries(
    [...pairs].map(([, key, value]) => [key, value!.trim().replace(/^(["'])(.*)\1$/s, "$2")]),
  );
}

function isTrue(value: string): boolean {
  return /^(true|yes|on|1)$/i.test(value);
}

function sectionsOf({ file, text }: ConfigDocument): Section[] {
  try {
    const sections = parseIni(text);
    if (sections.some(({ name }) => name.startsWith("program:"))) return sections;
    throw new ConfigProblem(file, "it has no [program:…] section");
  } catch (error) {
    if (!(error instanceof IniError)) throw error;
    const before = text.split("\n").slice(0, error.line - 1);
    const offset = before.reduce((sum, line) => sum + line.length + 1, 0);
    throw new ConfigProblem(file, `not valid ini: ${error.message}`, {
      place: placeAt(file, text, { offset, length: text.split("\n")[error.line - 1]!.length }),
    });
  }
}
