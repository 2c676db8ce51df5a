/** `procsup list`. */

import type { ProcessJson } from "../../protocol/process_json.ts";
import { tableLines } from "../columns.ts";
import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import type { Output } from "../output.ts";
import { printData } from "../print_data.ts";
import { processColumns } from "../process_columns.ts";

/** Prints every process. */
export async function run(context: CommandContext): Promise<void> {
  const client = connect(context);
  const processes = await client.call("list");
  const { output } = context;
  if (await printData(output, processes, processes.map((process) => process.name))) return;
  if (processes.length === 0) {
    output.note("no apps yet\n  hint: procsup start <script>");
    return;
  }
  printTable(output, processes);
}

function printTable(output: Output, processes: readonly ProcessJson[]): void {
  const wide = output.format === "wide";
  const columns = processColumns(wide, output.color);
  const lines = tableLines(columns, processes, wide ? undefined : output.width);
  output.data(lines.join("\n"));
  const bad = processes.filter(({ state }) => state === "errored" || state === "crashed");
  if (output.terminal && bad.length > 0) output.note(`  hint: procsup why ${bad[0]!.name}`);
}
