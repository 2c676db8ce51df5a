/**
 * The configuration keys of a process, each defined once: the schema, the types, both spellings,
 * flags, masking, the decision to restart, the JSON Schema, the dashboard's form and the reference
 * are derived from its row.
 */

import { EVERY } from "./interval_schedule.ts";
import type { KeyTable, ObjectType, ValueType } from "./key_table.ts";
import { MAX_ID } from "./user_id.ts";

const ANY_TEXT: ValueType = { type: "text", mayBeEmpty: true };

/** Where to get the value of a secret. */
export const SECRET: ObjectType = {
  type: "object",
  named: "SecretSource",
  exactlyOne: true,
  keys: {
    env: { type: "text", help: "Variable of the supervisor's environment" },
    file: { type: "path", secretFile: true, help: "File, without the newline at its end" },
    command: { type: "text", help: "Shell command that prints it, without the newline at its end" },
  },
};

/** How a process is checked while it runs. */
/** A file of variables that may be missing. */
const ENV_FILE: ObjectType = {
  type: "object",
  named: "EnvFileConfig",
  keys: {
    path: { type: "path", required: true, variables: true, secretFile: true, help: "File" },
    required: { type: "boolean", default: true, help: "Fail the start if it is missing" },
  },
};

/** What the answer to an http check must be. */
const EXPECT: ObjectType = {
  type: "object",
  named: "ExpectConfig",
  keys: {
    status: {
      type: "list",
      of: { type: "int", min: 200, max: 599 },
      single: true,
      help: "One of these, in place of 200 to 399",
    },
    header: {
      type: "map",
      of: ANY_TEXT,
      help: "Headers, each with a text that its value has",
    },
    text: { type: "text", help: "A text in the first 64 KiB of the body" },
  },
};

const HEALTH_CHECK: ObjectType = {
  type: "object",
  named: "HealthCheckConfig",
  needs: {
    by: "type",
    keys: { http: "url", tcp: "tcp_endpoint", command: "command" },
    only: { insecure: "http", expect: "http" },
  },
  keys: {
    type: { type: "choice", choices: ["http", "tcp", "command"], required: true, help: "Protocol" },
    url: {
      type: "text",
      format: "http_url",
      variables: true,
      masked: "in url",
      help: "For http; a status from 200 to 399 is healthy",
    },
    insecure: { type: "boolean", help: "For http: accept every certificate" },
    expect: { ...EXPECT, help: "For http: what the answer must be" },
    tcp_endpoint: {
      type: "text",
      format: "endpoint",
      variables: true,
      aliases: ["address"],
      help: "For tcp: host:port",
    },
    command: { type: "text", help: "For command: run with sh -c; exit code 0 is healthy" },
    interval: { type: "duration", least: "10ms", default: "10s", help: "Time between checks" },
    timeout: { type: "duration", least: "1ms", default: "5s", help: "Time limit of one check" },
    retries: { type: "int", min: 1, default: 3, help: "Failures in a row until unhealthy" },
    success_threshold: {
      type: "int",
      min: 1,
      default: 1,
      help: "Successes in a row until healthy",
    },
    grace_period: {
      type: "duration",
      default: "0s",
      help: "Time after the start in which failures do not count",
    },
    on_failure: {
      type: "text",
      format: "failure_action",
      default: "restart",
      help: "What to do when unhealthy: restart, none, or signal: and a signal",
    },
  },
};

/** An alert whose condition is about a process, or about the host. */
export function alertType(format: "alert" | "host_alert"): ObjectType {
  return {
    type: "object",
    named: "AlertConfig",
    short: [{ of: { type: "text", format }, into: "when" }],
    keys: {
      when: {
        type: "text",
        format,
        required: true,
        help: format === "alert"
          ? "Condition, such as memory > 400MB for 5m, restarts > 5 in 10m or job overdue"
          : "Condition, such as disk.free < 2GB or load > 8 for 5m",
      },
      resolve_after: {
        type: "duration",
        default: "1m",
        help: "Time without the condition until it is resolved",
      },
    },
  };
}

const HOOK: ObjectType = {
  type: "object",
  named: "HookConfig",
  short: [{ of: ANY_TEXT, into: "command" }],
  keys: {
    command: { ...ANY_TEXT, default: "", help: "Run with sh -c; without one the hook is skipped" },
    timeout: { type: "duration", least: "1ms", default: "30s", help: "Time limit" },
    ignore_failure: { type: "boolean", default: false, help: "Continue when it fails" },
    run_as_root: {
      type: "boolean",
      default: false,
      help: "Run as root, for an app with another user",
    },
  },
};

