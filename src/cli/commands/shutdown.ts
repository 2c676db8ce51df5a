/** `procsup shutdown`. */

import { ProcsupError } from "../../model/errors.ts";
import { confirmed } from "../ask.ts";
import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import { printResults } from "../results.ts";

/** Stops every process and the daemon; asks first. */
export async function shutdown(context: CommandContext): Promise<number> {
  if (!confirmed(context, "Stop every app and the daemon?")) return 1;
  const client = connect(context);
  const data = await client.call("shutdown").catch(unhinted);
  const code = data.results.length === 0 ? 0 : await printResults(context.output, data);
  context.output.note("daemon stopped");
  return code;
}

/** Nobody wants to start a daemon to stop it. */
function unhinted(error: unknown): never {
  if (!(error instanceof ProcsupError) || error.code !== "daemon_unreachable") throw error;
  throw new ProcsupError(error.code, error.message, { hint: "There is nothing to stop" });
}
