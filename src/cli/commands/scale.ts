/** `procsup scale`: how many instances there are. */

import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import { printResults } from "../results.ts";

/** Scales a process to N, or by +N or -N. */
export async function run(context: CommandContext): Promise<number> {
  const [target, instances] = context.positionals as [string, string];
  const { output } = context;
  const data = await connect(context).call("scale", { target, instances });
  const { results } = data;
  if (results.length === 0) output.note(`${target} has that many instances already`);
  if (results.length === 0) return 0;
  if (output.format !== "table" && output.format !== "wide") {
    return await printResults(output, data);
  }
  const status = results.every(({ name }) => isGone(name, instances)) ? "deleted" : "started";
  return await printResults(output, { status, results });
}

/** All that a change leaves to tell have come, or all have gone, those with the highest numbers. */
function isGone(name: string, instances: string): boolean {
  if (/^[+-]/.test(instances)) return instances.startsWith("-");
  return Number(/:(\d+)$/.exec(name)?.[1] ?? 0) >= Number(instances);
}
