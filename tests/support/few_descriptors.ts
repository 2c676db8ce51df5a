/** Programs that have no descriptor left. */

import { BY_OUR_NAMES } from "./link_library.ts";

const PRELUDE = `
const held = [];
const take = () => { try { for (;;) held.push(Deno.openSync("/dev/null")); } catch {} };
const release = () => { for (const file of held.splice(0)) file.close(); };
`;

/**
 * Runs a script in a folder with 64 descriptors, of which `take()` takes all that are left and
 * `release()` gives them back. Resolves with what it prints.
 */
export async function withFewDescriptors(script: string, cwd: string): Promise<string> {
  const { stdout } = await new Deno.Command("/bin/sh", {
    args: ["-c", 'ulimit -n 64; exec "$@"', "sh"]
      .concat(Deno.execPath(), "eval", BY_OUR_NAMES, PRELUDE + script),
    cwd,
    stderr: "null",
  }).output();
  return new TextDecoder().decode(stdout);
}
