/** `procsup start`: starts new or existing apps; and `restart` with its flags. */

import { nearestWord } from "../../model/nearest_word.ts";
import { hasCode, ifPossible, ProcsupError } from "../../model/errors.ts";
import { baseName } from "../../model/name.ts";
import { shellWord } from "../../model/shell_line.ts";
import { basename, resolve } from "@std/path";
import { shellEnvironment } from "../../platform/launch/inherited_environment.ts";
import { here } from "../../platform/files/paths.ts";
import { lookAt } from "../../platform/files/stat.ts";
import type { DaemonClient } from "../../protocol/daemon_client.ts";
import { selectProcesses } from "../../protocol/select_processes.ts";
import type { BulkResult, ProcessJson, ProcessResult, StartPayload } from "../../protocol/wire.ts";
import type { CommandContext } from "../command.ts";
import { configKeys, type Place, placeOf, some } from "../config_flags.ts";
import { connect, withDaemonStarted } from "../connect.ts";
import { hintForFolder, nameTheFile, refuseFileFlags } from "../config_source.ts";
import { withProcesses } from "../progress.ts";
import { forEachTarget, noteFromShell, printResults, tryEach } from "../results.ts";
import { isTargetForm } from "../../model/target.ts";
import { onPathHint, startPayloads } from "../start_payload.ts";
import type { Hint } from "../../model/hint.ts";

/** Starts everything named. The worst exit code wins. */
export async function start(context: CommandContext): Promise<number | void> {
  const place = await placeOf(context);
  const files = await configFiles(context, place);
  if (files !== undefined) return await (await import("./config.ts")).up(context, files);
  refuseNothing(context, place);
  refuseFileFlags(context);
  const { positionals, rest, host, flags } = context;
  const payloads = startPayloads({ positionals, rest, ...place });
  const client = connect(context);
  const wait = !flags.on("no-wait");
  const shell_env = host === undefined ? shellEnvironment() : undefined;
  const fromShell = new Set<string>();
  const results: ProcessResult[] = [];
  let isCommandLine = false;
  const worst = await tryEach(context.command.name, payloads, async (payload) => {
    // `start npm run web`: the other words are arguments.
    if (isCommandLine) return;
    try {
      const own = payload.target === undefined ? { ...payload, shell_env } : payload;
      const act = () => withProcesses(context, () => client.call("start", { ...own, wait }));
      const answer = await withDaemonStarted(context, act);
      results.push(...answer.results);
      answer.from_shell?.forEach((name) => fromShell.add(name));
    } catch (error) {
      isCommandLine = payload === payloads[0] && isCommand(error, payload);
      throw host === undefined
        ? await helped(error, payload, isCommandLine ? context : undefined)
        : missingThere(error, payload, place.cwd);
    }
  });
  if (results.length === 0 && worst !== 0) return worst;
  const code = await printResults(context.output, { status: "started", results });
  noteFromShell(context, [...fromShell]);
  return Math.max(worst, code);
}

/** The named configuration files; empty for the one in this folder; undefined without any. */
async function configFiles(
  { positionals, rest, host }: CommandContext,
  { cwd, isFile }: Place,
): Promise<readonly string[] | undefined> {
  if (rest !== undefined && rest.length > 0) return undefined;
  const { discover, isConfigName } = await import("../../config/file_kind.ts");
  if (positionals.length === 0) {
    return host !== undefined || discover(cwd) === undefined ? undefined : [];
  }
  const files = positionals.filter((word) => isConfigName(word) && isFile(resolve(cwd, word)));
  if (files.length === positionals.length) return files;
  if (files.length === 0) return undefined;
  throw new ProcsupError(
    "bad_request",
    `Cannot start "${files[0]}" together with apps: it is a file of apps`,
    {
      hint: `procsup start ${files.map(shellWord).join(" ")}`,
    },
  );
}

function refuseNothing(
  { positionals, rest, host }: CommandContext,
  { cwd }: Place,
): void {
  if (positionals.length > 0 || (rest !== undefined && rest.length > 0)) return;
  if (host !== undefined) throw nameTheFile(host);
  throw new ProcsupError("bad_request", "Nothing to start: no word, and no procsup.yaml here", {
    hint: hintForFolder(cwd),
  });
}

/** Adds a hint for a file that is missing on another machine, but may exist here. */
function missingThere(error: unknown, { target }: StartPayload, cwd: string): unknown {
  const isMissing = hasCode(error, "process_not_found");
  if (!isMissing || target === undefined) return error;
  return new ProcsupError(error.code, `${error.message}, and no such file in ${cwd} there`, {
    near: error.near,
    hint: lookAt(target)?.isFile
      ? `Paths are those of that machine, and ${target} is on this one: copy it with scp or rsync`
      : { text: "Paths are on that machine", command: { verb: "help", target: "remote" } },
  });
}

