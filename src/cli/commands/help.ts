/** `procsup help`, `--help` anywhere, and the man page. */

import { PAGES, pageText } from "../../docs/pages.ts";
import { hasCode, messageOf, ProcsupError } from "../../model/errors.ts";
import { VERSION } from "../../protocol/version.ts";
import { GAP, tableLines } from "../columns.ts";
import {
  type Command,
  type CommandContext,
  commandWords,
  findCommand,
  shownCommands,
} from "../command.ts";
import { connect } from "../connect.ts";
import { ENGINE_FLAGS, type Flag, GLOBAL_FLAGS, PLACE_FLAGS } from "../flags.ts";
import { counted, stateSummary } from "../human.ts";
import { styleOf } from "../paint.ts";
import { wordWrap } from "../terminal_text.ts";
import { meantHint } from "../unknown_word.ts";
import { commandHint } from "../../model/hint.ts";

/** Prints help on a command or topic, or the general help. */
export async function help(context: CommandContext) {
  const { command, commands, flags, positionals, output } = context;
  const topic = positionals[0];
  if (command.name === "help" && flags.on("man")) return man(context);
  if (command.name !== "help") return output.data(commandHelp(command, { width: output.width }));
  const all = flags.on("all");
  const found = findCommand(commands, topic ?? "");
  if (found !== undefined) {
    return output.data(commandHelp(found.command, { width: output.width, all }));
  }
  const text = topic === undefined ? "" : await pageText(topic);
  if (text === undefined) throw unknownTopic(commands, topic!);
  if (all) {
    throw new ProcsupError("bad_request", "Cannot use --all without a command", {
      hint: commandHint("help", "start", { all: true }),
    });
  }
  if (topic === undefined) return output.data(generalHelp(commands, output.width));
  output.data(pageLines(text, output.color, output.width));
}

