/** Reads the dump of `pm2 save`. */

import { looksSecret } from "../../model/secret_values.ts";
import { isMap } from "../../model/merge_patch.ts";
import { reference } from "./imported.ts";

type App = Readonly<Record<string, unknown>>;

/** Keys of a dump entry that ecosystem files have too. */
const KEPT = [
  "name",
  "args",
  "node_args",
  "namespace",
  "watch",
  "ignore_watch",
  "watch_delay",
  "autorestart",
  "max_restarts",
  "min_uptime",
  "max_memory_restart",
  "cron_restart",
  "kill_timeout",
  "listen_timeout",
  "wait_ready",
  "restart_delay",
  "exp_backoff_restart_delay",
  "stop_exit_codes",
  "increment_var",
  "instance_var",
  "autostart",
  "uid",
  "gid",
];

/** Variables of PM2, and of the terminal in which `pm2 start` ran. */
const SESSION =
  /^(PM2_.*|pm_.*|unique_id|NODE_APP_INSTANCE|PWD|OLDPWD|SHLVL|_|TERM.*|COLORTERM|SSH_.*|LS_COLORS|XDG_.*|LESS.*|DISPLAY|DBUS_.*|PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_.*|MAIL|HOSTNAME|npm_.*|NVM_.*|INIT_CWD|EDITOR|VIRTUAL_ENV|WSL.*|VSCODE.*)$/;

/** Whether a value was written by `pm2 save`. */
export function isDump(value: unknown): value is readonly App[] {
  return Array.isArray(value) && value.length > 0 &&
    value.every((item) => isMap(item) && "pm_exec_path" in item);
}

/** Converts the entries to apps of an ecosystem file. Instances of a name become one app. */
export function appsOfDump(entries: readonly App[]): App[] {
  const groups = Map.groupBy(entries, ({ name, pm_exec_path }) => `${name}\0${pm_exec_path}`);
  return [...groups.values()].map((instances) => {
    const [first] = instances as [App];
    const env = isMap(first.env) ? first.env : {};
    const kept = KEPT.flatMap((key) => first[key] === undefined ? [] : [[key, first[key]]]);
    return {
      ...Object.fromEntries(kept),
      script: first.pm_exec_path,
      cwd: first.pm_cwd,
      interpreter: first.exec_interpreter,
      env: Object.fromEntries(
        Object.entries(env).filter(([key, value]) => !SESSION.test(key) && !isMap(value)),
      ),
      ...(instances.length > 1 ? { instances: instances.length } : {}),
      ...(first.exec_mode === "cluster_mode" ? { exec_mode: "cluster" } : {}),
    };
  });
}

/** An app with references in place of variables that look like secrets, and their names. */
export function withoutSecrets(
  app: App,
): { readonly app: App; readonly secrets: readonly string[] } {
  const env = isMap(app.env) ? app.env : {};
  const secrets = Object.keys(env).filter((name) => looksSecret(name, String(env[name])));
  const references = Object.fromEntries(secrets.map((name) => [name, reference(name)]));
  return { app: { ...app, env: { ...env, ...references } }, secrets };
}
