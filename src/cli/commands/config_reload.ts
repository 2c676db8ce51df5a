/** `procsup config reload`: applies again what was applied last. */

import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import { printApplied, run as apply } from "./config_apply.ts";
import { printPlan } from "./config_plan.ts";

/** Has the daemon read its files again; named ones are applied. */
export async function run(context: CommandContext, words: readonly string[]): Promise<number> {
  if (words.length > 0) return await apply(context, words);
  const { flags } = context;
  const only = flags.text("only");
  const profile = flags.text("profile");
  const data = await connect(context).call("config_reload", {
    dry_run: flags.on("dry-run"),
    prune: flags.on("prune"),
    wait: !flags.on("no-wait"),
    ...(only === undefined ? {} : { only }),
    ...(profile === undefined ? {} : { profile }),
  });
  if (data.status !== "planned") return await printApplied(context, data);
  await printPlan(context, data);
  return 0;
}
