/** Converts mprocs.yaml. */

import { isMap, mapOf } from "../model/merge_patch.ts";
import { shellCommand } from "../model/shell_line.ts";
import { join } from "@std/path";
import { systemName } from "../platform/os.ts";
import type { ConfigDocument } from "../config/document.ts";
import { ConfigProblem } from "../config/problem.ts";
import {
  convertedKeys,
  handled,
  type ImportContext,
  type Imported,
  type Importer,
  type ImportTable,
  type Keys,
  logFiles,
  lost,
  UNLIMITED,
  UNSUPPORTED,
} from "./imported.ts";
import { ImportResult } from "./import_result.ts";
import { reference } from "./references.ts";

export const mprocs: Importer = {
  matches: ({ kind, value }) =>
    isMap(value) && isMap(value.procs) && (kind === "mprocs" || kind === "yaml"),
  convert,
};

/** Keys of the file that only concern its windows and keys. */
const FILE_KEYS: ImportTable<unknown, undefined> = {
  ...handled("procs", "proc_log", "hide_keymap_window", "mouse_scroll_speed", "scrollback"),
  ...handled("proc_list_width", "proc_list_title", "keymap_procs", "keymap_term", "keymap_copy"),
  server: "procsup web, or its socket",
};

const KEYS: ImportTable<unknown, { readonly name: string; readonly common: unknown }> = {
  shell: (value) => shellCommand(String(value)),
  cmd: (value) => {
    const [entrypoint, ...args] = Array.isArray(value) ? value.map(String) : [String(value)];
    return { entrypoint, args };
  },
  cwd: (value) => ({ cwd: placed(value) }),
  env: (value) => {
    const entries = Object.entries(mapOf(value));
    const cleared = entries.filter(([, text]) => text === null).map(([name]) => name);
    return {
      env: Object.fromEntries(
        entries.filter(([, text]) => text !== null).map(([name, text]) => [name, String(text)]),
      ),
      lost: cleared.length === 0
        ? undefined
        : `inherit_env: it is not cleared: ${cleared.join(", ")}`,
    };
  },
  add_path: (value) => ({ env: { PATH: [...[value].flat(), reference("PATH", "")].join(":") } }),
  autostart: (value) => value === false ? { autostart: false } : {},
  // A run of less than a second is not restarted.
  autorestart: (value) =>
    value === true ? { restart_policy: "always", min_uptime: "1s", ...UNLIMITED } : {},
  stop: (value) => stop(value),
  log: (value, { name, common }) => log(value, name, common),
};

function convert(document: ConfigDocument, context: ImportContext): Imported {
  const { file, value } = document;
  const { procs, ...rest } = mapOf(selected(value));
  if (!isMap(procs) || Object.keys(procs).length === 0) {
    throw new ConfigProblem(file, "procs: expected a map of names");
  }
  const result = new ImportResult(document, { context });
  const { notes } = convertedKeys(FILE_KEYS, Object.entries(rest), undefined);
  result.note(undefined, ...notes);
  for (const [name, given] of Object.entries(procs)) {
    // Null removes a process of the user's own file.
    if (given === null) continue;
    const path = ["procs", name];
    const proc = typeof given === "string" ? { shell: given } : given;
    if (!isMap(proc) || (proc.shell ?? proc.cmd) === undefined) {
      result.skip(name, path, "expected shell or cmd");
      continue;
    }
    const common = rest.proc_log;
    const all = {
      ...proc,
      ...(common === undefined || proc.log !== undefined ? {} : { log: common }),
    };
    const { keys, notes, origins } = convertedKeys(KEYS, Object.entries(all), { name, common });
    const taken = result.add(name, {
      // mprocs runs each in a terminal.
      ...{ tty: true, restart_policy: "never", ...keys },
    }, { path, keys: origins });
    result.note(taken, ...notes);
    const inner = Object.keys(mapOf(proc.log)).filter((key) => key === "mode");
    result.note(taken, ...inner.map((key) => lost(["log", key], UNSUPPORTED)));
  }
  return result.imported();
}

/** The value with the branch for this system in place of each `$select`. */
function selected(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(selected);
  if (!isMap(value)) return value;
  if (value.$select === "os") return selected(value[systemName()] ?? value.$else);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, selected(inner)]));
}

/** A path, in which `<CONFIG_DIR>` is the folder of the file. */
function placed(path: unknown): string {
  const [, rest] = /^<CONFIG_DIR>\/?(.*)$/.exec(String(path)) ?? [];
  return rest === undefined ? String(path) : rest === "" ? "." : `./${rest}`;
}

function stop(value: unknown): Keys & { lost?: string } {
  if (typeof value === "string") {
    if (value === "hard-kill") return { stop_signal: "SIGKILL" };
    return { stop_signal: value.replace(/^(?!SIG)/, "SIG") };
  }
  const { cmd, "send-keys": keys } = mapOf(value);
  if (typeof cmd === "string") return { hooks: { pre_stop: cmd } };
  const [key] = Array.isArray(keys) ? keys : [];
  if (key === "<C-c>") return { stop_signal: "SIGINT" };
  return { lost: "stop_signal, or hooks.pre_stop with procsup send" };
}

function log(value: unknown, name: string, common: unknown): Keys {
  const given = typeof value === "string" ? { dir: value } : mapOf(value);
  const { dir, file = "{name}.log", enabled = true } = { ...mapOf(common), ...given };
  if (value === false || enabled === false || dir === undefined) return {};
  const path = join(
    placed(dir),
    String(file).replaceAll("{name}", name).replace(/\{(id|pid|ts)\}/g, ""),
  );
  return logFiles({ stdout: path, stderr: path, folder: "/" });
}
