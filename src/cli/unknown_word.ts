/** A word of the command line that is in no table. */

import { didYouMean } from "../model/did_you_mean.ts";
import { ProcsupError } from "../model/errors.ts";

/** `bad_request` for a command or flag that procsup does not have; other tools may have it. */
export class UnknownWordError extends ProcsupError {
  /** The flag as it was written, or the command. */
  readonly word: string;
  /** The command that the flag was given to; undefined for a command. */
  readonly command: string | undefined;

  constructor(message: string, hint: string, word: string, command?: string) {
    super("bad_request", message, { hint });
    this.word = word;
    this.command = command;
  }
}

/** `bad_request` for the word after a command that is not one of its verbs. */
export function unknownVerb(
  command: string,
  word: string,
  verbs: readonly string[],
): ProcsupError {
  const near = didYouMean(word, verbs);
  return new ProcsupError("bad_request", `Unknown word "${word}" after "${command}"`, {
    hint: near === undefined
      ? `procsup help ${command}`
      : `Did you mean "procsup ${command} ${near}"?`,
  });
}
