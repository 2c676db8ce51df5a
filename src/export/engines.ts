/** The counterpart of each process key on each engine, as data for losses and the documentation. */

import type { Key, KeyTable } from "../model/key_table.ts";
import { PROCESS_KEYS } from "../model/process_keys.ts";

/** Engines that a configuration file can be exported to, and how the documentation names them. */
export const ENGINE_TITLES = {
  kubernetes: "Kubernetes",
  swarm: "Swarm",
  compose: "compose",
  nomad: "Nomad",
  systemd: "systemd",
} as const;

export type Engine = keyof typeof ENGINE_TITLES;

export const ENGINES = Object.keys(ENGINE_TITLES) as readonly Engine[];

/** Cell of a key that procsup handles inside the container, as on one machine. */
export const INSIDE = "=";

/** Prefix of a cell that says why a key has no counterpart. */
const LACK = "- ";

/** Cells of the engines. Those of compose are the same as Swarm's unless it has its own. */
type Row = readonly [
  kubernetes: string,
  swarm: string,
  nomad: string,
  systemd: string,
  compose?: string,
];

/** The same cell for every engine of containers. */
const alike = (cell: string, systemd: string): Row => [cell, cell, cell, systemd];
const inside = (systemd: string) => alike(INSIDE, systemd);
const nowhere = (why: string, systemd = LACK + why) => alike(LACK + why, systemd);

const NO_CLOCK = "= (the container waits for its time)";
const NO_RELOAD = "engines replace containers instead of reloading an app";
const NO_ORDER = "- it starts apps in no order";
const NO_PROBE = "- units have no readiness or health checks";
const LIMITS = "resources.limits";

