/** The shell of a process-compose file, and when /bin/sh reads a command as it does. */

import { mapOf } from "../model/merge_patch.ts";
import { shellWord } from "../model/shell_line.ts";
import { shownText, withReferences } from "./references.ts";

/** A command for a shell that has the variables in its environment. */
function shellText(text: string): string {
  return shownText(withReferences(text));
}

export type Shell = ReturnType<typeof shellOf>;

export function shellOf(value: unknown) {
  const { shell_command: program = "bash", shell_argument: argument = "-c" } = mapOf(value);
  return { program: String(program), argument: String(argument) };
}

/**
 * What bash may read otherwise than /bin/sh. It finds too much rather than too little: a command
 * that runs under bash without need does the same.
 */
const BASH_ONLY = new RegExp(
  [
    /[{}!]|(?<!\$)\(|\[\[|<<|<\(|&>|>&(?!\d)|\|&|==|=~|\+=|\$['"]/,
    /\b(source|declare|typeset|local|shopt|pipefail|function|let|mapfile|readarray|pushd|popd)\b/,
    /\b(disown|time|trap|type|select|coproc|RANDOM|SECONDS|BASH\w*)\b|\b(echo|read|printf|exec) -/,
  ].map(({ source }) => source).join("|"),
);

/** `${NAME}` and `${NAME:-default}`, which every shell knows. */
const PARAMETER = /\$\{\w+(:?[-+=?][^{}]*)?\}/g;

/** Whether a command has to run under the shell of the file, as /bin/sh may read it otherwise. */
export function needsShell(command: string, { program }: Shell): boolean {
  if (/^(.*\/)?(da)?sh$/.test(program)) return false;
  return !/^(.*\/)?bash$/.test(program) || BASH_ONLY.test(command.replace(PARAMETER, "$X"));
}

/** A line for /bin/sh. */
export function shellLine(value: unknown, shell: Shell): string {
  const command = shellText(String(value));
  return needsShell(command, shell)
    ? `${shellWord(shell.program)} ${shellWord(shell.argument)} ${shellWord(command)}`
    : command;
}
