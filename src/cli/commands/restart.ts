/** `procsup restart`. */

import type { CommandContext } from "../command.ts";
import { refuseFiles } from "../refuse_files.ts";
import { forEachTarget } from "../results.ts";
import { NO_WAIT } from "../table/start_flags.ts";

/** Restarts the targets, with what the flags change of them, and waits until they have stayed up. */
export async function run(context: CommandContext): Promise<number> {
  await refuseFiles(context);
  const { command, flags, rest } = context;
  const wait = !flags.on(NO_WAIT.name);
  const given = flags.names();
  if (rest !== undefined || command.flags.some((f) => f !== NO_WAIT && given.includes(f.name))) {
    return await (await import("../restart_changed.ts")).restartChanged(context, wait);
  }
  return await forEachTarget(
    context,
    (client, target) => client.call("restart", { target, ...(wait ? { wait } : {}) }),
  );
}
