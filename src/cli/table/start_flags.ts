/** The flags of `start`: the configuration of an app. */

import type { Flag } from "../command.ts";

const text = (name: string, value: string, help: string): Flag => ({
  name,
  type: "text",
  value,
  help,
});

/** Return at the spawn instead of waiting for it to hold. */
export const NO_WAIT: Flag = {
  name: "no-wait",
  type: "bool",
  help: "return at once, not when it has stayed up",
};

/** Flags of `start`. */
export const START_FLAGS: readonly Flag[] = [
  { ...text("name", "NAME", "what to call it (default: from the file)"), short: "n" },
  { ...text("instances", "N|max", "how many copies to run"), short: "i" },
  {
    name: "socket",
    type: "list",
    value: "HOST:PORT",
    help: "port that all instances share, kept open over restarts",
  },
  {
    ...text("runtime", "NAME", "what runs the script (default: auto)"),
    choices: ["go", "python", "node", "bun", "deno", "ruby", "php", "auto"],
  },
  text("interpreter", "PROGRAM", "program that runs the script; wins over --runtime"),
  { name: "use-bundle", type: "bool", help: "Ruby: run under bundle exec" },
  text("cwd", "DIR", "working directory (default: the current one)"),
  {
    name: "env",
    short: "e",
    type: "list",
    value: "KEY[=VALUE]",
    help: "variable; KEY alone passes on that of this shell",
  },
  { name: "env-file", type: "list", value: "FILE", help: "file of KEY=VALUE lines, under --env" },
  { ...text("user", "USER", "user to run as"), aliases: ["uid"] },
  { ...text("namespace", "NAME", "namespace to group it under"), aliases: ["ns"] },
  { name: "tag", type: "list", value: "TAG", help: "tag to find it by" },
  { name: "label", short: "l", type: "list", value: "KEY=VALUE", help: "label to find it by" },
  {
    ...text("restart", "POLICY", "when to restart it (default: on-failure)"),
    choices: ["always", "on-failure", "never"],
  },
  { name: "max-restarts", type: "int", value: "N", help: "restarts allowed in the window" },
  text("restart-window", "DURATION", "window for counting restarts"),
  text("restart-delay", "DURATION", "first delay before a restart; it doubles"),
  text("backoff-max", "DURATION", "longest delay before a restart"),
  text("min-uptime", "DURATION", "time it must stay up to count as started"),
  {
    ...text("success-exit-codes", "CODES", "exit codes that are no failure, such as 0,2"),
    aliases: ["stop-exit-codes"],
  },
  {
    ...text("max-memory", "SIZE", "restart it beyond this, such as 512MB"),
    aliases: ["max-memory-restart"],
  },
  text("ready-log", "REGEX", "ready when a line of its output matches"),
  text("listen-timeout", "DURATION", "how long becoming ready may take (default: 30s)"),
  { name: "watch", type: "bool", help: "restart it when files of --cwd change" },
  { name: "watch-path", type: "list", value: "PATH", help: "restart it when this changes" },
  {
    name: "watch-ignore",
    aliases: ["ignore-watch"],
    type: "list",
    value: "GLOB",
    help: "with --watch: but not for these",
  },
  text("stop-signal", "SIGNAL", "signal that stops it (default: SIGTERM)"),
  {
    ...text("stop-timeout", "DURATION", "grace before SIGKILL (default: 5s)"),
    aliases: ["kill-timeout"],
  },
  text("reload-signal", "SIGNAL", "signal that makes it reload by itself"),
  text("cron", "EXPR", "run it by the clock, 5 or 6 fields, instead of keeping it up"),
  text("cron-restart", "EXPR", "restart it by the clock"),
  text("timezone", "ZONE", "timezone of --cron and --cron-restart (default: the machine's)"),
  { name: "no-autostart", type: "bool", help: "do not start it on resurrect" },
  NO_WAIT,
];

const FOR_GOOD = ["name", "instances", "namespace", "cron"];

/** Those that change an app that is there. */
export const CHANGE_FLAGS: readonly Flag[] = START_FLAGS.filter(({ name }) =>
  !FOR_GOOD.includes(name)
);
