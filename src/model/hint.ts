/** Hints: the next thing to do, as data. Each surface shows the command in its own form. */

import { shellWord } from "./shell_line.ts";

/** A command of procsup, by its words on the command line. `<name>` is for the reader to fill in. */
export interface HintCommand {
  /** Such as `restart` or `cron run`. */
  readonly verb: string;
  /** Name of a process, or another first argument. */
  readonly target?: string | undefined;
  /** Further arguments. */
  readonly args?: readonly string[] | undefined;
  /** Flags by their long names; true for one without a value. */
  readonly flags?: Readonly<Record<string, string | number | true>> | undefined;
}

/** What to do next: a text, a command, or both. */
export interface Hint {
  /** Makes sense without the command. */
  readonly text?: string | undefined;
  /** What to run. */
  readonly command?: HintCommand | undefined;
}

/** The hint for a command alone, such as `commandHint("restart", "api")`. */
export function commandHint(
  verb: string,
  target?: string,
  flags?: HintCommand["flags"],
): Hint {
  return { command: { verb, ...target !== undefined && { target }, ...flags && { flags } } };
}

/** The hint as a line for a shell: `Choose another name, or restart it: procsup restart api`. */
export function shellHint({ text, command }: Hint): string {
  return [text, command && shellCommand(command)].filter((part) => part !== undefined).join(": ");
}

function shellCommand({ verb, target, args = [], flags = {} }: HintCommand): string {
  const words = [...(target === undefined ? [] : [target]), ...args];
  const given = Object.entries(flags).flatMap(([name, value]) => [
    `--${name}`,
    ...(value === true ? [] : [String(value)]),
  ]);
  const shown = [...words, ...given].map((word) => isPlaceholder(word) ? word : shellWord(word));
  return ["procsup", verb, ...shown].join(" ");
}

/** The hint in a daemon's answer, from any version; undefined if it is not one. */
export function hintIn(value: unknown): Hint | undefined {
  const { text, command } = Object(value) as Hint;
  const isCommand = command === undefined ||
    (typeof command?.verb === "string" && isWord(command.target) &&
      (command.args ?? []).every(isWord));
  const isHint = (text ?? command) !== undefined && isWord(text) && isCommand;
  return isHint ? value as Hint : undefined;
}

function isWord(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}

/** Whether an argument is for the reader to fill in, such as `<script>`. */
export function isPlaceholder(word: string): boolean {
  return /^<[a-z]+>$/.test(word);
}
