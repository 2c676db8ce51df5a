/** Where the portable executable enters: gives the user's own variables back, then runs the program. */

import { runCli } from "../../src/cli/cli.ts";

/** What the stub sets for the Deno that it starts, and where it keeps what the user had there. */
const LENT = { DENO_DIR: "PROCSUP_USER_DENO_DIR", DENO_NO_UPDATE_CHECK: undefined } as const;

// Apps that are started from here must find the environment as the user left it.
for (const [name, kept] of Object.entries(LENT)) {
  const value = kept === undefined ? undefined : Deno.env.get(kept);
  if (value) Deno.env.set(name, value);
  else Deno.env.delete(name);
  if (kept !== undefined) Deno.env.delete(kept);
}

Deno.exit(await runCli(Deno.args));
