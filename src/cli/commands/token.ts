/** `procsup token`. */

import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import { printData } from "../print_data.ts";

/** Prints the token, a new one with `--rotate`. */
export async function run(context: CommandContext): Promise<void> {
  const client = connect(context);
  const data = await client.call(
    "token",
    context.flags.on("rotate") ? { rotate: true } : undefined,
  );
  if (!await printData(context.output, data)) context.output.data(data.token);
}
