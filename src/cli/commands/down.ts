/** `procsup down`: stops and deletes the apps that `procsup up` of the same file has started. */

import type { CommandContext } from "../command.ts";
import { filesOf } from "../config_source.ts";
import { connect } from "../connect.ts";
import { withProcesses } from "../progress.ts";
import { printResults } from "../results.ts";

/** Deletes the apps of the files, dependents first. The daemon keeps running. */
export async function down(context: CommandContext): Promise<number> {
  const { files, payload } = await filesOf(context, context.positionals, true);
  const request = { ...payload, config_path: files };
  const client = connect(context);
  const answer = await withProcesses(context, () => client.call("config_delete", request));
  return await printResults(context.output, answer, "nothing to do: none of its apps exists");
}