/** Shell commands run at points of a process's life. */
const HOOKS: ObjectType = {
  type: "object",
  named: "HooksConfig",
  keys: {
    pre_start: {
      ...HOOK,
      help: "Before each start",
      note: "The start waits for it, and fails if it fails.",
    },
    post_start: { ...HOOK, help: "After each start" },
    pre_stop: { ...HOOK, help: "Before the stop signal" },
    post_stop: { ...HOOK, help: "After each stop, not after an exit by itself" },
    pre_restart: { ...HOOK, help: "Before a restart" },
    post_restart: { ...HOOK, help: "After a restart" },
    pre_reload: { ...HOOK, help: "Before a reload" },
    post_reload: { ...HOOK, help: "After a reload" },
    pre_healthcheck: { ...HOOK, memory: "preHealthCheck", help: "Before each health check" },
    post_healthcheck: { ...HOOK, memory: "postHealthCheck", help: "After each health check" },
    on_crash: {
      ...HOOK,
      help: "After a run failed",
      note: "Standard input is the event as JSON, as webhooks send it.",
    },
    on_errored: { ...HOOK, help: "When it is given up" },
    on_unhealthy: { ...HOOK, help: "When its health checks fail" },
    on_alert: { ...HOOK, help: "When one of its alerts fires, or is resolved" },
  },
};

const USER: readonly ValueType[] = [
  { type: "text", format: "user" },
  { type: "int", min: 0, max: MAX_ID },
];

const PATHS: ValueType = { type: "list", of: { type: "path" } };

/** Restart, or do something else, when files change. */
const WATCH: ObjectType = {
  type: "object",
  named: "WatchConfig",
  short: [{ of: { type: "boolean" }, into: "enabled" }, { of: PATHS, into: "paths" }],
  needs: { by: "action", keys: { command: "command" }, only: { command: "command" } },
  keys: {
    enabled: {
      type: "boolean",
      default: true,
      help: "Whether to watch",
      flag: { name: "watch", help: "restart when files of --cwd change", isCommon: true },
    },
    paths: {
      ...PATHS,
      default: [],
      help: "Files and folders; default: the working directory",
      flag: {
        name: "watch-path",
        value: "PATH",
        help: "restart when this changes",
        relative: true,
      },
    },
    ignore: {
      type: "list",
      of: { type: "text", format: "glob" },
      default: [],
      help: "Globs, relative to the watched path",
      flag: {
        name: "watch-ignore",
        aliases: ["ignore-watch"],
        value: "GLOB",
        help: "with --watch: except for these",
      },
    },
    debounce: { type: "duration", default: "100ms", help: "Quiet time before the restart" },
    action: {
      type: "text",
      format: "watch_action",
      default: "restart",
      help: "What to do: restart, reload, command, or signal: and a signal",
      flag: { name: "watch-action", value: "ACTION", help: "with --watch: instead of a restart" },
    },
    command: { ...HOOK, help: "With action command: what to run, in the form of a hook" },
    poll: {
      type: "boolean",
      default: false,
      help: "Look at the files every second or less often, for file systems that tell no changes",
      flag: { name: "watch-poll", help: "with --watch: look at the files every second" },
    },
  },
};

const SCHEDULE: KeyTable = {
  every: {
    type: "duration",
    input: true,
    becomes: { key: "schedule", prefix: EVERY },
    help: "Time between two runs, in place of schedule",
    note: "It is counted from the time at which the process was added.",
  },
  schedule: {
    type: "text",
    required: true,
    help: "5 or 6 fields, or a word such as @daily or @every 30s",
  },
  timezone: { ...ANY_TEXT, help: "IANA name; default: the machine's" },
  random_delay: {
    type: "duration",
    least: "1ms",
    help: "Delay each run by a random time up to this, and less than to the next run",
  },
};

const EXPRESSION = [{ of: ANY_TEXT, into: "schedule" }];

const CRON_RESTART: ObjectType = {
  type: "object",
  named: "CronRestartConfig",
  short: EXPRESSION,
  keys: SCHEDULE,
};

