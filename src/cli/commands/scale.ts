/** `procsup scale`: how many instances there are. */

import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import { printResults } from "../results.ts";

/** Scales a process to N, or by +N or -N. */
export async function run(context: CommandContext): Promise<number> {
  const [target, instances] = context.positionals as [string, string];
  const data = await connect(context).call("scale", { target, instances });
  if (data.results.length === 0) context.output.note(`${target} has that many instances already`);
  return data.results.length === 0 ? 0 : await printResults(context.output, data);
}
