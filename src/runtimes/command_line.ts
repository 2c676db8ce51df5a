/** Turns a configuration into the command line to execute. */

import { ifPossible, refuseStart } from "../model/errors.ts";
import { shellWord } from "../model/shell_line.ts";
import { basename, dirname, isAbsolute, resolve } from "@std/path";
import { actingAs, headOfProgram } from "../platform/files/foreign_file.ts";
import type { OtherUser } from "../platform/users/as_user.ts";
import { isProcsup, ownWords } from "../platform/own_program.ts";
import { lookAt } from "../platform/files/stat.ts";
import { detectRuntime, isScript, type Runtime, runtimeNamed, RUNTIMES } from "./runtime_table.ts";
import {
  type CommandConfig,
  type Entry,
  extensionOf,
  findEntry,
  isBareWord,
  refuseEntrypoint,
  type Search,
  Tools,
} from "./programs.ts";

export interface CommandLine {
  /** The first word is an absolute path. */
  readonly argv: string[];
  /** Name of the resolved runtime; `auto` for a plain program. */
  readonly runtime: string;
}

/**
 * The command line of an app. It is computed at every start, since files and PATH may have changed.
 * An interpreter wins over a runtime, and a configured runtime over detection. Deno apps get all
 * permissions (`-A`).
 *
 * Throws `invalid_config` naming what is missing: working directory, entrypoint, its x bit, or
 * interpreter.
 */
export function commandLine(config: CommandConfig, search: Search): CommandLine {
  checkCwd(config, search.user);
  const { argv, runtime } = resolved(config, new Tools(config, search));
  if (argv.length === 1) checkFirstLine(config, argv[0]!, search.user);
  refuseUnreachable(config, argv, search.user);
  return { argv: [...argv, ...config.args], runtime };
}

function checkCwd({ name, cwd, entrypoint }: CommandConfig, user: OtherUser | undefined): void {
  const quoted = `cwd ${JSON.stringify(cwd)}`;
  let info: Deno.FileInfo;
  try {
    info = Deno.statSync(cwd);
  } catch (error) {
    const denied = error instanceof Deno.errors.PermissionDenied;
    // The missing entrypoint is reported instead.
    if (!denied && dirname(entrypoint) === cwd) return;
    const problem = `${quoted} ${denied ? "cannot be entered" : "does not exist"}`;
    return refuseStart(name, problem, { field: "cwd" });
  }
  if (!info.isDirectory) refuseStart(name, `${quoted} is not a directory`, { field: "cwd" });
  if (user === undefined || mayReach(user, `${cwd}/.`)) return;
  const problem = `${quoted} cannot be entered by user ${user.name ?? user.uid}`;
  refuseStart(name, problem, { field: "cwd" });
}

/** Root finds programs and scripts in folders that the app's user cannot enter. */
function refuseUnreachable(
  { name }: CommandConfig,
  argv: readonly string[],
  user: OtherUser | undefined,
): void {
  const path = user && argv.find((word) => isAbsolute(word) && !mayReach(user, word));
  if (path === undefined) return;
  refuseStart(name, `${JSON.stringify(path)} cannot be reached by user ${user!.name ?? user!.uid}`);
}

/** False only if the system says so: the launch decides. */
function mayReach(user: OtherUser, path: string): boolean {
  try {
    actingAs(user, () => Deno.statSync(path));
    return true;
  } catch (error) {
    return !(error instanceof Deno.errors.PermissionDenied);
  }
}

/** This command runs procsup itself, in the running version. */
const OWN_COMMAND = "procsup";

