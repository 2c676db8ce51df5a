/** Runs the real program, such as `procsup run`, in another folder or under another command. */

import { outputOf, type Ran } from "./output_of.ts";
import { programWords } from "./procsup.ts";

/** Where and how a command runs. */
interface Setting {
  /** The words before the program. */
  readonly before?: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: "null" | "piped";
}

/** A command of the program. */
export function command(
  args: readonly string[],
  { before = [], cwd = "/", env, stdin = "null" }: Setting = {},
): Deno.Command {
  const [program, ...words] = [...before, ...programWords(), ...args];
  return new Deno.Command(program!, {
    args: words,
    cwd,
    env: { NO_COLOR: "1", ...env },
    stdin,
    stdout: "piped",
    stderr: "piped",
  });
}

/** Runs a command of the program to its end. */
export async function run(args: readonly string[], setting: Setting = {}): Promise<Ran> {
  return await outputOf(command(args, setting));
}
