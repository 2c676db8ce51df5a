/** A word of the command line that is in no table. */

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
