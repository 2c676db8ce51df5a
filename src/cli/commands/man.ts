/** `procsup man`: the man page. */

import { VERSION } from "../../protocol/actions.ts";
import type { CommandContext } from "../command.ts";
import { manPage } from "../man/man_page.ts";

/** Prints the page in mdoc: `procsup man | man -l -`. */
export function run({ commands, output }: CommandContext): void {
  const date = new Intl.DateTimeFormat("en-US", { dateStyle: "long" }).format(new Date());
  output.data(manPage(commands, VERSION, date).trimEnd());
}
