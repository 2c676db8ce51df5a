/** `procsup signal`. */

import { parseSignal } from "../../model/signal.ts";
import type { CommandContext } from "../command.ts";
import { forEachTarget } from "../results.ts";

/** Sends a signal to the targets. */
export async function run(context: CommandContext): Promise<number> {
  const [word, ...targets] = context.positionals;
  const signal = parseSignal(word!);
  const command = { ...context, positionals: targets };
  return await forEachTarget(
    command,
    (client, target) => client.call("signal", { target, signal }),
  );
}
