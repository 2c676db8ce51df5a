/** The objects nested in a process's configuration, key by key. */

import type { KeyTable, ObjectType, ValueType } from "./key_table.ts";

export const ANY_TEXT: ValueType = { type: "text", mayBeEmpty: true };

/** Where to get the value of a secret. */
export const SECRET: ObjectType = {
  type: "object",
  named: "SecretSource",
  exactlyOne: true,
  keys: {
    env: { type: "text", help: "Variable of the supervisor's environment" },
    file: { type: "path", help: "File, without the newline at its end" },
    command: { type: "text", help: "Shell command that prints it, without the newline at its end" },
  },
};

/** How a process is checked while it runs. */
export const HEALTH_CHECK: ObjectType = {
  type: "object",
  named: "HealthCheckConfig",
  needs: { by: "type", keys: { http: "url", tcp: "tcp_endpoint", command: "command" } },
  keys: {
    type: { type: "choice", choices: ["http", "tcp", "command"], required: true, help: "Protocol" },
    url: {
      type: "text",
      format: "http_url",
      variables: true,
      help: "For http; a status from 200 to 399 is healthy",
    },
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
      help: "Action when unhealthy: restart, none, or signal: and a signal",
    },
  },
};

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
export const HOOKS: ObjectType = {
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
  },
};

const PATHS: ValueType = { type: "list", of: { type: "path" } };

/** Restart when files change. */
export const WATCH: ObjectType = {
  type: "object",
  named: "WatchConfig",
  short: [{ of: { type: "boolean" }, into: "enabled" }, { of: PATHS, into: "paths" }],
  keys: {
    enabled: {
      type: "boolean",
      default: true,
      help: "Whether to watch",
      flag: { name: "watch", help: "restart when files of --cwd change" },
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
  },
};

const SCHEDULE: KeyTable = {
  schedule: { type: "text", required: true, help: "5 or 6 fields, or a word such as @daily" },
  timezone: { ...ANY_TEXT, help: "IANA name; default: the machine's" },
};

const EXPRESSION = [{ of: ANY_TEXT, into: "schedule" }];

export const CRON_RESTART: ObjectType = {
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
    overlap: {
      type: "choice",
      choices: ["skip", "kill", "queue"],
      default: "skip",
      help: "What happens when a run is due while the last one still runs",
    },
    timeout: { type: "duration", least: "1ms", help: "Time limit of one run" },
    enabled: { type: "boolean", default: true, help: "Start it by the schedule" },
  },
};

/** Resource limits. */
export const LIMITS: ObjectType = {
  type: "object",
  named: "LimitsConfig",
  keys: {
    nofile: { type: "int", min: 1, help: "Open files of each process" },
    nproc: { type: "int", min: 1, help: "Processes of the user" },
    core: { type: "size", help: "Core dumps" },
    address_space: { type: "size", help: "Address space of each process" },
    file_size: { type: "size", help: "Size of a file that it writes" },
    memory: { type: "size", help: "cgroup: memory of the process tree" },
    cpu_percent: { type: "number", min: 1, help: "cgroup: percent of one core" },
    pids: { type: "int", min: 1, help: "cgroup: processes in the tree" },
  },
};

const LOG_PATH_NOTE = "{name} and {instance} stand for the process and the index of the instance.";

/** How logs are written and rotated. */
export const LOG: ObjectType = {
  type: "object",
  named: "LogConfig",
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
      type: "boolean",
      default: false,
      help: "Write through pipes: for an app that opens /dev/stdout or /dev/stderr itself",
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
  },
};
