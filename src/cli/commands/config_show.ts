/** `procsup config show`: what a file comes to, everything merged and filled in. */

import type { CommandContext } from "../command.ts";
import { reportProblems } from "../config_problems.ts";
import { readSource } from "../config_source.ts";
import { printData } from "../print_data.ts";

/** Prints the processes of the files; values of their environments are masked. */
export async function run(context: CommandContext, words: readonly string[]): Promise<number> {
  try {
    const { loaded: { processes, settings } } = await readSource(context, words);
    const names = processes.map(({ config }) => config.name);
    const { shownSettings } = await import("../shown_settings.ts");
    const value = {
      ...shownSettings(settings),
      processes: processes.map(({ wire }) => masked(wire)),
    };
    if (await printData(context.output, value, names)) return 0;
    context.output.data((await import("../yaml.ts")).yaml(value));
    return 0;
  } catch (error) {
    return reportProblems(error, Deno.cwd());
  }
}

function masked(wire: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { name, env, ...rest } = wire;
  if (typeof env !== "object" || env === null) return { name, ...rest };
  const hidden = Object.fromEntries(Object.keys(env).map((key) => [key, "***"]));
  return { name, ...rest, env: hidden };
}