/** Adds a hint that only the command line can give. */
async function helped(
  error: unknown,
  payload: StartPayload,
  command?: CommandContext,
): Promise<unknown> {
  if (!(error instanceof ProcsupError)) return error;
  const hint = command === undefined
    ? await hintFor(error, payload)
    : onPathHint(command.positionals);
  const missing = error.code === "process_not_found" && payload.target !== undefined;
  // What else is in it, such as the last output, is printed for programs.
  if (hint === undefined && !missing) return error;
  const message = missing
    ? `Cannot start "${payload.target}": no such file here, and no process of that name`
    : error.message;
  return new ProcsupError(error.code, message, { hint: hint ?? error.hint, near: error.near });
}

async function hintFor(
  error: ProcsupError,
  { target, name }: StartPayload,
): Promise<Hint | string | undefined> {
  if (error.code === "name_taken") {
    return {
      text: "Use another --name, or restart it",
      command: { verb: "restart", target: String(name) },
    };
  }
  if (error.code !== "process_not_found" || target === undefined) return undefined;
  const found = lookAt(target);
  if (found?.isDirectory || (found?.isFile && isTargetForm(target))) {
    const what = found.isDirectory ? "folder" : "file";
    return `To start this ${what}: procsup start ${shellWord(`./${target}`)}`;
  }
  const near = nearestWord(target, filesHere());
  if (near !== undefined) return `Did you mean "${near}"?`;
  // The daemon has suggested a similar name.
  if (error.near !== undefined) return undefined;
  const { discover } = await import("../../config/file_kind.ts");
  const file = discover(here());
  return file === undefined
    ? "The processes: procsup list"
    : `If ${basename(file)} has it: procsup start --only ${target}`;
}

/** True if the word names a program on PATH, not a process. */
function isCommand(error: unknown, { target }: StartPayload): boolean {
  const folders = (Deno.env.get("PATH") ?? "").split(":").filter((folder) => folder !== "");
  return hasCode(error, "process_not_found") && target !== undefined &&
    folders.some((folder) => lookAt(`${folder}/${target}`)?.isFile);
}

function filesHere(): string[] {
  return ifPossible(() =>
    [...Deno.readDirSync(".")].filter(({ isFile }) => isFile).map(({ name }) => name)
  ) ?? [];
}

/**
 * Changes the configuration of each target, app by app, and restarts processes that the change did
 * not restart. If the new configuration does not come up, the old one is restored.
 */
export async function restartChanged(context: CommandContext, wait: boolean): Promise<number> {
  const { flags, rest } = context;
  if (context.host !== undefined && flags.on("update-env")) {
    throw new ProcsupError("bad_request", "Cannot use --update-env with --host", {
      hint: "This shell's environment is not that machine's: name variables by -e",
    });
  }
  const keys = { ...configKeys(await placeOf(context)), ...some("args", rest ?? []) };
  return await forEachTarget(context, async (client, target) => {
    const found = selectProcesses(await client.call("list"), [target]);
    const apps = [...Map.groupBy(found, ({ name }) => baseName(name))];
    const results: ProcessResult[] = [];
    for (const [name, processes] of apps) {
      const own = apps.length === 1 ? target : name;
      const config = flags.on("update-env")
        ? { ...keys, shell_env: shellPatch(processes[0]!) }
        : keys;
      const change = { target: own, config, wait_ready: wait };
      results.push(...await restartApp(context, client, change, processes, wait));
    }
    return { status: "restarted", results };
  });
}

/** A merge patch that replaces the recorded environment with that of this shell. */
function shellPatch({ config }: ProcessJson): Record<string, string | null> {
  const gone = Object.keys(config.shell_env ?? {}).map((name) => [name, null]);
  return { ...Object.fromEntries(gone), ...shellEnvironment() };
}

async function restartApp(
  { output }: CommandContext,
  client: DaemonClient,
  change: { readonly target: string; readonly config: Record<string, unknown> },
  before: readonly ProcessJson[],
  wait: boolean,
): Promise<BulkResult["results"]> {
  const { results, rolled_back } = await client.call("reconfigure", change);
  if (rolled_back) output.note(`${change.target}: the old configuration is on all of them again`);
  if (results.some(({ ok }) => !ok)) return results;
  const pids = new Map(before.map(({ id, pid }) => [id, pid]));
  // Processes that are stopped, or took the change while running, were not restarted.
  const kept = results.filter(({ id, pid }) => pids.get(id) === pid);
  const restarted = await Promise.all(
    kept.map(({ name }) => client.call("restart", { target: name, wait })),
  );
  const again = restarted.flatMap((bulk) => bulk.results);
  return results.map((result) => again.find(({ id }) => id === result.id) ?? result);
}