function resolved(config: CommandConfig, tools: Tools): CommandLine {
  if (config.entrypoint === OWN_COMMAND && config.interpreter === undefined && isProcsup()) {
    return { argv: [...ownWords()], runtime: "auto" };
  }
  if (config.useBundle) return { argv: bundleCommand(config, tools), runtime: "ruby" };
  const auto = config.runtime === "auto";
  const isGiven = config.interpreter !== undefined || !auto;
  const entry = findEntry(config, tools.path, isGiven ? () => true : isScript);
  if (config.interpreter !== undefined) {
    const runtime = auto ? runtimeOf(config.interpreter) : config.runtime;
    return { argv: [tools.need(config.interpreter), entry.path], runtime };
  }
  // A command such as `npm` or `gunicorn` knows its own interpreter, whatever the runtime.
  if (entry.isCommand) return { argv: [entry.path], runtime: config.runtime };
  const row = config.runtime === "auto"
    ? detectRuntime(entry, tools)
    : runtimeNamed(config.runtime);
  const argv = row === undefined ? [entry.path] : rowCommand(config, row, entry, tools);
  if (argv[0] === entry.path) checkProgram(config, entry);
  return { argv, runtime: row?.name ?? "auto" };
}

function rowCommand(config: CommandConfig, row: Runtime, entry: Entry, tools: Tools): string[] {
  if (entry.isFolder && !row.folders) {
    return refuseEntrypoint(config.name, entry.path, `is a folder, ${row.name} needs a file`);
  }
  return row.command(entry, tools);
}

function checkProgram(config: CommandConfig, entry: Entry): void {
  const { path } = entry;
  if (entry.isFolder) {
    refuseEntrypoint(config.name, path, "is a folder", "Name a file in it, or set runtime");
  }
  if (!entry.isExecutable) {
    const hint = `Run chmod +x ${shellWord(path)}, or set runtime or interpreter`;
    refuseEntrypoint(config.name, path, "is not executable", hint);
  }
}

/** Enough for `#!`, an interpreter and an argument. */
const FIRST_LINE_BYTES = 256;

/** Checks the interpreter of a script: if it is missing, the system reports the script instead. */
function checkFirstLine({ name }: CommandConfig, path: string, user?: OtherUser): void {
  // A program need not be readable.
  const start = ifPossible(() => headOfProgram(path, FIRST_LINE_BYTES, user)) ?? "";
  const [, interpreter, carriageReturn] = /^#![ \t]*(\/\S+)[^\r\n]*(\r?)/.exec(start) ?? [];
  if (interpreter === undefined) return;
  if (carriageReturn === "\r") {
    const hint = `sed -i 's/\\r$//' ${shellWord(path)}`;
    refuseEntrypoint(name, path, "has lines that end in CRLF, as on Windows", hint);
  }
  if (lookAt(interpreter) !== undefined) return;
  refuseEntrypoint(name, path, `begins with "#!${interpreter}", which does not exist`);
}

/** The runtime of an interpreter, by its name: `/opt/bin/python3.12` is Python. */
function runtimeOf(interpreter: string): string {
  const word = basename(interpreter).replace(/(?<![-\d.])[-\d.]+$/, "");
  return RUNTIMES.find((row) => row.name === word)?.name ?? "auto";
}

/** The command of `use_bundle`: with the gems of the Gemfile. Throws `invalid_config` for other runtimes. */
function bundleCommand(config: CommandConfig, tools: Tools): string[] {
  const { cwd, entrypoint, interpreter, runtime } = config;
  const extension = extensionOf(entrypoint);
  const foreign = extension !== "rb" && isScript(extension);
  if (runtime !== "ruby" && (runtime !== "auto" || (foreign && interpreter === undefined))) {
    const whose = runtime === "auto"
      ? `a .${extension} file`
      : `runtime ${JSON.stringify(runtime)}`;
    return refuseStart(config.name, `use_bundle is for ruby, not for ${whose}`);
  }
  const bundle = [tools.need("bundle"), "exec"];
  const isFile = () => lookAt(resolve(cwd, entrypoint))?.isFile;
  if (interpreter === undefined && extension !== "rb" && isBareWord(entrypoint) && !isFile()) {
    // A command of a gem, such as puma: bundler finds it even if it is not on PATH.
    return [...bundle, entrypoint];
  }
  const entry = findEntry(config, tools.path, () => true);
  if (entry.isFolder) return refuseEntrypoint(config.name, entry.path, "is a folder");
  if (interpreter !== undefined) return [...bundle, tools.need(interpreter), entry.path];
  const asItIs = runtime === "auto" && extension !== "rb" && entry.isExecutable;
  return asItIs ? [...bundle, entry.path] : [...bundle, "ruby", entry.path];
}
