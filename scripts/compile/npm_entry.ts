/** Entry point of the npm package: restores the user's own variables, then runs the program. */

import { runCli } from "../../src/cli/cli.ts";
import { giveBackVariables } from "../../src/platform/launch/lent_variables.ts";

giveBackVariables();
Deno.exit(await runCli(Deno.args));
