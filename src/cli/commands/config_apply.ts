/** `procsup config apply`: makes the processes what a file says. */

import type { ConfigReloadResult } from "../../protocol/actions.ts";
import { reportErrors } from "../apply_errors.ts";
import type { CommandContext } from "../command.ts";
import { reportProblems } from "../config_problems.ts";
import { readSource } from "../config_source.ts";
import { connect, withDaemonStarted } from "../connect.ts";
import { printResults } from "../results.ts";
import { printPlan, run as plan } from "./config_plan.ts";

/** Applies; with `--dry-run` only tells what that would do. */
export async function run(context: CommandContext, words: readonly string[]): Promise<number> {
  const { flags } = context;
  if (flags.on("dry-run")) return await plan(context, words);
  try {
    const { files, payload } = await readSource(context, words);
    const data = await withDaemonStarted(context, () =>
      connect(context).call("config_reload", {
        ...payload,
        ...{ config_path: files, prune: flags.on("prune"), wait: !flags.on("no-wait") },
      }));
    return await printApplied(context, data);
  } catch (error) {
    return reportProblems(error, Deno.cwd());
  }
}

/** Prints what was done, and what failed. */
export async function printApplied(
  context: CommandContext,
  data: ConfigReloadResult,
): Promise<number> {
  await printPlan(context, data);
  const code = reportErrors(data);
  const results = data.results.filter(({ ok }) => !ok);
  if (results.length === 0 || context.output.format !== "table") return code;
  return await printResults(context.output, { status: "applied", results });
}