export const CRON: ObjectType = {
  type: "object",
  named: "CronConfig",
  short: EXPRESSION,
  keys: {
    ...SCHEDULE,
    every: { ...SCHEDULE.every!, flag: { help: "run at this interval instead of keeping it up" } },
    overlap: {
      type: "choice",
      choices: ["skip", "kill", "queue"],
      default: "skip",
      help: "What happens when a run is due while the last one still runs",
    },
    catch_up: {
      type: "choice",
      choices: ["none", "once"],
      default: "none",
      help: "Whether runs that were missed are made up for by one",
      note: "A run is missed while no daemon runs, the machine sleeps or is off.",
      flag: { value: "none|once" },
    },
    timeout: { type: "duration", least: "1ms", help: "Time limit of one run" },
    enabled: { type: "boolean", default: true, help: "Start it by the schedule" },
  },
};

/** Resource limits. */
const LIMITS: ObjectType = {
  type: "object",
  named: "LimitsConfig",
  keys: {
    nofile: {
      type: "int",
      min: 1,
      help: "Open files of each process",
      note: "Default: the soft limit of the shell or service that started the daemon.",
    },
    nproc: { type: "int", min: 1, help: "Processes of the user" },
    core: { type: "size", help: "Core dumps" },
    address_space: { type: "size", help: "Address space of each process" },
    file_size: { type: "size", help: "Size of a file that it writes" },
    memory: { type: "size", help: "cgroup: memory of the process tree" },
    memory_high: {
      type: "size",
      help: "cgroup: memory above which the process tree is slowed down and its caches are freed",
    },
    cpu_percent: { type: "number", min: 1, help: "cgroup: percent of one core" },
    cpu_weight: {
      type: "int",
      min: 1,
      max: 10_000,
      help: "cgroup: share of the processors while they are all busy; that of others is 100",
    },
    io_max: {
      type: "text",
      pattern: [
        "^\\d+:\\d+( (rbps|wbps|riops|wiops)=(max|\\d+))+$",
        'a device and limits such as "8:0 rbps=1048576 wiops=100"',
      ],
      help: "cgroup: bytes and operations per second on one device",
      note: "lsblk shows the number of a device.",
    },
    pids: { type: "int", min: 1, help: "cgroup: processes in the tree" },
  },
};

const LOG_PATH_NOTE = "{name} and {instance} stand for the process and the index of the instance.";

/** How logs are written and rotated. */
const LOG: ObjectType = {
  type: "object",
  named: "LogConfig",
  // Nobody else may enter the home.
  beside: { mode: ["stdout", "stderr"] },
  keys: {
    max_size: { type: "size", default: "10MB", live: true, help: "Size at which a log is rotated" },
    max_files: { type: "int", min: 0, max: 1000, default: 5, live: true, help: "Archives to keep" },
    max_age: {
      type: "duration",
      default: "168h",
      live: true,
      help: "Age at which archives are removed",
    },
    compress: { type: "boolean", default: true, live: true, help: "Compress archives with gzip" },
    pipe: {
      type: "either",
      of: [{ type: "boolean" }, { type: "choice", choices: ["auto"] }],
      default: "auto",
      help: "Write through pipes, which keep all of an app that opens /dev/stdout or /dev/stderr",
      note: "auto: when the command or its script names them, or the app truncated its log.",
      flag: { value: "auto|true|false" },
    },
    rotate: {
      type: "choice",
      choices: ["size", "daily"],
      default: "size",
      live: true,
      help: "daily: rotate at local midnight as well",
    },
    stdout: {
      type: "path",
      variables: true,
      help: "File for stdout, in place of the one in the home",
      note: LOG_PATH_NOTE,
      flag: { value: "FILE" },
    },
    stderr: {
      type: "path",
      variables: true,
      help: "File for stderr, in place of the one in the home",
      note: "With the path of stdout, both streams go to one file.",
      flag: { value: "FILE" },
    },
    mode: {
      type: "text",
      pattern: ["^0?6[04][04]$", '"0600", "0640" or "0644"'],
      help: "File mode of logs outside the home, and of their archives",
      note: "Default: 0600. For a collector of another user.",
    },
  },
};

/** Maximum number of instances of one process. */
export const MAX_INSTANCES = 1024;

const RUNTIMES = ["go", "python", "node", "bun", "deno", "ruby", "php", "auto"] as const;

const RESTART_POLICIES = ["always", "on-failure", "never"] as const;

const STOP_MODES = ["group", "main", "leave"] as const;

const CONDITIONS = ["started", "ready", "healthy", "completed", "completed_ok"];

function group(name: string, keys: KeyTable): KeyTable {
  return Object.fromEntries(
    Object.entries(keys).map(([key, row]) => [key, { ...row, group: name }]),
  );
}

