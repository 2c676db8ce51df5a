/** `procsup flush`. */

import type { CommandContext } from "../command.ts";
import { forEachTarget } from "../results.ts";

/** Empties the logs of the targets. */
export function run(context: CommandContext): Promise<number> {
  return forEachTarget(context, (client, target) => client.call("flush", { target }));
}
