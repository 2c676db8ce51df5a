/** Converts circus.ini: watchers, their environments and sockets. */

import { mapOf, mergePatch } from "../model/merge_patch.ts";
import { nameTest } from "../model/glob.ts";
import { shellCommand, splitWords } from "../model/shell_line.ts";
import { dirname, resolve } from "@std/path";
import type { ConfigDocument } from "../config/document.ts";
import { ConfigProblem } from "../config/problem.ts";
import { readText } from "../config/read_document.ts";
import { filesMatching } from "./file_patterns.ts";
import {
  alike,
  convertedKeys,
  handled,
  type ImportContext,
  type Imported,
  type Importer,
  type ImportTable,
  type Keys,
  logFiles,
  lost,
  lostLog,
  seconds,
  UNLIMITED,
  UNSUPPORTED,
} from "./imported.ts";
import { ImportResult } from "./import_result.ts";
import { emptyIni, type Ini, isTrue } from "./ini.ts";
import { reference } from "./references.ts";

export const circus: Importer = {
  matches: ({ kind, text }) =>
    kind === "circus" || (kind === "supervisord" && /^\[watcher:/m.test(text)),
  convert,
};

type Section = ReadonlyMap<string, string>;

/** Keys of [circus] that concern circus itself. */
const OWN_KEYS: ImportTable<string, undefined> = {
  ...handled("endpoint", "endpoint_owner", "pubsub_endpoint", "stats_endpoint", "check_delay"),
  ...handled("statsd", "statsd_close_outputs", "include", "include_dir", "stream_backend", "debug"),
  ...handled("debug_gc", "pidfile", "loglevel", "logoutput", "loggerconfig", "warmup_delay"),
  ...alike("procsup web", "httpd", "httpd_host", "httpd_port", "httpd_close_outputs"),
};

const RLIMITS: Readonly<Record<string, string>> = {
  rlimit_nofile: "nofile",
  rlimit_nproc: "nproc",
  rlimit_core: "core",
  rlimit_as: "address_space",
  rlimit_fsize: "file_size",
};

interface WatcherContext {
  readonly keys: Section;
  readonly folder: string;
}

const KEYS: ImportTable<string, WatcherContext> = {
  ...handled("cmd", "args", "shell", "shell_args", "use_sockets", "singleton", "copy_env"),
  ...handled("close_child_stdin", "close_child_stdout", "close_child_stderr", "max_age_variance"),
  ...handled("stdout_stream.class", "stderr_stream.class", "warmup_delay", "send_hup"),
  numprocesses: (value) => ({ instances: Number(value) }),
  working_dir: (value) => ({ cwd: value }),
  uid: (value) => ({ uid: idOf(value) }),
  gid: (value) => ({ gid: idOf(value) }),
  autostart: (value) => isTrue(value) ? {} : { autostart: false },
  // The highest starts first.
  priority: (value) => ({ priority: -Number(value) }),
  stop_signal: (value) => ({ stop_signal: value.replace(/^(?!SIG|\d)/i, "SIG") }),
  stop_children: (value) => isTrue(value) ? { stop_mode: "group" } : {},
  graceful_timeout: (value) => ({ stop_timeout: seconds(value) }),
  max_age: (value) => value === "0" ? {} : { max_age: seconds(value) },
  respawn: (value) => isTrue(value) ? {} : { restart_policy: "never" },
  max_retry: (value) => value === "-1" ? {} : { max_restarts: Number(value), restart_window: "1m" },
  virtualenv: (value) => ({
    env: { VIRTUAL_ENV: value, PATH: `${value}/bin:${reference("PATH", "")}` },
  }),
  "stdout_stream.filename": lostLog,
  "stderr_stream.filename": lostLog,
  ...alike((value: string) => ({ log: { max_size: `${value}B` } }), "stdout_stream.max_bytes"),
  ...alike(
    (value: string) => ({ log: { max_files: Number(value) } }),
    "stdout_stream.backup_count",
  ),
  "stderr_stream.max_bytes": (value, { keys }) => bothOr(value, keys, "max_size", "max_bytes"),
  "stderr_stream.backup_count": (value, { keys }) =>
    bothOr(value, keys, "max_files", "backup_count"),
  copy_path: (value) => isTrue(value) ? { lost: "env: { PYTHONPATH: … }" } : {},
  on_demand: "procsup start starts it",
  ...Object.fromEntries(
    Object.entries(RLIMITS).map((
      [key, own],
    ) => [key, (value: string) => ({ limits: { [own]: Number(value) } })]),
  ),
};

/** A setting of the log of stderr: procsup has one for both streams. */
function bothOr(
  value: string,
  keys: Section,
  own: string,
  setting: string,
): Keys & { lost?: string } {
  const other = keys.get(`stdout_stream.${setting}`);
  if (other === value) return {};
  if (other !== undefined) return { lost: `log.${own} holds for each of both streams` };
  return { log: { [own]: own === "max_size" ? `${value}B` : Number(value) } };
}

function idOf(value: string): string | number {
  return /^\d+$/.test(value) ? Number(value) : value;
}

function convert(document: ConfigDocument, context: ImportContext): Imported {
  const { file } = document;
  const ini = readIni(document);
  const { sections, placeOf } = ini;
  const result = new ImportResult(document, { context, placeOf });
  const watchers = [...sections].filter(([name]) => /^watcher:./.test(name));
  if (watchers.length === 0) throw new ConfigProblem(file, "no [watcher:…] section");
  const itself = sections.get("circus") ?? new Map<string, string>();
  const { notes } = convertedKeys(OWN_KEYS, itself, undefined);
  result.note(
    undefined,
    ...notes.map(({ path, text }) => lost(["circus", ...path], text, "[circus]")),
  );
  for (const [section, keys] of watchers) addWatcher(section, keys, ini, result);
  for (const name of sections.keys()) {
    if (/^(circus|env|watcher:.*|env:.*|socket:.*)$/.test(name)) continue;
    const why = name.startsWith("plugin:") ? "webhooks, health_check or max_memory" : UNSUPPORTED;
    result.note(undefined, lost([name], why, `[${name}]`));
  }
  return result.imported();
}

/** The sections of a file and of those that it includes. */
function readIni({ file, text }: ConfigDocument): Ini {
  const ini = emptyIni();
  ini.add(file, text);
  const { include = "", include_dir } = Object.fromEntries(ini.sections.get("circus") ?? []);
  const patterns = [
    ...include.split(/\s+/).filter(Boolean),
    ...(include_dir === undefined ? [] : [`${include_dir}/*.ini`]),
  ];
  for (const pattern of patterns) {
    for (const one of filesMatching(resolve(dirname(file), pattern))) ini.add(one, readText(one));
  }
  return ini;
}

function addWatcher(section: string, keys: Section, ini: Ini, result: ImportResult): void {
  const name = section.replace(/^watcher:/, "");
  const cmd = keys.get("cmd");
  if (cmd === undefined) return result.skip(name, [section], "it has no cmd");
  const line = `${cmd} ${keys.get("args") ?? ""}`.trim();
  const count = Number(keys.get("numprocesses") ?? 1);
  const isNumbered = count > 1 && WID.test(line);
  for (let wid = 1; wid <= (isNumbered ? count : 1); wid++) {
    const env = environmentOf(name, ini);
    const { sockets, text } = withSockets(filled(line, wid, env), ini);
    const { folder } = result;
    const values = new Map([...keys].map(([key, value]) => [key, filled(value, wid, env)]));
    const { keys: own, notes, origins } = convertedKeys(KEYS, values, { keys, folder });
    const program = isTrue(keys.get("shell")) ? shellCommand(text) : programOf(text);
    const common: Keys = {
      ...program,
      env,
      // Without it, a watcher has the variables of its [env] sections only.
      inherit_env: isTrue(keys.get("copy_env")) ? undefined : ["PATH"],
      restart_policy: "always",
      stop_mode: "leave",
      stop_timeout: "30s",
      ...UNLIMITED,
      sockets,
      ...logFiles({
        stdout: values.get("stdout_stream.filename"),
        stderr: values.get("stderr_stream.filename"),
        folder,
        suffix: isNumbered || count === 1 ? "" : "-{instance}",
      }),
    };
    const all = mergePatch(common, own) as Keys;
    const taken = result.add(isNumbered ? `${name}-${wid}` : name, {
      ...all,
      ...(isNumbered ? { instances: undefined, namespace: name } : {}),
      ...(keys.has("max_retry") ? {} : { max_restarts: undefined }),
    }, { path: [section], keys: { ...origins, entrypoint: "cmd", args: "args" } });
    result.note(taken, ...notes);
  }
}

function programOf(line: string): Keys {
  const [entrypoint, ...args] = splitWords(line);
  return { entrypoint, args };
}

const WID = /\$\(circus\.wid\)|\(\(circus\.wid\)\)|\$WID\b/i;

/** Fills in the number of the process, and variables. */
function filled(text: string, wid: number, env: Keys): string {
  return text.replace(
    /(?:\$\(|\(\()circus\.(?:(wid)|env\.(\w+))\)\)?|\$(WID)\b/gi,
    (_, _number?: string, name?: string) => {
      if (name === undefined) return String(wid);
      const known = Object.entries(mapOf(env)).find(([key]) =>
        key.toLowerCase() === name.toLowerCase()
      );
      return known === undefined ? reference(name.toUpperCase()) : String(known[1]);
    },
  );
}

/** The variables of [env] and of the [env:…] sections whose names or patterns match. */
function environmentOf(watcher: string, { sections }: Ini): Keys {
  const pairs = [...sections].flatMap(([name, keys]) => {
    const [, list] = /^env:(.*)$/.exec(name) ?? [];
    const isOwn = name === "env" ||
      list?.split(",").some((pattern) => nameTest(pattern.trim())(watcher));
    return isOwn ? [...keys] : [];
  });
  return Object.fromEntries(
    pairs.map(([key, value]) => [
      key.toUpperCase(),
      value.replace(/\$(\w+)/g, (_, name) => reference(name, "")),
    ]),
  );
}

/** The sockets that a command uses, by the numbers of the descriptors that procsup passes. */
function withSockets(line: string, { sections }: Ini) {
  const sockets: string[] = [];
  const text = line.replace(/(?:\$\(|\(\()circus\.sockets\.(\w+)\)\)?/gi, (whole, name: string) => {
    const found = [...sections].find(([key]) =>
      key.toLowerCase() === `socket:${name.toLowerCase()}`
    );
    if (found === undefined) return whole;
    const [, keys] = found;
    const path = keys.get("path");
    const at = path === undefined
      ? `${keys.get("host") ?? "127.0.0.1"}:${keys.get("port") ?? 8080}`
      : `unix:${path}`;
    if (!sockets.includes(at)) sockets.push(at);
    return String(3 + sockets.indexOf(at));
  });
  return { sockets, text };
}
