/** The flags that every command takes. */

import type { Flag } from "../flags.ts";
import { FORMATS } from "../output.ts";
import { bool, text } from "./make_flags.ts";

export const GLOBAL_FLAGS: readonly Flag[] = [
  text("home", "DIR", "folder of the daemon (default: ~/.procsup)"),
  text("host", "HOST", "machine of the daemon, by ssh: user@server, or a context"),
  text("remote-procsup", "PATH", "procsup on that machine (default: on its PATH)"),
  text("output", "FORMAT", "how to print data (default: table)", { short: "o", choices: FORMATS }),
  bool("json", "same as -o json"),
  bool("quiet", "print data and errors only", { short: "q" }),
  text("color", "WHEN", "when to colour (default: auto)", { choices: ["auto", "always", "never"] }),
  bool("yes", "do not ask", { short: "y" }),
  bool("no-start-daemon", "fail when no daemon runs"),
  bool("help", "show help", { short: "h" }),
  bool("version", "show the version"),
];
