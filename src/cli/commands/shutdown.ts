/** `procsup shutdown`. */

import { confirmed } from "../ask.ts";
import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import { printResults } from "../results.ts";

/** Stops every process and the daemon; asks first. */
export async function run(context: CommandContext): Promise<number> {
  if (!confirmed(context, "Stop every app and the daemon?")) return 1;
  const client = connect(context);
  const data = await client.call("shutdown");
  const code = data.results.length === 0 ? 0 : await printResults(context.output, data);
  context.output.note("daemon stopped");
  return code;
}
