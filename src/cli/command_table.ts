/** Every command, as data. */

import type { Command } from "./command.ts";
import { APP_COMMANDS } from "./table/app_commands.ts";
import { CONFIG_COMMANDS } from "./table/config_commands.ts";
import { DAEMON_COMMANDS } from "./table/daemon_commands.ts";
import { LOOK_COMMANDS } from "./table/inspect_commands.ts";

/** The command table, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  ...APP_COMMANDS,
  ...LOOK_COMMANDS,
  ...CONFIG_COMMANDS,
  ...DAEMON_COMMANDS,
];
