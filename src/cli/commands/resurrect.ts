/** `procsup resurrect`. */

import { plainText } from "../../model/plain_text.ts";
import type { CommandContext } from "../command.ts";
import { connect, withDaemonStarted } from "../connect.ts";
import { counted } from "../human.ts";
import { writeMessage } from "../output.ts";
import { printData } from "../print_data.ts";

/** Brings the saved processes back. Exit code 1 when some did not come. */
export async function run(context: CommandContext): Promise<number> {
  const data = await withDaemonStarted(context, () => connect(context).call("resurrect"));
  if (!await printData(context.output, data)) {
    context.output.done(`✔ resurrected ${counted(data.count, "app")}`);
  }
  if (data.count === 0 && data.errors.length === 0) {
    context.output.note("every saved app is there; those that are stopped: procsup start all");
  }
  for (const error of data.errors) writeMessage(`✘ ${plainText(error)}\n`);
  return data.errors.length === 0 ? 0 : 1;
}
