/** `procsup list`. */

import type { ProcessJson } from "../../protocol/process_json.ts";
import { tableLines } from "../columns.ts";
import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import type { Output } from "../output.ts";
import { printData } from "../print_data.ts";
import { processColumns } from "../process_columns.ts";

/** Prints every process, or those of the targets, once or again and again. */
export async function run(context: CommandContext): Promise<void> {
  const { output } = context;
  if (context.flags.on("watch")) {
    const { watchList } = await import("../watch_list.ts");
    return await watchList(context, (processes, width) => tableOf(output, processes, width));
  }
  const client = connect(context);
  const processes = await selected(await client.call("list"), context.positionals);
  if (await printData(output, processes, processes.map((process) => process.name))) return;
  if (processes.length === 0) {
    output.note("no apps yet\n  hint: procsup start <script>");
    return;
  }
  printTable(output, processes);
}

/** Most lists are whole: what tells targets apart is loaded for the others. */
async function selected(
  processes: readonly ProcessJson[],
  targets: readonly string[],
): Promise<readonly ProcessJson[]> {
  if (targets.length === 0) return processes;
  return (await import("../../protocol/select_processes.ts")).selectProcesses(processes, targets);
}

function printTable(output: Output, processes: readonly ProcessJson[]): void {
  output.data(tableOf(output, processes, output.width).join("\n"));
  const bad = processes.filter(({ state }) => state === "errored" || state === "crashed");
  if (output.terminal && bad.length > 0) output.note(`  hint: procsup why ${bad[0]!.name}`);
}

function tableOf(
  { format, color }: Output,
  processes: readonly ProcessJson[],
  width: number | undefined,
): readonly string[] {
  const wide = format === "wide";
  return tableLines(processColumns(wide, color), processes, wide ? undefined : width);
}
