/** `procsup config plan`: what applying a file would do. */

import type { ConfigReloadResult } from "../../protocol/actions.ts";
import type { CommandContext } from "../command.ts";
import { reportProblems } from "../config_problems.ts";
import { readSource } from "../config_source.ts";
import { connect } from "../connect.ts";
import { planLines } from "../plan_text.ts";
import { printData } from "../print_data.ts";

/** Prints the plan; nothing is changed. */
export async function run(context: CommandContext, words: readonly string[]): Promise<number> {
  try {
    const { files, payload } = await readSource(context, words);
    const prune = context.flags.on("prune");
    const data = await connect(context).call("config_reload", {
      ...payload,
      ...{ config_path: files, dry_run: true, prune },
    });
    await printPlan(context, data);
    return 0;
  } catch (error) {
    return reportProblems(error, Deno.cwd());
  }
}

/** Prints what would be done, or was done. */
export async function printPlan(
  { output }: CommandContext,
  data: ConfigReloadResult,
): Promise<void> {
  if (await printData(output, data, [...data.added, ...data.changed, ...data.removed])) return;
  for (const line of planLines(data)) output.done(line);
}
