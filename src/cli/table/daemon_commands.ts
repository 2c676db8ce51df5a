/** The commands about procsup itself. */

import type { Command } from "../command.ts";

/** Commands about the daemon and this program. */
export const DAEMON_COMMANDS: readonly Command[] = [
  {
    name: "daemon",
    group: "Daemon",
    summary: "Run the daemon",
    usage: "",
    words: [0, 0],
    flags: [
      { name: "detach", short: "d", type: "bool", help: "in the background, until it answers" },
    ],
    examples: ["procsup daemon", "procsup daemon --detach"],
    load: () => import("../commands/daemon.ts"),
  },
  {
    name: "shutdown",
    aliases: { kill: [] },
    group: "Daemon",
    summary: "Stop all apps and the daemon",
    usage: "",
    words: [0, 0],
    flags: [],
    examples: ["procsup shutdown --yes"],
    load: () => import("../commands/shutdown.ts"),
  },
  {
    name: "ping",
    group: "Daemon",
    summary: "Ask whether the daemon answers",
    usage: "",
    words: [0, 0],
    flags: [],
    examples: [],
    load: () => import("../commands/ping.ts"),
  },
  {
    name: "mcp",
    group: "Daemon",
    summary: "Serve agents by MCP on stdin and stdout, or tell a client how",
    usage: "[install <claude|cursor|vscode>]",
    words: [0, 2],
    flags: [
      { name: "read-only", type: "bool", help: "only the tools that change nothing" },
      { name: "allow", type: "text", value: "TOOL,…", help: "only these tools" },
      { name: "print", type: "bool", help: "install: print the entry, change no file" },
    ],
    examples: ["procsup mcp install claude", "procsup mcp --read-only"],
    load: () => import("../commands/mcp.ts"),
  },
  {
    name: "token",
    group: "Daemon",
    summary: "Print the token that the API wants",
    usage: "",
    words: [0, 0],
    flags: [{ name: "rotate", type: "bool", help: "make a new one first" }],
    examples: [],
    load: () => import("../commands/token.ts"),
  },
  {
    name: "version",
    group: "Daemon",
    summary: "Print the version",
    usage: "",
    words: [0, 0],
    flags: [],
    examples: [],
    load: () => import("../commands/version.ts"),
  },
  {
    name: "help",
    group: "Daemon",
    summary: "Tell about a command",
    usage: "[command]",
    words: [0, 1],
    flags: [],
    examples: ["procsup help start"],
    load: () => import("../commands/help.ts"),
  },
];
