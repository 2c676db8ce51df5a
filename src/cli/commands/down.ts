/** `procsup down`: what `procsup up` of the same file has brought up, stopped and forgotten. */

import { baseName } from "../../model/name.ts";
import { startWaves } from "../../model/start_order.ts";
import type { ActionResult, ProcessJson } from "../../protocol/wire.ts";
import type { CommandContext } from "../command.ts";
import { reportProblems } from "../config_problems.ts";
import { filesOf } from "../config_source.ts";
import { connect } from "../connect.ts";
import { reportError } from "../report_error.ts";
import { printResults } from "../results.ts";

/** Deletes the apps of the files, those first on which no other depends. The daemon stays. */
export async function down(context: CommandContext): Promise<number> {
  try {
    const { files, payload } = await filesOf(context, context.positionals);
    const client = connect(context);
    // The plan knows which apps are of these files, and refuses those of another checkout.
    const { changed, unchanged, kept } = await client.call("config_reload", {
      ...payload,
      ...{ config_path: files, dry_run: true },
    });
    const ours = new Set([...changed, ...unchanged, ...kept]);
    const there = (await client.call("list")).filter(({ name }) => ours.has(baseName(name)));
    const results: ActionResult[] = [];
    let worst = 0;
    for (const names of inOrder(there)) {
      const asked = names.map((target) => client.call("delete", { target }));
      for (const answer of await Promise.allSettled(asked)) {
        if (answer.status === "fulfilled") results.push(...answer.value.results);
        else worst = Math.max(worst, reportError(answer.reason));
      }
    }
    return Math.max(worst, await printResults(context.output, { status: "deleted", results }));
  } catch (error) {
    return reportProblems(error, Deno.cwd());
  }
}

/** Names of apps, in the turns in which they go. */
function inOrder(processes: readonly ProcessJson[]): string[][] {
  const apps = new Map(processes.map(({ name, config }) => [baseName(name), config]));
  const waves = startWaves([...apps], ([name, config]) => ({
    name,
    dependsOn: Object.keys((config.depends_on as object | undefined) ?? {}),
    priority: Number(config.priority ?? 0),
  }));
  return waves.map((wave) => wave.map(([name]) => name)).toReversed();
}
