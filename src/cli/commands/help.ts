/** `procsup help`, and `--help` anywhere. */

import { didYouMean } from "../../model/did_you_mean.ts";
import { ProcsupError } from "../../model/errors.ts";
import type { Command, CommandContext } from "../command.ts";
import { commandWords, findCommand } from "../find_command.ts";
import { commandHelp, generalHelp } from "../help.ts";

/** Prints help on the command that was named, or on all. */
export function run({ command, commands, positionals, output }: CommandContext): void {
  const topic = positionals[0];
  if (command.name !== "help") return output.data(commandHelp(command));
  if (topic === undefined) return output.data(generalHelp(commands));
  output.data(commandHelp(commandCalled(commands, topic)));
}

function commandCalled(commands: readonly Command[], word: string): Command {
  const found = findCommand(commands, word);
  if (found !== undefined) return found.command;
  const near = didYouMean(word, commandWords(commands));
  throw new ProcsupError("bad_request", `Unknown command "${word}"`, {
    hint: near === undefined ? "procsup help" : `Did you mean "procsup help ${near}"?`,
  });
}
