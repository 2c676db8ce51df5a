/** `procsup save`. */

import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import { counted } from "../human.ts";
import { printData } from "../print_data.ts";

/** Saves the list of processes. */
export async function run(context: CommandContext): Promise<void> {
  const client = connect(context);
  const data = await client.call("save");
  if (await printData(context.output, data)) return;
  context.output.done(`✔ saved ${counted(data.count, "app")}`);
}
