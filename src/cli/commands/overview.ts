/** `procsup` alone: what there is to do, and how things stand. */

import { messageOf, ProcsupError } from "../../model/errors.ts";
import type { CommandContext } from "../command.ts";
import { connect } from "../connect.ts";
import { stateSummary } from "../describe.ts";
import { overview } from "../help.ts";
import { counted } from "../human.ts";

/** Prints the commands, and a line about the daemon. */
export async function run(context: CommandContext): Promise<void> {
  context.output.data(`${overview(context.commands)}\n\n${await stateLine(context)}`);
}

async function stateLine(context: CommandContext): Promise<string> {
  try {
    const client = connect(context);
    const processes = await client.call("list");
    const others = stateSummary(processes.filter((process) => process.state !== "running"));
    const apps = counted(processes.length, "app");
    return `daemon running, ${apps}${others === "" ? "" : `, ${others}`}`;
  } catch (error) {
    const absent = error instanceof ProcsupError && error.code === "daemon_unreachable";
    return absent ? "daemon not running" : `daemon: ${messageOf(error)}`;
  }
}
