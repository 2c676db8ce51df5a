/** `procsup signal`. */

import { ProcsupError } from "../../model/errors.ts";
import { parseSignal } from "../../model/signal.ts";
import type { CommandContext } from "../command.ts";
import { forEachTarget } from "../results.ts";
import { shellWord } from "../shell_word.ts";

/** Sends a signal to the targets. */
export async function run(context: CommandContext): Promise<number> {
  const [word, ...targets] = context.positionals as [string, ...string[]];
  const signal = signalOf(word, targets);
  const command = { ...context, positionals: targets };
  return await forEachTarget(
    command,
    (client, target) => client.call("signal", { target, signal }),
  );
}

function signalOf(word: string, targets: readonly string[]): string {
  try {
    return parseSignal(word);
  } catch (error) {
    // `signal api HUP`, the other way round.
    const other = targets.at(-1)!;
    if (!(error instanceof ProcsupError) || !isSignal(other)) throw error;
    const order = [other, word, ...targets.slice(0, -1)].map(shellWord).join(" ");
    throw new ProcsupError(error.code, error.message, { hint: `procsup signal ${order}` });
  }
}

function isSignal(word: string): boolean {
  try {
    parseSignal(word);
    return true;
  } catch {
    return false;
  }
}
