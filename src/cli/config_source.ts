/** The configuration files and the profile that a command line names, and the flags that fit them. */

import { discover, discovered, isOwnName, kindOf } from "../config/file_kind.ts";
import type { LoadedConfig } from "../config/load_config.ts";
import { noteLines } from "../config/problem.ts";
import { offeredTools } from "../config/tools.ts";
import type { Host } from "../contexts/ssh.ts";
import { ifPossible, ProcsupError, quote } from "../model/errors.ts";
import { onlyGiven } from "../model/merge_patch.ts";
import { shellWord } from "../model/shell_line.ts";
import { limitProblem } from "../model/target.ts";
import { lookAt, namesIn } from "../platform/files/stat.ts";
import { basename, resolve } from "@std/path";
import { shellEnvironment } from "../platform/launch/inherited_environment.ts";
import { fromHere, here } from "../platform/files/paths.ts";
import type { CommandContext } from "./command.ts";
import { commandHint, type Hint } from "../model/hint.ts";

/** Files that were read. */
interface ConfigSource {
  /** Absolute. */
  readonly files: readonly string[];
  readonly loaded: LoadedConfig;
  /** Fields of the request to the daemon. */
  readonly payload: Applied & { readonly variables?: Readonly<Record<string, string>> };
}

/** Selects the part of the files that is applied. */
interface Applied {
  readonly profile?: string;
  readonly only?: string;
}

interface ReadOptions {
  /** Whether variables may be set on another machine; by default as `--no-files` says. */
  readonly elsewhere?: boolean;
  /** Whether the apps are removed: then it does not matter what procsup lacks. */
  readonly removes?: boolean;
}

/**
 * Reads the named files, or the one in the current directory. Prints a note for each setting that
 * procsup lacks. Throws `ConfigProblems`.
 */
export async function readSource(
  context: CommandContext,
  words: readonly string[],
  { elsewhere = context.flags.on("no-files"), removes = false }: ReadOptions = {},
): Promise<ConfigSource> {
  const { loadConfig } = await import("../config/load_config.ts");
  const { flags, output, host } = context;
  if (host !== undefined) {
    throw new ProcsupError("bad_request", `Cannot read files of ${host.machine} here`, {
      hint: `Run it there: ssh ${host.destination} procsup ${context.command.name} …`,
    });
  }
  refuseApps(context, words);
  const files = words.length > 0 ? words.map(fromHere) : [fileHere(context)];
  const profile = profileOf(context);
  const loaded = await loadConfig({
    files,
    env: Deno.env.toObject(),
    assumeVariables: elsewhere,
    profile,
  });
  const notes = removes ? [] : noteLines(loaded.notes, flags.on("notes"));
  for (const line of notes) output.note(line);
  return {
    files,
    loaded,
    payload: { variables: loaded.variables, profile, only: flags.text("only") },
  };
}

/** Throws `bad_request` for apps in place of files: people of compose write `up api`. */
function refuseApps({ command, flags, positionals }: CommandContext, words: readonly string[]) {
  const takesOnly = command.flags.some(({ name }) => name === "only");
  const apps = words.filter((word) => limitProblem(word) === undefined && !isFileName(word));
  const [app] = apps;
  if (app === undefined || !takesOnly) return;
  const files = words.filter((word) => !apps.includes(word));
  if (files.length === 0 && discover(here()) === undefined) return;
  const own = command.flags.filter(({ name, type }) => type !== "list" && name !== "only");
  const given = own.map(({ name }) => [name, flags.on(name) || flags.text(name)]);
  throw new ProcsupError("bad_request", `Cannot read ${quote(app)}: no such file`, {
    hint: {
      text: "Choose apps of the file by --only",
      command: {
        verb: [command.name, ...positionals.slice(0, -words.length)].join(" "),
        ...files.length > 0 && { args: files },
        flags: {
          ...onlyGiven(Object.fromEntries(given)),
          only: [flags.text("only") ?? [], apps].flat().join(","),
        },
      },
    },
  });
}

/** Whether a word is a file here, or has the name of a configuration file. */
function isFileName(word: string): boolean {
  return kindOf(word) !== undefined || lookAt(fromHere(word))?.isFile === true;
}

