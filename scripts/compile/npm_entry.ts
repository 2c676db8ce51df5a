/** Where the npm package enters: gives the user's own variables back, then runs the program. */

import { runCli } from "../../src/cli/cli.ts";
import { giveBackVariables } from "./lent_variables.ts";

giveBackVariables();
Deno.exit(await runCli(Deno.args));
