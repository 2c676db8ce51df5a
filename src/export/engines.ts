/** The counterpart of each process key on each engine, as data for losses and the documentation. */

import type { Key, KeyTable } from "../model/key_table.ts";
import { PROCESS_KEYS } from "../model/process_keys.ts";

/** Engines that a configuration file can be exported to. */
export const ENGINES = ["kubernetes", "swarm", "compose", "nomad", "systemd"] as const;

export type Engine = (typeof ENGINES)[number];

/** Cell of a key that procsup handles inside the container, as on one machine. */
export const INSIDE = "=";

/** Prefix of a cell that says why a key has no counterpart. */
const LACK = "- ";

type Row = readonly [
  kubernetes: string,
  swarm: string,
  compose: string,
  nomad: string,
  systemd: string,
];

/** procsup handles the key in containers; `systemd` is its cell for systemd. */
const inside = (systemd: string): Row => [INSIDE, INSIDE, INSIDE, INSIDE, systemd];

/** No container engine has a counterpart. */
const nowhere = (why: string, systemd: string = LACK + why): Row => {
  const lack = LACK + why;
  return [lack, lack, lack, lack, systemd];
};

/** Swarm and compose have the same word. */
const docker = (kubernetes: string, both: string, nomad: string, systemd: string): Row => [
  kubernetes,
  both,
  both,
  nomad,
  systemd,
];

const NO_CLOCK = "= (the container waits for its time)";
const NO_RELOAD = "engines replace containers instead of reloading an app";
const NO_ORDER = "- it starts apps in no order";
const NO_BACKOFF = "- the delay between restarts is RestartSec";
const NO_PROBE = "- units have no readiness or health checks";
const NO_PID = "- the node limits processes";

/** Key → cells, in the order of `ENGINES`. */
const ROWS: Readonly<Record<string, Row>> = {
  name: docker("metadata.name", "services", "TaskGroups.Name", "name of the unit"),
  entrypoint: inside("ExecStart"),
  args: inside("ExecStart"),
  cwd: inside("WorkingDirectory"),
  runtime: inside("ExecStart"),
  interpreter: inside("ExecStart"),
  use_bundle: inside("ExecStart"),
  stdin: inside("- units have no standard input"),
  tty: inside("- units have no terminal"),
  env: docker("ConfigMap, Secret", "environment", "Env, Templates", "Environment"),
  env_file: docker("Secret, mounted", "secrets", "Templates", "EnvironmentFile"),
  secrets: docker("Secret", "environment, secrets", "Templates", "EnvironmentFile"),
  inherit_env: inside("PassEnvironment"),
  shell_env: nowhere("a shell's environment stays on its machine"),
  increment_env: nowhere("copies have no number"),
  instances: docker("replicas", "deploy.replicas", "Count", "NAME@.service"),
  sockets: docker("Service", "ports", "Networks.ReservedPorts", "NAME.socket"),
  namespace: ["metadata.labels", "deploy.labels", "labels", "Meta", "Slice"],
  tags: ["metadata.annotations", "deploy.labels", "labels", "Meta", "- units have no tags"],
  labels: ["metadata.annotations", "deploy.labels", "labels", "Meta", "- units have no labels"],
  depends_on: [NO_ORDER, NO_ORDER, "depends_on", NO_ORDER, "After, Requires"],
  priority: nowhere("dependencies alone give an order"),
  autostart: docker("replicas: 0", "replicas: 0", "Count: 0", "not in the target"),
  restart_policy: [
    "Deployment; Job for never",
    "deploy.restart_policy",
    "restart",
    "Type service; batch for never",
    "Restart",
  ],
  max_restarts: inside("StartLimitBurst"),
  restart_window: inside("StartLimitIntervalSec"),
  restart_delay: inside("RestartSec"),
  backoff_max: inside(NO_BACKOFF),
  min_uptime: inside("- StartLimitBurst counts every start"),
  success_exit_codes: inside("SuccessExitStatus"),
  max_memory: inside("MemoryMax"),
  max_age: inside("RuntimeMaxSec"),
  cron_restart: inside("- a unit has one schedule, of a timer"),
  watch: nowhere("what runs there is built, and not edited in place"),
  stop_signal: inside("KillSignal"),
  stop_timeout: docker(
    "terminationGracePeriodSeconds",
    "stop_grace_period",
    "KillTimeout",
    "TimeoutStopSec",
  ),
  reload_signal: nowhere(NO_RELOAD, "ExecReload"),
  overlap: [
    "strategy.maxSurge",
    "update_config.order",
    "- compose stops a container before it starts the next one",
    "Update.Canary",
    "- a unit stops before it starts again",
  ],
  wait_ready: inside(NO_PROBE),
  listen_timeout: docker(
    "startupProbe",
    "healthcheck.start_period",
    "Update.HealthyDeadline",
    NO_PROBE,
  ),
  ready_log: inside(NO_PROBE),
  ready_delay: inside(NO_PROBE),
  health_check: docker(
    "= (through readinessProbe)",
    "= (through healthcheck)",
    "= (through Services.Checks)",
    NO_PROBE,
  ),
  "cron.schedule": docker("CronJob", NO_CLOCK, "Periodic.Spec", "OnCalendar"),
  "cron.timezone": docker("timeZone", INSIDE, "Periodic.TimeZone", "OnCalendar"),
  "cron.overlap": docker(
    "concurrencyPolicy",
    INSIDE,
    "ProhibitOverlap",
    "- a unit that runs is not started again",
  ),
  "cron.timeout": docker("activeDeadlineSeconds", INSIDE, INSIDE, "TimeoutStartSec"),
  "cron.enabled": docker("suspend", "replicas: 0", "Periodic.Enabled", "not in the target"),
  "hooks.pre_start": inside("ExecStartPre"),
  "hooks.post_start": inside("ExecStartPost"),
  "hooks.pre_stop": inside("ExecStop"),
  "hooks.post_stop": inside("ExecStopPost"),
  "hooks.pre_restart": inside("- units have no such hook"),
  "hooks.post_restart": inside("- units have no such hook"),
  "hooks.pre_reload": nowhere(NO_RELOAD),
  "hooks.post_reload": nowhere(NO_RELOAD),
  "hooks.pre_healthcheck": inside(NO_PROBE),
  "hooks.post_healthcheck": inside(NO_PROBE),
  uid: inside("User"),
  gid: inside("Group"),
  umask: inside("UMask"),
  nice: inside("Nice"),
  "limits.nofile": inside("LimitNOFILE"),
  "limits.nproc": inside("LimitNPROC"),
  "limits.core": inside("LimitCORE"),
  "limits.address_space": inside("LimitAS"),
  "limits.file_size": inside("LimitFSIZE"),
  "limits.memory": docker(
    "resources.limits",
    "resources.limits",
    "Resources.MemoryMB",
    "MemoryMax",
  ),
  "limits.cpu_percent": docker(
    "resources.limits",
    "resources.limits",
    "- it reserves MHz",
    "CPUQuota",
  ),
  "limits.pids": [NO_PID, "resources.limits", "pids_limit", "Config.pids_limit", "TasksMax"],
  log: inside("- the journal keeps the logs"),
};

export function counterpart(key: string, engine: Engine): string {
  return ROWS[key]![ENGINES.indexOf(engine)]!;
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
