/** `procsup version`. */

import { VERSION } from "../../protocol/version.ts";
import type { CommandContext } from "../command.ts";
import { printData } from "../output.ts";

/** Prints the version of this program. */
export async function version({ output }: CommandContext): Promise<void> {
  if (!await printData(output, { version: VERSION })) output.data(`procsup ${VERSION}`);
}
