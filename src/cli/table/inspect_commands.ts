/** The commands that look at apps. */

import { LOG_LEVELS } from "../../model/log_line.ts";
import { CHANGE_TYPES } from "../../model/process_change.ts";
import { WAIT_POINTS } from "../../model/process_info.ts";
import type { CommandRow } from "../command.ts";
import { ON_FLAGS } from "./config_commands.ts";
import { bool, int, text } from "./make_flags.ts";

const INTERVAL = text("interval", "DURATION", "time between updates (default: 1s)");

/** Commands that change nothing. */
export const LOOK_COMMANDS: readonly CommandRow[] = [
  {
    name: "list",
    aliases: { ls: [], ps: [], l: [], jlist: ["--json"], prettylist: ["--json"] },
    page: "targets",
    summary: "List the apps",
    usage: "[target…]",
    flags: [
      bool("watch", "print again at each change; with -o jsonl only what changed", { short: "w" }),
      INTERVAL,
      bool("all-contexts", "those of this machine and of every context, in one table"),
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
    flags: [INTERVAL, bool("once", "print the table once, and exit")],
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
      int("lines", "N", "last lines (default: 50; 0: all)", { short: "n" }),
      bool("follow", "follow: print new lines; with -n 0 only those", { short: "f" }),
      bool("err", "standard error only"),
      bool("out", "standard output only"),
      text("since", "WHEN", "from then on: 10m, 23:40, yesterday, a date"),
      text("until", "WHEN", "up to then"),
      text("grep", "REGEX", "lines that match", { short: "g" }),
      bool("invert", "with --grep: lines that do not"),
      bool("ignore-case", "with --grep: ignore case", { short: "i" }),
      text("level", "LEVEL", "lines of this level or above, with stack traces", {
        choices: LOG_LEVELS,
      }),
      bool("timestamps", "print the time of each line", { short: "t" }),
      bool("raw", "lines as they were written, with control sequences"),
      bool("nostream", "accepted for PM2 compatibility"),
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
      text(
        "since",
        "WHEN",
        "from then on: 3h, 23:40, yesterday, a date (default: 1h)",
      ),
      text("until", "WHEN", "up to then"),
      int("points", "N", "at most N points (default: 30)"),
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
      int("lines", "N", "last events (default: 20)", { short: "n" }),
      bool("follow", "follow: print new events; with -n 0 only those", { short: "f" }),
      text("since", "WHEN", "from then on: 12h, 23:40, yesterday, a date"),
      text("until", "WHEN", "up to then"),
      text("type", "TYPE", "only events of this type", { choices: CHANGE_TYPES }),
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
      text("for", "POINT", "what to wait for (default: ready)", { choices: WAIT_POINTS }),
      text("timeout", "DURATION", "give up with exit code 124"),
    ],
    examples: ["procsup wait api --for ready --timeout 30s", "procsup wait job --for exit"],
    load: async () => (await import("../commands/inspect.ts")).wait,
  },
];