/** Every key, in the order of the reference. */
export const PROCESS_KEYS: KeyTable = {
  ...group("Program", {
    name: {
      type: "text",
      format: "name",
      required: true,
      help: "Unique name",
      note:
        "1 to 128 letters, digits, dots, underscores and dashes, with a letter or digit first. " +
        "Neither all nor digits alone. Instances are called name:0, name:1, …",
      flag: {
        short: "n",
        value: "NAME",
        help: "name of the app",
        usual: "that of the script or program",
        onlyNew: true,
        isCommon: true,
      },
    },
    entrypoint: {
      type: "entrypoint",
      required: true,
      variables: true,
      aliases: ["script", "binary"],
      label: "Script or command",
      help: "Script or program, or a command found on PATH",
    },
    args: {
      type: "list",
      of: ANY_TEXT,
      maxItems: 4096,
      default: [],
      variables: true,
      masked: "in changes",
      label: "Arguments",
      help: "Arguments",
    },
    command: {
      type: "text",
      input: true,
      variables: true,
      masked: "in changes",
      help: "A command line, instead of entrypoint and args",
      note: "It is split into words; `/bin/sh` runs a line that needs a shell.",
    },
    cwd: {
      type: "path",
      absolute: true,
      required: true,
      variables: true,
      label: "Folder",
      help: "Working directory, absolute",
      note: "In a file the default is the folder of the file.",
      flag: { value: "DIR", help: "working directory", usual: "the current one", isCommon: true },
    },
    runtime: {
      type: "choice",
      choices: RUNTIMES,
      named: "RuntimeName",
      default: "auto",
      help: "What runs the script",
      flag: { value: "NAME" },
    },
    interpreter: {
      type: "program",
      help: "Program that runs the script; wins over runtime",
      flag: { value: "PROGRAM" },
    },
    use_bundle: {
      type: "boolean",
      default: false,
      help: "Ruby: run under bundle exec",
      flag: { help: "Ruby: run under bundle exec" },
    },
    stdin: {
      type: "boolean",
      help: "Keep standard input open; procsup send writes to it",
      note: "Default: false, and true under procsup run. Without it, standard input is empty.",
      flag: { help: "keep standard input open, for procsup send" },
    },
    tty: {
      type: "boolean",
      default: false,
      help: "Give the app a terminal, for procsup attach",
      note: "Linux only. Both output streams go to the log of stdout.",
      flag: { help: "give it a terminal, for procsup attach" },
    },
  }),
  ...group("Environment", {
    env: {
      type: "map",
      of: ANY_TEXT,
      variableNames: true,
      default: {},
      variables: true,
      masked: "always",
      label: "Environment",
      help: "Environment variables, over the inherited ones",
      flag: {
        short: "e",
        value: "KEY[=VALUE]",
        help: "variable; KEY alone takes its value from this shell",
        isCommon: true,
      },
    },
    env_file: {
      type: "list",
      of: { type: "either", of: [{ type: "path" }, ENV_FILE] },
      single: true,
      default: [],
      variables: true,
      secretFile: true,
      help: "Files of KEY=VALUE lines, under env",
      note: "Later files win over earlier ones. `{ path, required: false }` may be missing.",
      flag: { value: "FILE", help: "file of KEY=VALUE lines, under --env", isCommon: true },
    },
    secrets: {
      type: "map",
      of: SECRET,
      variableNames: true,
      default: {},
      masked: "in changes",
      help: "Variables whose values are fetched at each start and never stored, over env",
    },
    inherit_env: {
      type: "either",
      of: [{ type: "boolean" }, { type: "list", of: ANY_TEXT }],
      default: true,
      help: "Inherit the daemon's environment: all, none, or the named variables",
      note: "An app with shell_env inherits from that instead.",
    },
    shell_env: {
      type: "map",
      of: ANY_TEXT,
      variableNames: true,
      masked: "always",
      help: "Environment of the shell that started it, inherited in place of the daemon's",
      note: "Set by procsup start and up for new apps, and by --update-env.",
    },
    increment_env: {
      type: "list",
      of: ANY_TEXT,
      single: true,
      default: [],
      help: "Variables that hold a number to which each instance adds its index",
    },
  }),
  ...group("Instances and groups", {
    instances: {
      type: "int",
      min: 1,
      max: MAX_INSTANCES,
      word: "max",
      default: 1,
      live: true,
      help: "Number of copies; max: one for each CPU",
      flag: { short: "i", value: "N|max", help: "number of copies", onlyNew: true, isCommon: true },
    },
    sockets: {
      type: "list",
      of: ANY_TEXT,
      default: [],
      variables: true,
      help: "Listening sockets, host:port, that every instance inherits from descriptor 3 on",
      flag: {
        name: "socket",
        value: "[HOST:]PORT",
        help: "port that all instances share, kept open over restarts",
        isCommon: true,
      },
    },
    start_on: {
      type: "choice",
      choices: ["connection"],
      help: "Start when the first client connects to one of its sockets",
      note: "Until then the daemon holds the sockets. The client waits and is served.",
      flag: {},
    },
    idle_timeout: {
      type: "duration",
      least: "1s",
      help: "With start_on: stop when no client has been connected for this time",
      note: "The next connection starts it again.",
      flag: {},
    },
    namespace: {
      type: "text",
      format: "name",
      default: "default",
      help: "Group for ns:NAME targets",
      flag: { aliases: ["ns"], value: "NAME", onlyNew: true, isCommon: true },
    },
    tags: {
      type: "list",
      of: { type: "text" },
      default: [],
      live: true,
      help: "Words for tag:WORD targets",
      flag: { name: "tag", value: "TAG", help: "tag for tag:TAG targets" },
    },
    labels: {
      type: "map",
      of: ANY_TEXT,
      default: {},
      live: true,
      help: "Keys and values for label:KEY=VALUE targets",
      flag: { name: "label", short: "l", help: "label for label:KEY=VALUE targets" },
    },
    depends_on: {
      type: "map",
      of: { type: "choice", choices: CONDITIONS, named: "DependencyCondition" },
      listMeans: "ready",
      default: {},
      live: true,
      help: "Processes that must reach a state before this one starts",
      note: "A list of names means ready.",
    },
    priority: {
      type: "int",
      default: 0,
      live: true,
      help: "Lower starts first among processes that may start together",
    },
  }),
  ...group("Restarts", {
    autostart: {
      type: "boolean",
      default: true,
      live: true,
      help: "Start with the file, on resurrect and after a reboot",
      flag: { help: "do not start after a reboot or on resurrect" },
    },
    restart_policy: {
      type: "choice",
      choices: RESTART_POLICIES,
      named: "RestartPolicy",
      default: "on-failure",
      live: true,
      help: "When to restart",
      note: "A job has the default never.",
      flag: { name: "restart", value: "POLICY", isCommon: true },
    },
    max_restarts: {
      type: "int",
      min: 0,
      default: 10,
      live: true,
      help: "Restarts allowed in the window",
      note: "0 allows none.",
      flag: {},
    },
    restart_window: {
      type: "duration",
      least: "1ms",
      default: "1m",
      live: true,
      help: "Window for counting restarts",
      flag: {},
    },
    restart_delay: {
      type: "duration",
      default: "100ms",
      live: true,
      help: "First delay before a restart; it doubles",
      flag: {},
    },
    backoff_max: {
      type: "duration",
      default: "1m",
      live: true,
      help: "Longest delay before a restart",
      flag: {},
    },
    min_uptime: {
      type: "duration",
      default: "1s",
      live: true,
      help: "Uptime that counts as started",
      note: "Ten times that resets the backoff.",
      flag: {},
    },
    success_exit_codes: {
      type: "list",
      of: { type: "int", min: 0, max: 255 },
      default: [0],
      live: true,
      help: "Exit codes that are not failures",
      flag: {
        aliases: ["stop-exit-codes"],
        value: "CODES",
        help: "exit codes that are not failures, such as 0,2",
      },
    },
    max_memory: {
      type: "size",
      least: "1B",
      help: "Restart when the process tree uses more memory than this",
      flag: {
        aliases: ["max-memory-restart"],
        help: "restart beyond this, such as 512MB",
        isCommon: true,
      },
    },
    max_age: { type: "duration", least: "1s", help: "Restart when it has run for this time" },
    cron_restart: { ...CRON_RESTART, help: "Restart on a schedule", flag: { value: "EXPR" } },
    watch: { ...WATCH, help: "Restart, or act otherwise, when files change" },
  }),
  ...group("Stop and reload", {
    stop_signal: {
      type: "signal",
      default: "SIGTERM",
      live: true,
      help: "Signal that stops it",
      flag: {},
    },
    stop_mode: {
      type: "choice",
      choices: STOP_MODES,
      named: "StopMode",
      default: "group",
      live: true,
      help: "Whom a stop signals: all that it started, or its main process alone",
      note:
        "With main, the rest is killed when the main process has ended; with leave it keeps running.",
      flag: { value: "MODE" },
    },
    stop_timeout: {
      type: "duration",
      default: "5s",
      live: true,
      help: "Grace before SIGKILL",
      note: "0 kills at once.",
      flag: { aliases: ["kill-timeout"] },
    },
    reload_signal: {
      type: "signal",
      live: true,
      help: "Signal on which the app reloads itself",
      note: "Without one a reload is stop and start.",
      flag: {},
    },
    overlap: {
      type: "boolean",
      default: false,
      live: true,
      help: "On reload start the new run before the old one stops",
    },
  }),
  ...group("Readiness and health", {
    wait_ready: {
      type: "boolean",
      default: false,
      help: "Count as running only when ready",
      note:
        "Node, Deno and Bun apps call process.send('ready'), others write READY=1 to $PROCSUP_READY_FILE.",
      flag: {},
    },
    listen_timeout: {
      type: "duration",
      default: "30s",
      help: "Time limit for becoming ready",
      flag: {},
    },
    ready_log: {
      type: "text",
      format: "regex",
      mayBeEmpty: true,
      help: "Ready when a line of output matches this regular expression",
      flag: { value: "REGEX", help: "ready when a line of its output matches" },
    },
    ready_delay: { type: "duration", help: "Ready after this time" },
    notify: {
      type: "boolean",
      help: "Set NOTIFY_SOCKET: the app reports its state by sd_notify",
      note:
        "Default: with watchdog, and with wait_ready unless ready_log, ready_delay or health_check decides.",
      flag: {},
    },
    watchdog: {
      type: "duration",
      least: "1ms",
      help: "End and restart an app that does not send WATCHDOG=1 for this time",
      note: "The app gets WATCHDOG_USEC and WATCHDOG_PID. It is ended by SIGABRT.",
      flag: {},
    },
    health_check: { ...HEALTH_CHECK, help: "Checks while it runs" },
  }),
  ...group("Jobs", {
    cron: {
      ...CRON,
      help: "Run on a schedule instead of keeping it up",
      flag: {
        value: "EXPR",
        help: "run on a schedule, 5 or 6 fields, instead of keeping it up",
        onlyNew: true,
        isCommon: true,
      },
    },
  }),
  ...group("Alerts", {
    alerts: {
      type: "list",
      of: alertType("alert"),
      maxItems: 100,
      single: true,
      default: [],
      live: true,
      help: "Conditions of its figures that events, webhooks and the hook on_alert report",
      note: "Figures: cpu, memory, threads, fds and restarts.",
      flag: {
        name: "alert",
        value: "CONDITION",
        help: 'report when this holds, such as "memory > 400MB for 5m"',
      },
    },
  }),
  ...group("Hooks", {
    hooks: {
      ...HOOKS,
      default: {},
      live: true,
      help: "Shell commands at points of its life, run as the app's user",
    },
  }),
  ...group("User and limits", {
    uid: {
      type: "either",
      of: USER,
      label: "User",
      help: "User to run as: name or id",
      note: "It also applies to hooks, command checks and secret commands.",
      flag: { name: "user", aliases: ["uid"], value: "USER", help: "user to run as" },
    },
    gid: {
      type: "either",
      of: USER,
      label: "Group",
      help: "Group to run as: name or id",
      note: "It also applies to hooks, command checks and secret commands.",
    },
    umask: {
      type: "text",
      pattern: ["^0?[0-7]{3}$", 'octal digits such as "027"'],
      default: "022",
      help: "File mode mask in octal digits",
    },
    nice: { type: "int", min: -20, max: 19, help: "Priority of the scheduler, -20 (first) to 19" },
    limits: { ...LIMITS, default: {}, help: "Resource limits" },
    no_new_privs: {
      type: "boolean",
      default: false,
      help: "It and the programs that it starts, such as sudo, cannot gain more rights",
    },
    private_tmp: {
      type: "boolean",
      default: false,
      help: "It has /tmp and /var/tmp of its own, empty at each start",
    },
    read_only: {
      type: "boolean",
      default: false,
      help: "It can write only to writable, /dev, /proc and /sys",
      note: "With private_tmp also to /tmp. Its logs are written as always.",
    },
    writable: {
      type: "list",
      of: { type: "path" },
      default: [],
      help: "Files and folders that it can write to despite read_only",
    },
  }),
  ...group("Logs", { log: { ...LOG, default: {}, help: "Log files and their rotation" } }),
};
