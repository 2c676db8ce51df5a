/** The flags that every command takes. */

import type { Flag } from "../command.ts";
import { FORMATS } from "../output.ts";

export const GLOBAL_FLAGS: readonly Flag[] = [
  { name: "home", type: "text", value: "DIR", help: "folder of the daemon" },
  { name: "host", type: "text", value: "HOST", help: "user@server or a context: by ssh" },
  {
    name: "remote-procsup",
    type: "text",
    value: "PATH",
    help: "procsup on that machine (default: on its PATH)",
  },
  {
    name: "output",
    short: "o",
    type: "text",
    value: "FORMAT",
    choices: FORMATS,
    help: "how to print data",
  },
  { name: "json", type: "bool", help: "same as -o json" },
  { name: "quiet", short: "q", type: "bool", help: "print data and errors only" },
  {
    name: "color",
    type: "text",
    value: "WHEN",
    choices: ["auto", "always", "never"],
    help: "when to colour",
  },
  { name: "yes", short: "y", type: "bool", help: "do not ask" },
  { name: "no-start-daemon", type: "bool", help: "fail when no daemon runs" },
  { name: "help", short: "h", type: "bool", help: "show help" },
  { name: "version", type: "bool", help: "show the version" },
];
