/** `procsup stop`. */

import type { CommandContext } from "../command.ts";
import { forEachTarget } from "../results.ts";

/** Stops the targets. */
export function run(context: CommandContext): Promise<number> {
  const timeout = context.flags.text("timeout");
  const options = {
    ...(context.flags.on("force") ? { force: true } : {}),
    ...(timeout === undefined ? {} : { timeout }),
  };
  return forEachTarget(context, (client, target) => client.call("stop", { target, ...options }));
}
