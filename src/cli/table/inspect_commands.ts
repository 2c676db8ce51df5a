/** The commands that look at apps. */

import { LOG_LEVELS } from "../../model/log_line.ts";
import { CHANGE_TYPES } from "../../model/process_change.ts";
import { WAIT_POINTS } from "../../model/wait_point.ts";
import type { CommandRow, Flag } from "../command.ts";
import { ON_FLAGS } from "./config_commands.ts";

const INTERVAL: Flag = {
  name: "interval",
  type: "text",
  value: "DURATION",
  help: "time between updates (default: 1s)",
};

/** Commands that change nothing. */
export const LOOK_COMMANDS: readonly CommandRow[] = [
  {
    name: "list",
    aliases: { ls: [], ps: [], l: [], jlist: ["--json"], prettylist: ["--json"] },
    page: "targets",
    summary: "List the apps",
    usage: "[target…]",
    flags: [
      {
        name: "watch",
        short: "w",
        type: "bool",
        help: "print again at each change; with -o jsonl only what changed",
      },
      INTERVAL,
      {
        name: "all-contexts",
        type: "bool",
        help: "those of this machine and of every context, in one table",
      },
      ...ON_FLAGS,
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
    page: "dashboard",
    summary: "Live view of all apps and their logs, with keys",
    flags: [INTERVAL, { name: "once", type: "bool", help: "print the table once, and exit" }],
    examples: ["procsup top", "procsup top --interval 2s", "procsup top --once"],
    load: async () => (await import("../commands/top.ts")).top,
  },
  {
    name: "status",
    aliases: { describe: [], desc: [], show: [], info: [] },
    page: "restarts",
    summary: "Show apps or the daemon; exit code 3 when not running",
    usage: "[target…]",
    examples: ["procsup status", "procsup status api", "procsup status api -q || page-someone"],
    load: async () => (await import("../commands/inspect.ts")).status,
  },
  {
    name: "pid",
    summary: "Print the process ids of apps; exit code 3 when none runs",
    usage: "[target…]",
    page: "restarts",
    examples: ["procsup pid api"],
    load: async () => (await import("../commands/list.ts")).pid,
  },
  {
    name: "why",
    page: "restarts",
    summary: "Explain the state of an app",
    usage: "<target>",
    flags: ON_FLAGS,
    examples: ["procsup why api"],
    load: async () => (await import("../commands/inspect.ts")).why,
  },
  {
    name: "logs",
    aliases: { log: [] },
    page: "logging",
    summary: "Print the logs of apps",
    usage: "[target…]",
    flags: [
      {
        name: "lines",
        short: "n",
        type: "int",
        value: "N",
        help: "last lines (default: 50; 0: all)",
      },
      {
        name: "follow",
        short: "f",
        type: "bool",
        help: "follow: print new lines; with -n 0 only those",
      },
      { name: "err", type: "bool", help: "standard error only" },
      { name: "out", type: "bool", help: "standard output only" },
      {
        name: "since",
        type: "text",
        value: "WHEN",
        help: "from then on: 10m, 23:40, yesterday, a date",
      },
      { name: "until", type: "text", value: "WHEN", help: "up to then" },
      { name: "grep", short: "g", type: "text", value: "REGEX", help: "lines that match" },
      { name: "invert", type: "bool", help: "with --grep: lines that do not" },
      { name: "ignore-case", short: "i", type: "bool", help: "with --grep: ignore case" },
      {
        name: "level",
        type: "text",
        value: "LEVEL",
        choices: LOG_LEVELS,
        help: "least level: error, warn, info or debug; with stack traces",
      },
      { name: "timestamps", short: "t", type: "bool", help: "print the time of each line" },
      { name: "raw", type: "bool", help: "lines as they were written, with control sequences" },
      { name: "nostream", type: "bool", help: "accepted for PM2 compatibility" },
      ...ON_FLAGS,
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
    name: "metrics",
    page: "history",
    summary: "Print CPU, memory and health of apps or the host over time",
    usage: "[target]",
    flags: [
      {
        name: "since",
        type: "text",
        value: "WHEN",
        help: "from 3h ago, from 23:40, from yesterday, from a date on (default: 1h)",
      },
      { name: "until", type: "text", value: "WHEN", help: "up to a time" },
      { name: "points", type: "int", value: "N", help: "at most N points (default: 30)" },
    ],
    examples: [
      "procsup metrics api --since 3h",
      "procsup metrics --since yesterday",
      "procsup metrics api --since 03:05 --until 03:20 --points 100",
      "procsup metrics all --since 30d -o json",
    ],
    load: async () => (await import("../commands/metrics.ts")).metrics,
  },
  {
    name: "events",
    page: "journal",
    summary: "Print the events of apps",
    usage: "[target]",
    flags: [
      { name: "lines", short: "n", type: "int", value: "N", help: "last events (default: 20)" },
      {
        name: "follow",
        short: "f",
        type: "bool",
        help: "follow: print new events; with -n 0 only those",
      },
      {
        name: "since",
        type: "text",
        value: "WHEN",
        help: "from then on: 12h, 23:40, yesterday, a date",
      },
      { name: "until", type: "text", value: "WHEN", help: "up to then" },
      {
        name: "type",
        type: "text",
        value: "TYPE",
        choices: CHANGE_TYPES,
        help: "only events of this type",
      },
    ],
    examples: [
      "procsup events api",
      "procsup events --type crashed --since yesterday",
      "procsup events -f -o jsonl",
      "procsup events api --since yesterday",
    ],
    load: async () => (await import("../commands/events.ts")).events,
  },
  {
    name: "wait",
    page: "health",
    summary: "Wait for apps; --for exit gives their exit code",
    usage: "<target>",
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
