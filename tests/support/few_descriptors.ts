/** Programs that have no descriptor left. */

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
    args: ["-c", 'ulimit -n 64; exec "$0" eval "$1"', Deno.execPath(), PRELUDE + script],
    cwd,
    stderr: "null",
  }).output();
  return new TextDecoder().decode(stdout);
}
