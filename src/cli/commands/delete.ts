/** `procsup delete`. */

import { confirmed } from "../ask.ts";
import type { CommandContext } from "../command.ts";
import { refuseFiles } from "../refuse_files.ts";
import { forEachTarget } from "../results.ts";

/** Stops and forgets the targets; asks before that means all. */
export async function run(context: CommandContext): Promise<number> {
  await refuseFiles(context);
  const all = context.positionals.includes("all");
  if (all && !confirmed(context, "Stop and forget every app?")) return 1;
  return await forEachTarget(context, (client, target) => client.call("delete", { target }));
}
