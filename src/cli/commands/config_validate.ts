/** `procsup config validate`: every mistake of a file, without the daemon. */

import { commandProblems } from "../../config/check_commands.ts";
import type { CommandContext } from "../command.ts";
import { printProblems, reportProblems } from "../config_problems.ts";
import { readSource } from "../config_source.ts";
import { counted } from "../human.ts";
import { printData } from "../print_data.ts";

/** Says that the files are right, or what is wrong with them and where. */
export async function run(context: CommandContext, words: readonly string[]): Promise<number> {
  const cwd = Deno.cwd();
  try {
    const { files, loaded: { processes } } = await readSource(context, words);
    const problems = commandProblems(processes, Deno.env.get("PATH") ?? "");
    if (problems.length > 0) return printProblems(problems, cwd);
    const names = processes.map(({ config }) => config.name);
    if (await printData(context.output, { valid: true, files, processes: names }, names)) return 0;
    const shown = files.map((file) => file.replace(`${cwd}/`, "")).join(", ");
    context.output.done(`✔ ${shown}  ${counted(names.length, "process", "processes")}, no mistake`);
    return 0;
  } catch (error) {
    return reportProblems(error, cwd);
  }
}
