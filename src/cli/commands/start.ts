/** `procsup start`: starts new or existing apps. */

import { nearestWord } from "../../model/nearest_word.ts";
import { ERROR_TABLE, hasCode, ifPossible, ProcsupError } from "../../model/errors.ts";
import { shellWord } from "../../model/shell_line.ts";
import { basename, resolve } from "../../npm/path.js";
import { shellEnvironment } from "../../platform/inherited_environment.ts";
import { here } from "../../platform/paths.ts";
import { lookAt } from "../../platform/stat.ts";
import type { ActionResult, StartPayload } from "../../protocol/wire.ts";
import type { CommandContext } from "../command.ts";
import { connect, withDaemonStarted } from "../connect.ts";
import { refuseFileFlags } from "../config_source.ts";
import { withProcesses } from "../progress.ts";
import { type Place, placeOf } from "../place.ts";
import { reportError } from "../report_error.ts";
import { printResults } from "../results.ts";
import { commandHint, startPayloads } from "../start_payload.ts";

/** Maximum number of shell variables that are listed after a start. */
const MAX_NAMES = 8;

/** Starts everything named. The worst exit code wins. */
export async function start(context: CommandContext): Promise<number> {
  const place = await placeOf(context);
  const files = await configFiles(context, place);
  if (files !== undefined) {
    return await (await import("./up.ts")).up(context, files);
  }
  await refuseNothing(context, place);
  refuseFileFlags(context);
  const payloads = startPayloads({
    positionals: context.positionals,
    rest: context.rest,
    ...place,
  });
  const client = connect(context);
  const wait = !context.flags.on("no-wait");
  const shell_env = context.host === undefined ? shellEnvironment() : undefined;
  const fromShell = new Set<string>();
  const results: ActionResult[] = [];
  let worst = 0;
  for (const [index, payload] of payloads.entries()) {
    try {
      const own = payload.target === undefined ? { ...payload, shell_env } : payload;
      const act = () => withProcesses(context, () => client.call("start", { ...own, wait }));
      const answer = await withDaemonStarted(context, act);
      results.push(...answer.results);
      answer.from_shell?.forEach((name) => fromShell.add(name));
    } catch (error) {
      const command = index === 0 && results.length === 0 && isCommand(error, payload);
      const said = context.host === undefined
        ? await helped(error, payload, command ? context : undefined)
        : missingThere(error, payload, place.cwd);
      const code = reportError(said, context.command.name);
      worst = Math.max(worst, code);
      // `start npm run web`: the other words are arguments.
      if (command || code === ERROR_TABLE.daemon_unreachable.exit) break;
    }
  }
  if (results.length === 0 && worst !== 0) return worst;
  const code = await printResults(context.output, { status: "started", results });
  if (fromShell.size > 0) context.output.note(`from this shell: ${shortList([...fromShell])}`);
  return Math.max(worst, code);
}

/** The first names, and the number of the others. */
function shortList(names: readonly string[]): string {
  const shown = names.slice(0, names.length > MAX_NAMES ? MAX_NAMES - 1 : MAX_NAMES);
  const more = names.length - shown.length;
  return shown.join(", ") + (more > 0 ? ` and ${more} more` : "");
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

async function refuseNothing(
  { positionals, rest, host }: CommandContext,
  { cwd }: Place,
): Promise<void> {
  if (positionals.length > 0 || (rest !== undefined && rest.length > 0)) return;
  if (host !== undefined) throw (await import("../config_source.ts")).nameTheFile(host);
  throw new ProcsupError("bad_request", "Nothing to start: no word, and no procsup.yaml here", {
    hint: await hintForFolder(cwd),
  });
}

/** Suggests importing a compose file: its services need programs in place of images. */
async function hintForFolder(cwd: string): Promise<string> {
  const { COMPOSE_FILES, kindOf } = await import("../../config/file_kind.ts");
  const names = [...Deno.readDirSync(cwd)].map(({ name }) => name).sort();
  const compose = COMPOSE_FILES.find((name) => names.includes(name)) ??
    names.find((name) => kindOf(name) === "compose");
  return compose === undefined
    ? "procsup init writes one; procsup help start"
    : `procsup import compose ${shellWord(compose)} --out procsup.yaml`;
}

/** Adds a hint for a file that is missing on another machine, but may exist here. */
function missingThere(error: unknown, { target }: StartPayload, cwd: string): unknown {
  const isMissing = hasCode(error, "process_not_found");
  if (!isMissing || target === undefined) return error;
  return new ProcsupError(error.code, `${error.message}, and no such file in ${cwd} there`, {
    hint: lookAt(target)?.isFile
      ? `Paths are those of that machine, and ${target} is on this one: copy it with scp or rsync`
      : "Paths are on that machine: procsup help remote",
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
    : commandHint(command.positionals);
  const missing = error.code === "process_not_found" && payload.target !== undefined;
  const message = missing
    ? `Cannot start "${payload.target}": no such file here, and no process of that name`
    : error.message;
  return new ProcsupError(error.code, message, { hint: hint ?? error.hint });
}

async function hintFor(
  error: ProcsupError,
  { target, name }: StartPayload,
): Promise<string | undefined> {
  if (error.code === "name_taken") return `Use another --name, or: procsup restart ${name}`;
  if (error.code !== "process_not_found" || target === undefined) return undefined;
  if (lookAt(target)?.isDirectory) return `To start this folder: procsup start ./${target}`;
  const near = nearestWord(target, filesHere());
  if (near !== undefined) return `Did you mean "${near}"?`;
  // The daemon has suggested a similar name.
  if (error.near !== undefined) return undefined;
  const { discover } = await import("../../config/file_kind.ts");
  const file = discover(here());
  if (file !== undefined) {
    return `If ${basename(file)} has it: procsup start --only ${target}`;
  }
  return "The processes: procsup list";
}

/** True if the word names a program, not a process. */
function isCommand(error: unknown, { target }: StartPayload): boolean {
  return hasCode(error, "process_not_found") &&
    target !== undefined && isOnPath(target);
}

function filesHere(): string[] {
  return ifPossible(() =>
    [...Deno.readDirSync(".")].filter(({ isFile }) => isFile).map(({ name }) => name)
  ) ?? [];
}

function isOnPath(command: string): boolean {
  const folders = (Deno.env.get("PATH") ?? "").split(":").filter((folder) => folder !== "");
  return folders.some((folder) => lookAt(`${folder}/${command}`)?.isFile);
}
