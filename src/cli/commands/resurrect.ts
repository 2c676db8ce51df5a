/** `procsup resurrect`. */

import { plainText } from "../../model/plain_text.ts";
import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import { counted } from "../human.ts";
import { writeMessage } from "../output.ts";
import { printData } from "../print_data.ts";

/** Brings the saved processes back. Exit code 1 when some did not come. */
export async function run(context: CommandContext): Promise<number> {
  const client = connect(context);
  const data = await client.call("resurrect");
  if (!await printData(context.output, data)) {
    context.output.done(`✔ resurrected ${counted(data.count, "app")}`);
  }
  for (const error of data.errors) writeMessage(`✘ ${plainText(error)}\n`);
  return data.errors.length === 0 ? 0 : 1;
}
