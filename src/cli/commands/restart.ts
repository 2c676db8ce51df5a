/** `procsup restart`. */

import type { CommandContext } from "../command.ts";
import { refuseFiles } from "../refuse_files.ts";
import { forEachTarget } from "../results.ts";

/** Restarts the targets, and waits until they have stayed up. */
export async function run(context: CommandContext): Promise<number> {
  await refuseFiles(context);
  const wait = context.flags.on("no-wait") ? {} : { wait: true };
  return await forEachTarget(
    context,
    (client, target) => client.call("restart", { target, ...wait }),
  );
}
