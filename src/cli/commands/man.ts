/** `procsup man`: the man page. */

import { VERSION } from "../../protocol/version.ts";
import type { Command, CommandContext } from "../command.ts";
import type { Flag } from "../flags.ts";
import { ENVIRONMENT, EXIT_CODES } from "./help.ts";
import { GLOBAL_FLAGS } from "../table/global_flags.ts";

/** Prints the page in mdoc: `procsup man | man -l -`. */
export function man({ commands, output }: CommandContext): void {
  const date = new Intl.DateTimeFormat("en-US", { dateStyle: "long" }).format(new Date());
  output.data(manPage(commands, VERSION, date).trimEnd());
}

/** The whole page. `date` is in the format of mdoc. */
function manPage(commands: readonly Command[], version: string, date: string): string {
  return [
    `.Dd ${date}`,
    ".Dt PROCSUP 1",
    `.Os procsup ${version}`,
    ".Sh NAME\n.Nm procsup\n.Nd keeps apps running",
    ".Sh SYNOPSIS\n.Nm\n.Op flags\n.Ar command\n.Op Ar words\n.Op Fl \\- Ar args",
    ".Sh DESCRIPTION\nOne daemon starts apps, restarts those that fail, keeps their logs and survives",
    "its own death. A target is a name, a number, the start of an id,\n.Li ns:NAME ,",
    ".Li tag:TAG ,\n.Li label:KEY=VALUE\nor\n.Li all .",
    ".Sh COMMANDS",
    ...commands.filter(({ hidden }) => !hidden).map(commandSection),
    ".Sh FLAGS OF EVERY COMMAND",
    flagList(GLOBAL_FLAGS),
    ".Sh ENVIRONMENT\n.Bl -tag -width Ds",
    ...ENVIRONMENT.map(([variable, effect]) => `.It Ev ${variable}\n${escaped(effect)}`),
    ".El",
    ".Sh EXIT STATUS\n.Bl -tag -width 1234",
    ...EXIT_CODES.map(([code, meaning]) => `.It ${code}\n${escaped(meaning)}`),
    ".El",
  ].join("\n") + "\n";
}

function commandSection({ name, usage, summary, aliases, flags, examples }: Command): string {
  const others = Object.keys(aliases ?? {});
  return [
    `.Ss ${escaped(`${name} ${usage}`.trim())}`,
    `${escaped(summary)}.`,
    ...(others.length === 0 ? [] : [`Also called: ${others.map(escaped).join(", ")}.`]),
    ...(flags.length === 0 ? [] : [flagList(flags)]),
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
