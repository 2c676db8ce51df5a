/** `procsup run`: runs apps in the foreground without a daemon, as in containers. */

import { isConfigName } from "../../config/file_kind.ts";
import { messageOf, ProcsupError } from "../../model/errors.ts";
import { type LogLine, positionKey } from "../../model/log_line.ts";
import { baseName } from "../../model/name.ts";
import { dirname } from "@std/path";
import { isFree } from "../../platform/files/lock.ts";
import { fromHere, pathsIn } from "../../platform/files/paths.ts";
import { namesIn } from "../../platform/files/stat.ts";
import type { CommandContext } from "../command.ts";
import { placeOf } from "../config_flags.ts";
import { fileHere, profileOf, refuseAppFlags, refuseFileFlags } from "../config_source.ts";
import { lineFormat, LogPrinter } from "../log_printer.ts";
import { startPayloads } from "../start_payload.ts";
import { commandHint } from "../../model/hint.ts";

/** Runs until the apps end, in a temporary home unless `--home` is given. */
export async function run(context: CommandContext): Promise<number> {
  const given = context.flags.text("home");
  const { runForeground } = await import("../../daemon/foreground.ts");
  const { rest, output } = context;
  const newsFailed = Promise.withResolvers<never>();
  const names = new LogPrinter(output, newsFailed.reject);
  const isAlone = rest !== undefined;
  const readyFile = context.flags.text("ready-file");
  const apps = await what(context);
  const onLine = await linePrinter(context, names);
  if (output.terminal && output.color) forceColor();
  // Created last: Ctrl-C before this leaves nothing behind.
  const home = given ?? makeRunHome();
  try {
    return await runForeground({
      home,
      ...apps,
      critical: context.flags.list("critical"),
      readyFile: readyFile && fromHere(readyFile),
      stdin: standardInput(apps),
      onLine,
      onNews: (change) => {
        names.expect(change.name);
        if (!isAlone && !output.isJson) names.notify(change);
      },
      // Programs that read JSON want whole lines.
      unfinished: !output.isJson,
      newsFailed: newsFailed.promise,
      onInterrupt: (running) => {
        output.note(`procsup: stopping ${running.join(", ")} (again to kill)`);
      },
      onHurry: (running) => output.note(`procsup: killing ${running.join(", ")}`),
      warn: (message) => output.note(`procsup: ${message}`),
      allNotes: context.flags.on("notes"),
    });
  } finally {
    if (given === undefined) Deno.removeSync(home, { recursive: true });
    names.flush();
    output.endLines();
  }
}

/** One command reads what is piped into this one. Several apps would each get a part of it. */
function standardInput({ config }: { readonly config?: Readonly<Record<string, unknown>> }) {
  // Watch modes end at the end of their input.
  if (config === undefined || Deno.stdin.isTerminal()) return true;
  return (config.instances ?? 1) === 1 ? "inherit" : false;
}

/** The apps inherit it: they write to logs, but people see their colours. */
function forceColor(): void {
  for (const name of ["FORCE_COLOR", "CLICOLOR_FORCE"]) {
    if (!Deno.env.has(name) && !Deno.env.get("NO_COLOR")) Deno.env.set(name, "1");
  }
}

async function what(context: CommandContext) {
  const { positionals: files, rest, flags } = context;
  if (files.length > 0 && rest !== undefined) {
    throw refusal("A file or a command after --, not both");
  }
  if (rest === undefined || rest.length === 0) {
    refuseAppFlags(context);
    const only = flags.text("only");
    const single = flags.text("single");
    if (single !== undefined && only !== undefined) {
      throw refusal("Cannot use --single with --only");
    }
    if (single === undefined && flags.on("now")) {
      throw refusal("Cannot use --now without --single");
    }
    const other = files.find((file) => !isConfigName(file));
    if (other !== undefined) {
      throw new ProcsupError("bad_request", `Cannot run "${other}": not a configuration file`, {
        hint: "For an app of a file: procsup run --only <name>; else: procsup run -- <command>",
      });
    }
    return {
      files: files.length > 0 ? files : [fileHere(context)],
      single: single === undefined ? undefined : { name: single, now: flags.on("now") },
      only,
      profile: profileOf(context),
    };
  }
  refuseFileFlags(context);
  const [config] = startPayloads({
    positionals: [],
    rest,
    ...await placeOf(context),
    isFile: () => false,
  });
  return { config: { restart_policy: "never", inherit_env: true, ...config } };
}

function refusal(message: string): ProcsupError {
  return new ProcsupError("bad_request", message, { hint: commandHint("help", "run") });
}

/** Prints lines to the stream they came from, with name prefixes if there are several apps. */
async function linePrinter(
  { output, flags, rest }: CommandContext,
  names: LogPrinter,
): Promise<(line: LogLine) => void> {
  if (output.isJson) return (line) => output.json(line);
  const format = await lineFormat(output, { isRaw: rest !== undefined });
  return (line) => {
    const isBare = flags.on("no-prefix") ||
      (rest !== undefined && baseName(line.name) === line.name);
    const shown = format(line);
    const piece = { from: positionKey(line), partial: line.partial };
    const begins = !isBare && !output.continues(piece.from, line.stream);
    const text = begins ? names.prefixed(line.name, shown.mark, shown.text) : shown.text;
    output.content(text, line.stream, piece);
  };
}

/** Prefix of homes of a container's first process. When it ends, all its apps have ended. */
const FIRST = "procsup-init-";
const OTHERS = "procsup-run-";

/** A home without a lock may still be in creation until this age. */
const MADE_MS = 60_000;

/**
 * Creates a temporary home. In a container that was killed and started again, removes the homes of
 * earlier runs with their logs. Throws `home_unusable` if nothing can be written.
 */
function makeRunHome(): string {
  const isFirst = Deno.pid === 1;
  const home = make(isFirst ? FIRST : OTHERS);
  if (!isFirst) return home;
  const folder = dirname(home);
  for (const name of namesIn(folder)) if (name.startsWith(FIRST)) removeIfLeft(`${folder}/${name}`);
  return home;
}

function make(prefix: string): string {
  try {
    return Deno.makeTempDirSync({ prefix });
  } catch (error) {
    throw new ProcsupError(
      "home_unusable",
      `Cannot create a folder for this run: ${messageOf(error)}`,
      { hint: "name one with --home, or make /tmp writable: docker run --tmpfs /tmp" },
    );
  }
}

function removeIfLeft(home: string): void {
  try {
    const { isDirectory, uid, mtime } = Deno.lstatSync(home);
    if (!isDirectory || uid !== Deno.uid() || Date.now() - mtime!.getTime() < MADE_MS) return;
    if (isFree(pathsIn(home).lock)) Deno.removeSync(home, { recursive: true });
  } catch {
    // Another process may be removing it; leaving it does no harm.
  }
}