/** Keys, separated by spaces → cells. */
const ROWS: Readonly<Record<string, Row>> = {
  name: ["metadata.name", "services", "TaskGroups.Name", "name of the unit"],
  "entrypoint args runtime interpreter use_bundle": inside("ExecStart"),
  cwd: inside("WorkingDirectory"),
  stdin: inside("- units have no standard input"),
  tty: inside("- units have no terminal"),
  env: ["ConfigMap, Secret", "environment", "Env, Templates", "Environment"],
  env_file: ["Secret, mounted", "secrets", "Templates", "EnvironmentFile"],
  secrets: ["Secret", "environment, secrets", "Templates", "EnvironmentFile"],
  inherit_env: inside("PassEnvironment"),
  shell_env: nowhere("a shell's environment stays on its machine"),
  increment_env: nowhere("copies have no number"),
  instances: ["replicas", "deploy.replicas", "Count", "NAME@.service"],
  sockets: ["Service", "ports", "Networks.ReservedPorts", "NAME.socket"],
  start_on: inside("- a socket unit starts its service, but the target starts it first"),
  idle_timeout: inside("- units do not stop when idle"),
  namespace: ["metadata.labels", "deploy.labels", "Meta", "Slice", "labels"],
  tags: ["metadata.annotations", "deploy.labels", "Meta", "- units have no tags", "labels"],
  labels: ["metadata.annotations", "deploy.labels", "Meta", "- units have no labels", "labels"],
  depends_on: [NO_ORDER, NO_ORDER, NO_ORDER, "After, Requires", "depends_on"],
  priority: nowhere("dependencies alone give an order"),
  autostart: ["replicas: 0", "replicas: 0", "Count: 0", "not in the target"],
  restart_policy: [
    "Deployment; Job for never",
    "deploy.restart_policy",
    "Type service; batch for never",
    "Restart",
    "restart",
  ],
  max_restarts: inside("StartLimitBurst"),
  restart_window: inside("StartLimitIntervalSec"),
  restart_delay: inside("RestartSec"),
  backoff_max: inside("- the delay between restarts is RestartSec"),
  min_uptime: inside("- StartLimitBurst counts every start"),
  success_exit_codes: inside("SuccessExitStatus"),
  max_memory: inside("MemoryMax"),
  max_age: inside("RuntimeMaxSec"),
  cron_restart: inside("- a unit has one schedule, of a timer"),
  watch: nowhere("what runs there is built, and not edited in place"),
  stop_signal: inside("KillSignal"),
  stop_mode: inside("KillMode"),
  stop_timeout: [
    "terminationGracePeriodSeconds",
    "stop_grace_period",
    "KillTimeout",
    "TimeoutStopSec",
  ],
  reload_signal: nowhere(NO_RELOAD, "ExecReload"),
  overlap: [
    "strategy.maxSurge",
    "update_config.order",
    "Update.Canary",
    "- a unit stops before it starts again",
    "- compose stops a container before it starts the next one",
  ],
  "wait_ready ready_log ready_delay": inside(NO_PROBE),
  notify: inside("NotifyAccess"),
  watchdog: inside("WatchdogSec"),
  listen_timeout: ["startupProbe", "healthcheck.start_period", "Update.HealthyDeadline", NO_PROBE],
  health_check: [
    "= (through readinessProbe)",
    "= (through healthcheck)",
    "= (through Services.Checks)",
    NO_PROBE,
  ],
  "cron.schedule": ["CronJob", NO_CLOCK, "Periodic.Spec", "OnCalendar"],
  "cron.random_delay": [
    "- a CronJob starts at its time",
    INSIDE,
    "- Nomad starts at its time",
    "RandomizedDelaySec",
  ],
  "cron.catch_up": [
    "startingDeadlineSeconds",
    "- a new container knows no earlier runs",
    "- Nomad skips missed runs",
    "Persistent",
  ],
  "cron.timezone": ["timeZone", INSIDE, "Periodic.TimeZone", "OnCalendar"],
  "cron.overlap": [
    "concurrencyPolicy",
    INSIDE,
    "ProhibitOverlap",
    "- a unit that runs is not started again",
  ],
  "cron.timeout": ["activeDeadlineSeconds", INSIDE, INSIDE, "TimeoutStartSec"],
  "cron.enabled": ["suspend", "replicas: 0", "Periodic.Enabled", "not in the target"],
  "hooks.pre_start": inside("ExecStartPre"),
  "hooks.post_start": inside("ExecStartPost"),
  "hooks.pre_stop": inside("ExecStop"),
  "hooks.post_stop": inside("ExecStopPost"),
  "hooks.pre_restart hooks.post_restart": inside("- units have no such hook"),
  "hooks.pre_reload hooks.post_reload": nowhere(NO_RELOAD),
  "hooks.pre_healthcheck hooks.post_healthcheck": inside(NO_PROBE),
  "hooks.on_crash hooks.on_errored hooks.on_unhealthy": inside("- units have no such hook"),
  "hooks.on_alert alerts": nowhere("procsup run keeps no history of figures"),
  uid: inside("User"),
  gid: inside("Group"),
  umask: inside("UMask"),
  nice: inside("Nice"),
  "limits.nofile": inside("LimitNOFILE"),
  "limits.nproc": inside("LimitNPROC"),
  "limits.core": inside("LimitCORE"),
  "limits.address_space": inside("LimitAS"),
  "limits.file_size": inside("LimitFSIZE"),
  "limits.memory": [LIMITS, LIMITS, "Resources.MemoryMB", "MemoryMax"],
  "limits.memory_high": nowhere("it has only hard limits", "MemoryHigh"),
  "limits.cpu_weight": nowhere("it shares CPU by reservations", "CPUWeight"),
  "limits.io_max": nowhere("it does not limit I/O"),
  no_new_privs: inside("NoNewPrivileges"),
  private_tmp: inside("PrivateTmp"),
  read_only: inside("ProtectSystem"),
  writable: inside("ReadWritePaths"),
  "limits.cpu_percent": [LIMITS, LIMITS, "- it reserves MHz", "CPUQuota"],
  "limits.pids": [
    "- the node limits processes",
    LIMITS,
    "Config.pids_limit",
    "TasksMax",
    "pids_limit",
  ],
  log: inside("- the journal keeps the logs"),
};

export function counterpart(key: string, engine: Engine): string {
  const [, row] = Object.entries(ROWS).find(([keys]) => keys.split(" ").includes(key))!;
  const [kubernetes, swarm, nomad, systemd, compose = swarm] = row;
  return { kubernetes, swarm, compose, nomad, systemd }[engine];
}

/** Why an engine has no counterpart for a key; undefined if it has one. */
export function lackOf(key: string, engine: Engine): string | undefined {
  const cell = counterpart(key, engine);
  return cell.startsWith(LACK) ? cell.slice(LACK.length) : undefined;
}

/** Objects that have a row for each of their keys. */
const SPLIT = new Set(["cron", "hooks", "limits"]);

/**
 * All exported keys with their rows in the key table: those of a process, with `cron`, `hooks` and
 * `limits` split into theirs.
 */
export const EXPORTED_ROWS: readonly (readonly [key: string, row: Key])[] = exportedRows(
  PROCESS_KEYS,
);

export const EXPORTED_KEYS: readonly string[] = EXPORTED_ROWS.map(([key]) => key);

function exportedRows(table: KeyTable, prefix = ""): [key: string, row: Key][] {
  return Object.entries(table).filter(([, row]) => row.input !== true).flatMap(([key, row]) =>
    prefix === "" && SPLIT.has(key) && row.type === "object"
      ? exportedRows(row.keys, `${key}.`)
      : [[prefix + key, row]]
  );
}
