/** Errors for unknown words of the command line. */

import { nearestWord } from "../model/nearest_word.ts";
import { ProcsupError } from "../model/errors.ts";
import type { CommandContext } from "./command.ts";
import { commandHint, type Hint } from "../model/hint.ts";

/** `bad_request` for an unknown command or flag, which another tool may have. */
export class UnknownWordError extends ProcsupError {
  /** The flag as it was written, or the command. */
  readonly word: string;
  /** The command of the flag; undefined if the word is a command. */
  readonly command: string | undefined;

  constructor(message: string, hint: Hint | string, word: string, command?: string) {
    super("bad_request", message, { hint });
    this.word = word;
    this.command = command;
  }
}

/** The hint for a mistyped word: `before` and the nearest known word. */
export function meantHint(
  before: string,
  word: string,
  known: readonly string[],
  otherwise: Hint | string = `One of: ${known.join(", ")}`,
): Hint | string {
  const near = nearestWord(word, known);
  return near === undefined ? otherwise : `Did you mean "${before}${near}"?`;
}

/** The table entry of a command's verb. Throws `bad_request` for an unknown verb. */
export function verbIn<T>(command: string, verbs: Readonly<Record<string, T>>, word: string): T {
  if (Object.hasOwn(verbs, word)) return verbs[word]!;
  throw new ProcsupError("bad_request", `Unknown word "${word}" after "${command}"`, {
    hint: meantHint(`procsup ${command} `, word, Object.keys(verbs)),
  });
}

/** The word after a verb such as `cron run`. Throws `bad_request` if it is missing. */
export function wordAfter(verb: string, word: string | undefined, what: string): string {
  if (word !== undefined) return word;
  throw new ProcsupError("bad_request", `Too few words for "${verb}": expected ${what}`, {
    hint: commandHint("help", verb.split(" ")[0]),
  });
}

/** Throws `bad_request` if there are more words than a verb such as `context use` takes. */
export function refuseMore(verb: string, words: readonly string[], most: number): void {
  if (words.length <= most) return;
  throw new ProcsupError("bad_request", `Unexpected word "${words[most]}" after "${verb}"`, {
    hint: commandHint("help", verb.split(" ")[0]),
  });
}

/** Throws `bad_request` for a flag of the command that a verb such as `token list` would ignore. */
export function refuseFlags(
  { command, flags }: CommandContext,
  verb: string,
  taken: readonly string[] = [],
): void {
  const own = command.flags.map(({ name }) => name);
  const given = flags.names().find((name) => own.includes(name) && !taken.includes(name));
  if (given === undefined) return;
  throw new ProcsupError("bad_request", `Cannot use --${given} with "${verb}"`, {
    hint: commandHint("help", command.name),
  });
}
