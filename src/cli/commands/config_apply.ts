/** `procsup config apply`: makes the processes what a file says. */

import { baseName } from "../../model/name.ts";
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
  await noteFailed(context, data.unchanged);
  const code = reportErrors(data);
  const results = data.results.filter(({ ok }) => !ok);
  if (results.length === 0 || context.output.format !== "table") return code;
  return await printResults(context.output, { status: "applied", results });
}

/** What is as the file says may have failed long ago, and applying starts nothing again. */
async function noteFailed(context: CommandContext, unchanged: readonly string[]): Promise<void> {
  if (unchanged.length === 0 || context.output.format !== "table") return;
  const names = new Set(unchanged);
  const failed = (await connect(context).call("list")).filter(({ name, state }) =>
    names.has(baseName(name)) && (state === "errored" || state === "crashed")
  );
  for (const { name, state } of failed) {
    context.output.note(`${name} is ${state}: procsup why ${name}, procsup start ${name}`);
  }
}