function unknownTopic(commands: readonly Command[], word: string): ProcsupError {
  const known = [...commandWords(commands), ...Object.keys(PAGES)];
  return new ProcsupError("bad_request", `Unknown command or topic "${word}"`, {
    hint: meantHint("procsup help ", word, known, commandHint("help")),
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
const ENVIRONMENT: readonly (readonly [string, string])[] = [
  ["PROCSUP_HOME", "same as --home"],
  ["PROCSUP_HOST", "same as --host"],
  ["PROCSUP_PROFILE", "same as --profile, for commands that have it"],
  ["PROCSUP_NO_AUTOSTART=1", "same as --no-start-daemon"],
  ["NO_COLOR", "no colours"],
];

/** Every command by group. */
export function overview(all: readonly Command[], width?: number): string {
  const commands = shownCommands(all);
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

interface HelpOptions {
  readonly width?: number;
  /** With the flags of every kind. */
  readonly all?: boolean;
}

export function commandHelp(command: Command, { width, all }: HelpOptions = {}): string {
  const own = all ? command.flags : command.flags.filter(({ kind }) => kind === undefined);
  const ofEngine = all ? [] : engineFlagsOf(command);
  const aliases = Object.entries(command.aliases ?? {})
    .map(([alias, preset]) => preset.length === 0 ? alias : `${alias} (${preset.join(" ")})`);
  return [
    `${command.summary}\n\nUsage: procsup ${synopsis(command)}`,
    ...(command.examples.length === 0 ? [] : [`Examples\n${indented(command.examples)}`]),
    ...(own.length === 0 ? [] : [section("Flags", own.map(flagRow), width)]),
    ...(all ? [] : moreFlags(command)),
    ...(ofEngine.length === 0 ? [] : [section("With --on", ofEngine.map(flagRow), width)]),
    section("Flags of every command", GLOBAL_FLAGS.map(flagRow), width),
    ...(aliases.length === 0 ? [] : [`Also called: ${aliases.join(", ")}`]),
    `More: procsup help ${command.page}`,
  ].join("\n\n");
}

/** How many flags the help leaves out, and how to see them. */
function moreFlags({ name, flags }: Command): string[] {
  const count = (sought: Flag["kind"]) => flags.filter(({ kind }) => kind === sought).length;
  const [rare, shared] = [count("rare"), count("start")];
  return [
    ...(rare === 0 ? [] : [`… ${rare} more: procsup help ${name} --all`]),
    ...(shared === 0
      ? []
      : [`… ${shared} flags of start, which change the app: procsup help ${name} --all`]),
  ];
}

/** The flags with `--on` of a command that takes more than the usual ones. Those are on a page. */
function engineFlagsOf({ flags }: Command): readonly Flag[] {
  const found = flags.filter(({ kind }) => kind === "on");
  return found.length > PLACE_FLAGS.length ? found : [];
}

/** The flags that a reference lists with a command. The others are listed once, elsewhere. */
export function referenceFlags({ flags }: Command): readonly Flag[] {
  return flags.filter(({ kind }) => kind === undefined || kind === "rare");
}

export function hasStartFlags({ flags }: Command): boolean {
  return flags.some(({ kind }) => kind === "start");
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

/** Longer lines are hard to read. */
const MAX_WIDTH = 100;

/**
 * Formats Markdown for a terminal of `width` columns (undefined: a pipe): bold headings, indented
 * examples, tables without borders, links as the commands that show their page.
 */
export function pageLines(markdown: string, color: boolean, width?: number): string {
  const { bold } = styleOf(color);
  const lines: string[] = [];
  const blocks = markdown.replace(/<!--[^]*?-->\n*/g, "").matchAll(BLOCKS);
  for (const { groups: { code, table, heading, text } = {} } of blocks) {
    if (code !== undefined) lines.push(code.replace(/^(?=.)/gm, "    ").trimEnd());
    else if (table !== undefined) lines.push(...tableText(table, width));
    else if (heading !== undefined) lines.push(bold(inline(heading)));
    else lines.push(paragraph(inline(text ?? ""), width));
  }
  return lines.join("\n");
}

/** A text block begins at a line of text, or at an item of a list. */
const BLOCKS =
  /^```\w*\n(?<code>[^]*?)^```$|(?<table>(?:^\|.*\|$\n?)+)|^#+ (?<heading>.*)$|^(?<text>.+(?:\n(?!- |\d+\. |```|\||#+ ).+)*)$|^$/gm;

/** Breaks lines at `width`, or leaves them as they are in a pipe. */
function paragraph(text: string, width?: number): string {
  if (width === undefined) return text;
  const marker = text.match(/^(?:-|\d+\.) +/)?.[0] ?? "";
  const room = Math.min(width, MAX_WIDTH) - marker.length;
  return marker + wordWrap(text.slice(marker.length), room, " ".repeat(marker.length));
}

/** Links to pages become commands; others keep their address. */
function inline(text: string): string {
  return text
    .replace(/\[([^\]]*)\]\((\w+)\.md(?:#[\w-]+)?\)/g, "$1 (procsup help $2)")
    .replace(/\[([^\]]*)\]\((http[^)]*)\)/g, "$1 ($2)")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll("\\|", "|");
}

function tableText(table: string, width = Infinity): string[] {
  const [header = [], , ...rows] = table.trimEnd().split("\n")
    .map((line) => line.split(/(?<!\\)\|/).slice(1, -1).map((cell) => inline(cell.trim())));
  const columns = header.map((title, index) => ({
    header: title,
    priority: 0,
    value: (row: readonly string[]) => row[index]!,
  }));
  const lines = tableLines(columns, rows);
  if (Math.max(...lines.map((line) => line.length)) <= width) return lines;
  // Too wide: print each row as a paragraph.
  return rows.flatMap(([first = "", ...others]) => [
    first,
    ...others.flatMap((cell, index) =>
      cell === "" ? [] : [`    ${wordWrap(`${header[index + 1]}: ${cell}`, width - 6, "      ")}`]
    ),
  ]);
}

/** Prints the page in mdoc. */
function man({ commands, output }: CommandContext): void {
  const date = new Intl.DateTimeFormat("en-US", { dateStyle: "long" }).format(new Date());
  output.data([
    `.Dd ${date}`,
    ".Dt PROCSUP 1",
    `.Os procsup ${VERSION}`,
    ".Sh NAME\n.Nm procsup\n.Nd keeps apps running",
    ".Sh SYNOPSIS\n.Nm\n.Op flags\n.Ar command\n.Op Ar words\n.Op Fl \\- Ar args",
    ".Sh DESCRIPTION\nOne daemon starts apps, restarts those that fail, keeps their logs and survives",
    "its own death. A target is a name, a number, the start of an id,\n.Li ns:NAME ,",
    ".Li tag:TAG ,\n.Li label:KEY=VALUE\nor\n.Li all .",
    ".Sh COMMANDS",
    ...shownCommands(commands).map(commandSection),
    ".Sh FLAGS OF EVERY COMMAND",
    flagList(GLOBAL_FLAGS),
    ".Sh FLAGS WITH \\-\\-on",
    flagList(ENGINE_FLAGS),
    ".Sh ENVIRONMENT\n.Bl -tag -width Ds",
    ...ENVIRONMENT.map(([variable, effect]) => `.It Ev ${variable}\n${escaped(effect)}`),
    ".El",
    ".Sh EXIT STATUS\n.Bl -tag -width 1234",
    ...EXIT_CODES.map(([code, meaning]) => `.It ${code}\n${escaped(meaning)}`),
    ".El",
  ].join("\n"));
}

function commandSection(command: Command): string {
  const { name, usage, summary, aliases, examples } = command;
  const flags = referenceFlags(command);
  const others = Object.keys(aliases ?? {});
  return [
    `.Ss ${escaped(`${name} ${usage}`.trim())}`,
    `${escaped(summary)}.`,
    ...(others.length === 0 ? [] : [`Also called: ${others.map(escaped).join(", ")}.`]),
    ...(flags.length === 0 ? [] : [flagList(flags)]),
    ...(hasStartFlags(command) ? ["Also the flags of\n.Cm start\nthat change an app."] : []),
    ...(examples.length === 0
      ? []
      : [`.Bd -literal -offset indent\n${examples.map(escaped).join("\n")}\n.Ed`]),
  ].join("\n");
}

function flagList(flags: readonly Flag[]): string {
  return [".Bl -tag -width Ds", ...flags.map(flagItem), ".El"].join("\n");
}

function flagItem(flag: Flag): string {
  const short = flag.short === undefined ? "" : `Fl ${flag.short} , `;
  const value = flag.type === "bool" ? "" : ` Ar ${escaped(flag.value!)}`;
  const choices = flag.choices === undefined ? "" : `: ${flag.choices.join(", ")}`;
  return `.It ${short}Fl \\-${flag.name}${value}\n${escaped(flag.help + choices)}.`;
}

/** Escapes backslashes, dashes, and quotes or dots at the start of a line: those begin a macro. */
function escaped(text: string): string {
  return text.replace(/\\/g, "\\e").replace(/^([.'])/gm, "\\&$1").replace(/…/g, "...")
    .replace(/-/g, "\\-");
}
