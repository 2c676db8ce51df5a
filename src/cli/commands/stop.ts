/** `procsup stop`. */

import type { CommandContext } from "../command.ts";
import { refuseFiles } from "../refuse_files.ts";
import { forEachTarget } from "../results.ts";

/** Stops the targets. */
export async function run(context: CommandContext): Promise<number> {
  await refuseFiles(context);
  const timeout = context.flags.text("timeout");
  const options = {
    ...(context.flags.on("force") ? { force: true } : {}),
    ...(timeout === undefined ? {} : { timeout }),
  };
  return await forEachTarget(
    context,
    (client, target) => client.call("stop", { target, ...options }),
  );
}
