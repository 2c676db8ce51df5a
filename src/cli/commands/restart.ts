/** `procsup restart`. */

import type { CommandContext } from "../command.ts";
import { forEachTarget } from "../results.ts";

/** Restarts the targets, and waits until they have stayed up. */
export function run(context: CommandContext): Promise<number> {
  const wait = context.flags.on("no-wait") ? {} : { wait: true };
  return forEachTarget(context, (client, target) => client.call("restart", { target, ...wait }));
}
