/** Every command, as data. */

import type { Command, CommandRow } from "./command.ts";
import { APP_COMMANDS } from "./table/app_commands.ts";
import { CONFIG_COMMANDS } from "./table/config_commands.ts";
import { DAEMON_COMMANDS } from "./table/daemon_commands.ts";
import { LOOK_COMMANDS } from "./table/inspect_commands.ts";

/** The command table, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  ...inGroup("Apps", APP_COMMANDS),
  ...inGroup("Look", LOOK_COMMANDS),
  ...inGroup("Config", CONFIG_COMMANDS),
  ...inGroup("Daemon", DAEMON_COMMANDS),
];

function inGroup(group: string, rows: readonly CommandRow[]): Command[] {
  return rows.map(({ flags = [], usage = "", examples = [], ...row }) => ({
    ...row,
    group,
    usage,
    examples,
    takesRest: usage.includes("--"),
    get flags() {
      return typeof flags === "function" ? flags() : flags;
    },
  }));
}
