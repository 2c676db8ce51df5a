/** The procsup executable: runs what the command line says and exits with its code. */

import { runCli } from "./src/cli/cli.ts";

if (import.meta.main) Deno.exit(await runCli(Deno.args));
