/** Entry point of the command line: parses it, loads the module of its command and runs it. */

import { offerTools } from "../config/tools.ts";
import { DRIVEN, enginesOf } from "../export/mod.ts";
import { TOOLS } from "../import/mod.ts";
import { ProcsupError } from "../model/errors.ts";
import { checkedHome } from "../platform/files/paths.ts";
import { type CommandLine, formatFlags, readCommandLine } from "./args.ts";
import { type CommandContext, findCommand, type RunCommand } from "./command.ts";
import { COMMANDS } from "./command_table.ts";
import { THIS_MACHINE } from "../contexts/contexts.ts";
import { type Target, targetIn } from "./target_flags.ts";
import { Output } from "./output.ts";
import { UnknownWordError } from "./unknown_word.ts";

/** Exit code when the reader of the output has closed it: 128 + SIGPIPE. */
const READER_GONE = 141;

/** Runs a command line and returns the exit code; never throws. */
export async function runCli(args: readonly string[]): Promise<number> {
  try {
    return await run(args);
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe) return READER_GONE;
    throw error;
  }
}

async function run(args: readonly string[]): Promise<number> {
  offerTools(TOOLS);
  // Errors in the command line itself are also printed in the requested format.
  let output = new Output(formatFlags(args));
  let name = args.find((word) => !word.startsWith("-"));
  let code: number;
  try {
    const line = readCommandLine(args.length === 1 && args[0] === "-v" ? ["--version"] : args);
    output = new Output(line.flags);
    name = line.command?.name;
    const context = await contextOf(line, output);
    code = await (await load(line, context))(context) ?? 0;
  } catch (error) {
    code = await report(error, name);
  }
  if (code !== 0) await (await import("./report_error.ts")).printFailure(output);
  return code;
}

/** Prints a failure and returns its exit code. Loads modules that few failures need on demand. */
async function report(thrown: unknown, word = ""): Promise<number> {
  const { reportError } = await import("./report_error.ts");
  const error = thrown instanceof UnknownWordError
    ? (await import("./foreign_words.ts")).withForeignHint(thrown)
    : thrown;
  return reportError(error, findCommand(COMMANDS, word) && word);
}

async function load(
  { command, flags }: CommandLine,
  { engine }: CommandContext,
): Promise<RunCommand> {
  if (flags.on("version")) return (await import("./commands/version.ts")).version;
  if (flags.on("help")) return (await import("./commands/help.ts")).help;
  if (engine !== undefined) return (await import("./commands/on.ts")).onEngine;
  return await command?.load() ?? (await import("./commands/help.ts")).printStart;
}

async function contextOf(line: CommandLine, output: Output): Promise<CommandContext> {
  const { flags } = line;
  const { host, engine } = await targetOf(line);
  return {
    ...{ host, engine },
    flags,
    commands: COMMANDS,
    command: line.command ?? findCommand(COMMANDS, "help")!.command,
    positionals: line.positionals,
    rest: line.rest,
    output,
    // Read on demand: `help` and `version` work without a home.
    get home() {
      return host === undefined ? checkedHome(flags.text("home")) : host.home;
    },
  };
}

async function targetOf({ command, flags }: CommandLine): Promise<Target> {
  if (flags.on("version") || flags.on("help") || command === undefined) return {};
  const [host, on] = [flags.text("host"), flags.text("on")];
  const isElsewhere = host !== undefined && host !== THIS_MACHINE;
  if (command.local === true) {
    if (!isElsewhere) return {};
    const there = (await targetIn(flags)).host?.destination;
    throw new ProcsupError("bad_request", `"${command.name}" acts on this machine only`, {
      hint: there && `Run it there: ssh ${there} procsup ${command.name}`,
    });
  }
  if (isElsewhere && on !== undefined) {
    throw new ProcsupError("bad_request", "Cannot use --on with --host");
  }
  const target: Target = flags.on("all-contexts") ? {} : await targetIn(flags);
  const given = flags.names();
  const lost = command.flags.find(({ kind, name }) => kind === "on" && given.includes(name))?.name;
  if (target.engine !== undefined || lost === undefined) return target;
  const value = lost === "strict" ? "" : ` ${flags.text(lost)}`;
  const [engine] = enginesOf(lost) ?? DRIVEN;
  throw new ProcsupError("bad_request", `Cannot use --${lost} without an engine`, {
    hint: `procsup ${command.name} --on ${engine} --${lost}${value}`,
  });
}
