/** Entry point of the portable executable: restores the user's own variables, then runs the program. */

import { runCli } from "../../src/cli/cli.ts";
import { unpackedFolder } from "../../src/platform/own_program.ts";
import { holdUnpacked, pruneUnpacked } from "../../src/platform/unpacked.ts";
import { giveBackVariables } from "../../src/platform/launch/lent_variables.ts";

/** Set by the stub if it has just unpacked. */
const UNPACKED = "PROCSUP_UNPACKED";

const folder = unpackedFolder()!;
holdUnpacked(folder);
if (Deno.env.get(UNPACKED)) pruneUnpacked(folder);
Deno.env.delete(UNPACKED);
giveBackVariables();
Deno.exit(await runCli(Deno.args));
