/** Finds commands by name or alias. */

import type { Command } from "./command.ts";

/** The command with that name or alias, and the words that the alias adds. */
export function findCommand(
  commands: readonly Command[],
  word: string,
): { readonly command: Command; readonly preset: readonly string[] } | undefined {
  for (const command of commands) {
    if (command.name === word) return { command, preset: [] };
    const aliases = command.aliases ?? {};
    if (Object.hasOwn(aliases, word)) return { command, preset: aliases[word]! };
  }
  return undefined;
}

/** Every name and alias that help shows. */
export function commandWords(commands: readonly Command[]): string[] {
  return commands.filter(({ hidden }) => !hidden)
    .flatMap(({ name, aliases = {} }) => [name, ...Object.keys(aliases)]);
}
