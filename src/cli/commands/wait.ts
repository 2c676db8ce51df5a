/** `procsup wait`: until processes have come to a point. */

import type { WaitPoint } from "../../model/wait_point.ts";
import type { ProcessJson } from "../../protocol/process_json.ts";
import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import { describeExitJson } from "../describe.ts";
import { printData } from "../print_data.ts";

/** Waits; with `--for exit` the exit code is that of the process, the highest of several. */
export async function run(context: CommandContext): Promise<number> {
  const client = connect(context);
  const { flags, output } = context;
  const point = (flags.text("for") ?? "ready") as WaitPoint;
  const timeout = flags.text("timeout");
  const processes = await client.call("wait", {
    target: context.positionals[0]!,
    for: point,
    ...(timeout === undefined ? {} : { timeout }),
  });
  if (!await printData(output, processes, processes.map((process) => process.name))) {
    for (const process of processes) output.done(line(process, point));
  }
  return point === "exit" ? Math.max(0, ...processes.map(exitCode)) : 0;
}

function line(process: ProcessJson, point: string): string {
  if (point !== "exit") return `✔ ${process.name}  ${process.state}`;
  return `${process.name}  exit ${describeExitJson(process)}`;
}

/** An exit code that nobody knows is no success. */
function exitCode({ last_exit }: ProcessJson): number {
  return last_exit?.code ?? 1;
}