/** Like `readSource()`; with `--host`, the daemon there reads its own files and variables. */
export async function filesOf(
  context: CommandContext,
  words: readonly string[],
  options?: ReadOptions,
): Promise<Omit<ConfigSource, "loaded"> & Partial<Pick<ConfigSource, "loaded">>> {
  const { host, flags } = context;
  if (host === undefined) return await readSource(context, words, options);
  if (words.length === 0) throw nameTheFile(host);
  const { cwd } = await host.hello();
  return {
    files: words.map((word) => resolve(cwd, word)),
    payload: { profile: profileOf(context), only: flags.text("only") },
  };
}

/** The environment of this shell, for new apps of files; with `--update-env` for all of them. */
export function shellOf(
  { host, flags }: CommandContext,
): { readonly shell_env?: Readonly<Record<string, string>>; readonly update_env?: boolean } {
  const update_env = flags.on("update-env");
  if (host === undefined) return { shell_env: shellEnvironment(), update_env };
  if (!update_env) return {};
  throw new ProcsupError("bad_request", "Cannot use --update-env with --host", {
    hint: "This shell's environment is not that machine's: name variables by env in the file",
  });
}

/** The error for a missing file name: files on another machine are not discovered. */
export function nameTheFile({ machine }: Host): ProcsupError {
  return new ProcsupError("bad_request", `Name a file: none is searched for on ${machine}`, {
    hint: commandHint("help", "remote"),
  });
}

/** Suggests importing a file that must be converted first, such as that of docker compose. */
export function hintForFolder(cwd: string): Hint | string {
  const names = (ifPossible(() => namesIn(cwd)) ?? []).sort();
  for (const { name, kind, searched = [], convertOnly } of offeredTools()) {
    if (convertOnly !== true) continue;
    const file = searched.find((one) => names.includes(one)) ??
      names.find((one) => kindOf(one) === kind);
    if (file !== undefined) return `procsup import ${name} ${shellWord(file)} --out procsup.yaml`;
  }
  return commandHint("init");
}

/** The configuration file in the current directory. Prints its name if it is another tool's. */
export function fileHere({ output }: CommandContext): string {
  const file = discovered(here());
  if (!isOwnName(file)) output.note(`using ${basename(file)}`);
  return file;
}

/** The requested profile: `--profile`, PM2's `--env production`, or `PROCSUP_PROFILE`. */
export function profileOf({ flags }: CommandContext): string | undefined {
  const environment = flags.list("env").find((word) => !word.includes("="));
  return flags.text("profile") ?? environment ?? (Deno.env.get("PROCSUP_PROFILE") || undefined);
}

/** Flags of `start` and `run` that select a part of a file. */
const SELECTION = ["only", "profile", "notes", "single", "now", "update-env"];

/** Flags of them that fit a file; all others configure one app. */
const FITTING = new Set([
  ...SELECTION,
  ...["env", "no-wait", "detach", "critical", "no-prefix", "ready-file"],
  ...["keep-stopped", "prune", "dry-run", "last"],
]);

/** Throws `bad_request` for flags that configure one app. `--env` may name a profile. */
export function refuseAppFlags({ flags, command }: CommandContext): void {
  const own = new Set(command.flags.map(({ name }) => name));
  const given = flags.names().find((name) =>
    (own.has(name) && !FITTING.has(name)) ||
    (name === "env" && flags.list("env").some((word) => /[=/]|\.env\b/.test(word)))
  );
  if (given === undefined) return;
  throw new ProcsupError("bad_request", `Cannot use --${given} with a configuration file`, {
    hint: "Write it into the file; one of another tool: procsup import <file> --out procsup.yaml",
  });
}

/** Throws `bad_request` for flags that select a part of a file. */
export function refuseFileFlags({ flags, command }: CommandContext): void {
  const given = flags.names().find((name) => SELECTION.includes(name));
  if (given === undefined) return;
  throw new ProcsupError("bad_request", `Cannot use --${given} without a configuration file`, {
    hint: commandHint("help", command.name),
  });
}
