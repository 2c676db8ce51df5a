/** The commands that look at apps. */

import { LOG_LEVELS } from "../../model/log_line.ts";
import { WAIT_POINTS } from "../../model/wait_point.ts";
import type { Command, Flag } from "../command.ts";

const MANY = Infinity;

const INTERVAL: Flag = {
  name: "interval",
  type: "text",
  value: "DURATION",
  help: "how often (default: 1s)",
};

/** Commands that change nothing. */
export const LOOK_COMMANDS: readonly Command[] = [
  {
    name: "list",
    aliases: { ls: [], ps: [], l: [], jlist: ["--json"], prettylist: ["--json"] },
    group: "Look",
    page: "targets",
    summary: "List the apps",
    usage: "[target…]",
    words: [0, MANY],
    flags: [
      { name: "watch", short: "w", type: "bool", help: "again and again; -o jsonl: what changes" },
      INTERVAL,
    ],
    examples: [
      "procsup list",
      "procsup list -o wide",
      "procsup list api tag:web",
      "procsup list --json",
      "procsup list --watch",
      "procsup list --watch -o jsonl",
    ],
    load: async () => (await import("../commands/list.ts")).list,
  },
  {
    name: "top",
    aliases: { monit: [], monitor: [] },
    group: "Look",
    page: "dashboard",
    summary: "Live view of all apps and their logs, with keys",
    usage: "",
    words: [0, 0],
    flags: [
      INTERVAL,
      { name: "once", type: "bool", help: "print the table once, and end" },
    ],
    examples: ["procsup top", "procsup top --interval 2s", "procsup top --once"],
    load: async () => (await import("../commands/top.ts")).top,
  },
  {
    name: "status",
    aliases: { describe: [], desc: [], show: [], info: [] },
    group: "Look",
    page: "restarts",
    summary: "Show apps or the daemon; exit code 3 when not running",
    usage: "[target…]",
    words: [0, MANY],
    flags: [],
    examples: ["procsup status", "procsup status api", "procsup status api -q || page-someone"],
    load: async () => (await import("../commands/inspect.ts")).status,
  },
  {
    name: "pid",
    group: "Look",
    summary: "Print the process ids of apps; exit code 3 when none runs",
    usage: "[target…]",
    words: [0, MANY],
    flags: [],
    page: "restarts",
    examples: ["procsup pid api"],
    load: async () => (await import("../commands/list.ts")).pid,
  },
  {
    name: "why",
    group: "Look",
    page: "restarts",
    summary: "Tell why an app is in the state it is in",
    usage: "<target>",
    words: [1, 1],
    flags: [],
    examples: ["procsup why api"],
    load: async () => (await import("../commands/inspect.ts")).why,
  },
  {
    name: "logs",
    aliases: { log: [] },
    group: "Look",
    page: "logging",
    summary: "Print what apps wrote",
    usage: "[target…]",
    words: [0, MANY],
    flags: [
      { name: "lines", short: "n", type: "int", value: "N", help: "last lines (default: 50)" },
      { name: "follow", short: "f", type: "bool", help: "go on with new lines; -n 0: only those" },
      { name: "err", type: "bool", help: "standard error only" },
      { name: "out", type: "bool", help: "standard output only" },
      {
        name: "since",
        type: "text",
        value: "WHEN",
        help: "from 10m ago, from 23:40, from yesterday, from a date on",
      },
      { name: "until", type: "text", value: "WHEN", help: "up to a time" },
      { name: "grep", short: "g", type: "text", value: "REGEX", help: "lines that match" },
      { name: "invert", type: "bool", help: "with --grep: lines that do not" },
      { name: "ignore-case", short: "i", type: "bool", help: "with --grep: capitals or not" },
      {
        name: "level",
        type: "text",
        value: "LEVEL",
        choices: LOG_LEVELS,
        help: "error, warn, info, debug: lines as grave as that, with stack traces",
      },
      { name: "timestamps", short: "t", type: "bool", help: "say when each line was written" },
      {
        name: "raw",
        type: "bool",
        help: "lines as they were written: JSON as JSON, control sequences too",
      },
      { name: "nostream", type: "bool", help: "for who knows PM2: it is so without -f" },
    ],
    examples: [
      "procsup logs api -f",
      "procsup logs -n 200 --err",
      "procsup logs api --since 10m --grep 'timeout|refused' -i -t",
      "procsup logs --level error --since yesterday",
      "procsup logs api --json",
    ],
    load: async () => (await import("../commands/logs.ts")).logs,
  },
  {
    name: "events",
    group: "Look",
    page: "journal",
    summary: "Print what happens to apps, as it happens, or what did",
    usage: "[target]",
    words: [0, 1],
    flags: [
      {
        name: "since",
        type: "text",
        value: "WHEN",
        help: "what happened from 12h ago, from 23:40, from yesterday, from a date on",
      },
      { name: "until", type: "text", value: "WHEN", help: "what happened up to a time" },
    ],
    examples: [
      "procsup events",
      "procsup events api -o jsonl",
      "procsup events api --since yesterday",
    ],
    load: async () => (await import("../commands/inspect.ts")).events,
  },
  {
    name: "wait",
    group: "Look",
    page: "health",
    summary: "Wait for apps; --for exit gives their exit code",
    usage: "<target>",
    words: [1, 1],
    flags: [
      {
        name: "for",
        type: "text",
        value: "POINT",
        choices: WAIT_POINTS,
        help: "what to wait for (default: ready)",
      },
      { name: "timeout", type: "text", value: "DURATION", help: "give up with exit code 124" },
    ],
    examples: ["procsup wait api --for ready --timeout 30s", "procsup wait job --for exit"],
    load: async () => (await import("../commands/inspect.ts")).wait,
  },
];
