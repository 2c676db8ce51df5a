/** `procsup ping`. */

import { PROTOCOL } from "../../protocol/actions.ts";
import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import { printData } from "../print_data.ts";

/** Prints that the daemon answers, and its version. */
export async function run(context: CommandContext): Promise<void> {
  const client = connect(context);
  const data = await client.call("ping");
  const { output } = context;
  if (!await printData(output, data)) output.data(`pong (procsup ${data.version})`);
  if (data.protocol !== PROTOCOL) {
    output.note(`the daemon speaks protocol ${data.protocol}, this program ${PROTOCOL}`);
  }
}
