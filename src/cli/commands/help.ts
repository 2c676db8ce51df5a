/** `procsup help`, and `--help` anywhere. */

import { PAGES, pageText } from "../../docs/pages.ts";
import { hasCode, messageOf, ProcsupError } from "../../model/errors.ts";
import type { Command, CommandContext } from "../command.ts";
import { GAP } from "../columns.ts";
import type { Flag } from "../flags.ts";
import { connect } from "../connect.ts";
import { stateSummary } from "../describe.ts";
import { commandWords, findCommand } from "../find_command.ts";
import { counted } from "../human.ts";
import { pageLines } from "../page_text.ts";
import { GLOBAL_FLAGS } from "../table/global_flags.ts";
import { wordWrap } from "../text_width.ts";
import { meantHint } from "../unknown_word.ts";

/** Prints help on a command or topic, or the general help. */
export async function help({ command, commands, positionals, output }: CommandContext) {
  const topic = positionals[0];
  if (command.name !== "help") return output.data(commandHelp(command, output.width));
  if (topic === undefined) return output.data(generalHelp(commands, output.width));
  const found = findCommand(commands, topic);
  if (found !== undefined) return output.data(commandHelp(found.command, output.width));
  const text = await pageText(topic);
  if (text === undefined) throw unknownTopic(commands, topic);
  output.data(pageLines(text, output.color, output.width));
}

function unknownTopic(commands: readonly Command[], word: string): ProcsupError {
  const known = [...commandWords(commands), ...Object.keys(PAGES)];
  return new ProcsupError("bad_request", `Unknown command or topic "${word}"`, {
    hint: meantHint("procsup help ", word, known, "procsup help"),
  });
}

const FIRST_STEPS = [
  "procsup start api.ts --name api    start an app, in this shell's environment",
  "procsup up                         start the apps of procsup.yaml",
  "procsup logs api -f                follow its output",
];

/** Maximum apps shown by `procsup` without a command. */
const MAX_APPS = 10;

/** Prints the first steps, and the apps that run. */
export async function printStart(context: CommandContext): Promise<void> {
  const { output } = context;
  const steps = ["procsup - keeps apps running", "", ...FIRST_STEPS.map((line) => `  ${line}`), ""];
  output.data([...steps, ...await now(context), "", "procsup help lists all commands"].join("\n"));
}

async function now(context: CommandContext): Promise<string[]> {
  try {
    const processes = await connect(context).call("list");
    if (processes.length === 0) return ["daemon running, no apps"];
    const shown = processes.slice(0, MAX_APPS);
    const width = Math.max(...shown.map(({ name }) => name.length));
    const rows = shown.map(({ name, state, pid }) =>
      `  ${name.padEnd(width)}  ${state}${pid > 0 ? `  pid ${pid}` : ""}`
    );
    const more = processes.length > MAX_APPS ? ["  …"] : [];
    return [`${counted(processes.length, "app")}: ${stateSummary(processes)}`, ...rows, ...more];
  } catch (error) {
    const absent = hasCode(error, "daemon_unreachable");
    return [absent ? "daemon not running" : `daemon: ${messageOf(error)}`];
  }
}

/** Exit code → what it means. */
export const EXIT_CODES: readonly (readonly [string, string])[] = [
  ["0", "done, or true"],
  ["1", "it ran and failed"],
  ["2", "wrong usage or configuration, nothing was changed"],
  ["3", "not running"],
  ["4", "no such process"],
  ["5", "no daemon answers"],
  ["6", "conflict: ambiguous target, name taken"],
  ["7", "not allowed"],
  ["124", "timeout"],
];

/** Environment variable that every command reads → what it does. */
export const ENVIRONMENT: readonly (readonly [string, string])[] = [
  ["PROCSUP_HOME", "same as --home"],
  ["PROCSUP_HOST", "same as --host"],
  ["PROCSUP_PROFILE", "same as --profile, for commands that have it"],
  ["PROCSUP_NO_AUTOSTART=1", "same as --no-start-daemon"],
  ["NO_COLOR", "no colours"],
];

/** Every command by group. */
export function overview(all: readonly Command[], width?: number): string {
  const commands = all.filter(({ hidden }) => !hidden);
  const left = leftWidth(commands.map(synopsis), width);
  const sections = [...Map.groupBy(commands, ({ group }) => group)].map(([group, members]) =>
    section(group, members.map((command) => [synopsis(command), command.summary]), width, left)
  );
  return [
    "procsup - keeps apps running",
    ...sections,
    "procsup help <command or topic> shows more",
  ].join("\n\n");
}

/** Global flags, targets, environment and exit codes: what `procsup help` adds to the overview. */
function generalHelp(commands: readonly Command[], width?: number): string {
  return [
    overview(commands, width),
    section("Flags of every command", GLOBAL_FLAGS.map(flagRow), width),
    section("Targets", [
      ["name", "a process, or every instance of it"],
      ["name:0", "one instance"],
      ["0, 1f3a", "its number, or the start of its id"],
      ["ns:NAME", "a namespace; also tag:TAG and label:KEY=VALUE"],
      ["all", "every process"],
    ], width),
    section("Environment", ENVIRONMENT, width),
    section("Exit codes", EXIT_CODES, width),
    section("Topics", Object.entries(PAGES).map(([topic, { title }]) => [topic, title]), width),
  ].join("\n\n");
}

export function commandHelp(command: Command, width?: number): string {
  const aliases = Object.entries(command.aliases ?? {})
    .map(([alias, preset]) => preset.length === 0 ? alias : `${alias} (${preset.join(" ")})`);
  return [
    `${command.summary}\n\nUsage: procsup ${synopsis(command)}`,
    ...(command.examples.length === 0 ? [] : [`Examples\n${indented(command.examples)}`]),
    ...(command.flags.length === 0 ? [] : [section("Flags", command.flags.map(flagRow), width)]),
    section("Flags of every command", GLOBAL_FLAGS.map(flagRow), width),
    ...(aliases.length === 0 ? [] : [`Also called: ${aliases.join(", ")}`]),
    `More: procsup help ${command.page}`,
  ].join("\n\n");
}

function synopsis({ name, usage }: Command): string {
  return usage === "" ? name : `${name} ${usage}`;
}

function indented(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}`).join("\n");
}

/** Two columns; a pipe gets each row on one line. */
function section(
  title: string,
  rows: readonly (readonly [string, string])[],
  width = Infinity,
  left = leftWidth(rows.map(([text]) => text), width),
): string {
  const margin = " ".repeat(left + GAP.length);
  const lines = rows.flatMap(([text, about]) => {
    const lead = text.length > left ? `${text}\n${margin}` : `${text.padEnd(left)}${GAP}`;
    return (lead + wordWrap(about, width - left - 2 * GAP.length, margin)).split("\n");
  });
  return `${title}\n${indented(lines)}`;
}

/** The width of the left column: at most two fifths of the terminal. */
function leftWidth(texts: readonly string[], width = Infinity): number {
  const lengths = texts.map(({ length }) => length);
  return Math.max(0, ...lengths.filter((length) => length <= width * 0.4));
}

/** The two columns of a flag's line. */
export function flagRow(flag: Flag): readonly [string, string] {
  const short = flag.short === undefined ? "    " : `-${flag.short}, `;
  const names = [flag.name, ...flag.aliases ?? []].map((name) => `--${name}`).join(", ");
  const value = flag.type === "bool" ? "" : ` ${flag.choices?.join("|") ?? flag.value}`;
  const again = flag.type === "list" ? " (may be repeated)" : "";
  return [short + names + value, flag.help + again];
}
