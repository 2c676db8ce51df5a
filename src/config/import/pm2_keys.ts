/** Each key of a PM2 app → keys of a process. */

import { isMap } from "../document.ts";
import { type Keys, ms, texts } from "./imported.ts";

type App = Readonly<Record<string, unknown>>;

/** Keys that are read elsewhere, or that say what is so anyway. */
export const SILENT: ReadonlySet<string> = new Set([
  "name",
  "script",
  "exec",
  "cmd",
  "args",
  "cwd",
  "interpreter",
  "exec_interpreter",
  "interpreter_args",
  "interpreterArgs",
  "node_args",
  "exec_mode",
  "treekill",
  "min_uptime_ms",
]);

/** What each key becomes. */
export const KEYS: Readonly<Record<string, (value: unknown, app: App) => Keys>> = {
  env: (value) => isMap(value) ? { env: texts(value) } : {},
  env_file: (value) => ({ env_file: value }),
  instances: (value) => ({ instances: instanceCount(value) }),
  increment_var: (value) => ({ increment_env: value }),
  namespace: (value) => ({ namespace: value }),
  watch: (value, app) => watch(value, app),
  ignore_watch: () => ({}),
  watch_delay: () => ({}),
  max_memory_restart: (value) => ({ max_memory: size(value) }),
  cron_restart: (value, app) => cron(value, app),
  cron: (value, app) => cron(value, app),
  autorestart: (value, app) =>
    value === false && !app.cron_restart ? { restart_policy: "never" } : {},
  stop_exit_codes: (value) => ({
    restart_policy: "on-failure",
    success_exit_codes: (Array.isArray(value) ? value : [value]).map(Number),
  }),
  max_restarts: (value) => ({ max_restarts: Number(value) }),
  min_uptime: (value) => ({ min_uptime: ms(value) }),
  restart_delay: (value) => value ? { restart_delay: ms(value), backoff_max: ms(value) } : {},
  exp_backoff_restart_delay: (value) => value ? { restart_delay: ms(value) } : {},
  kill_timeout: (value) => ({ stop_timeout: ms(value) }),
  wait_ready: (value) => ({ wait_ready: value === true }),
  listen_timeout: (value) => ({ listen_timeout: ms(value) }),
  uid: (value) => ({ uid: value }),
  user: (value) => ({ uid: value }),
  gid: (value) => ({ gid: value }),
};

function instanceCount(value: unknown): number {
  const cpus = navigator.hardwareConcurrency;
  const count = value === "max" ? 0 : Number(value);
  // 0 is as many as there are cores, -1 one less.
  return count > 0 ? count : Math.max(1, cpus + (count || 0));
}

function watch(value: unknown, { ignore_watch, watch_delay }: App): Keys {
  if (!value || (Array.isArray(value) && value.length === 0)) return {};
  const list = (given: unknown) => Array.isArray(given) ? given.map(String) : [String(given)];
  return {
    watch: {
      ...(value === true ? {} : { paths: list(value) }),
      ...(ignore_watch === undefined ? {} : { ignore: list(ignore_watch) }),
      ...(watch_delay === undefined ? {} : { debounce: ms(watch_delay) }),
      enabled: true,
    },
  };
}

/** Together with `autorestart: false` it is PM2's way to run something by the clock. */
function cron(value: unknown, { autorestart }: App): Keys {
  if (!value || value === "0") return {};
  if (autorestart !== false) return { cron_restart: String(value) };
  return { cron: String(value), restart_policy: "never" };
}

/** `300M`, `1G`, `512K`, or bytes. */
function size(value: unknown): unknown {
  return typeof value === "number" ? value : String(value).trim();
}
