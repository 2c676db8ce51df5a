/** Reads the dump of `pm2 save` as apps of an ecosystem file. */

import { isMap, mapOf, onlyGiven } from "../model/merge_patch.ts";
import { looksSecret } from "../model/secret_values.ts";
import { reference } from "./references.ts";

type App = Readonly<Record<string, unknown>>;
type Env = Readonly<Record<string, string>>;

/** Keys of a dump entry that ecosystem files have too. */
const KEPT = [
  ...["name", "args", "node_args", "namespace", "watch", "ignore_watch", "watch_delay"],
  ...["autorestart", "max_restarts", "min_uptime", "max_memory_restart", "cron_restart"],
  ...["kill_timeout", "listen_timeout", "wait_ready", "restart_delay", "treekill"],
  ...["exp_backoff_restart_delay", "stop_exit_codes", "increment_var", "instance_var"],
  ...["autostart", "uid", "gid"],
];

/** Variables of PM2, and of the terminal in which `pm2 start` ran. */
const SESSION =
  /^(PM2_(?!SERVE_).*|pm_.*|axm_.*|km_link|vizion.*|io|unique_id|NODE_APP_INSTANCE|PWD|OLDPWD|SHLVL|_|TERM.*|COLORTERM|SSH_.*|LS_COLORS|XDG_.*|LESS.*|DISPLAY|DBUS_.*|PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_.*|MAIL|HOSTNAME|npm_.*|NVM_.*|INIT_CWD|EDITOR|VIRTUAL_ENV|WSL.*|VSCODE.*)$/;

/** Whether a value was written by `pm2 save`. */
export function isDump(value: unknown): value is readonly App[] {
  return Array.isArray(value) && value.length > 0 &&
    value.every((item) => isMap(item) && "pm_exec_path" in item);
}

/**
 * Converts the entries to apps of an ecosystem file. Instances of a name become one app. A dump has
 * the whole environment of `pm2 start`: what the shell of today has as well is left out.
 */
export function appsOfDump(entries: readonly App[], shell: Env): App[] {
  const groups = Map.groupBy(entries, ({ name, pm_exec_path }) => `${name}\0${pm_exec_path}`);
  return [...groups.values()].map((instances) => {
    const [first] = instances as [App];
    const kept = KEPT.flatMap((key) => first[key] === undefined ? [] : [[key, first[key]]]);
    const serves = /\/pm2\/lib\/API\/Serve\.js$/.test(String(first.pm_exec_path));
    return {
      ...Object.fromEntries(kept),
      script: serves ? "serve" : first.pm_exec_path,
      cwd: first.pm_cwd,
      interpreter: first.exec_interpreter,
      ...onlyGiven({
        out_file: logOf(first, "pm_out_log_path"),
        error_file: logOf(first, "pm_err_log_path"),
      }),
      env: Object.fromEntries(
        Object.entries(mapOf(first.env)).filter(([key, value]) =>
          !SESSION.test(key) && !isMap(value) && !(key === first.name && value === "{}") &&
          shell[key] !== String(value) && (serves || !/^PM2_SERVE_/.test(key)) &&
          !(serves && /^(null|false)$/.test(String(value)))
        ),
      ),
      ...(instances.length > 1 ? { instances: instances.length } : {}),
      ...(first.exec_mode === "cluster_mode" ? { exec_mode: "cluster" } : {}),
    };
  });
}

/** The log file that the app was given. PM2 adds the id of the process to it. */
function logOf(entry: App, key: string): string | undefined {
  const path = entry[key];
  if (typeof path !== "string" || /\/\.?pm2\/logs\/[^/]*$/.test(path)) return undefined;
  return entry.merge_logs === true ? path : path.replace(/-\d+(\.\w+)?$/, "$1");
}

/** An app with references in place of variables that look like secrets, and their names. */
export function withoutSecrets(
  app: App,
): { readonly app: App; readonly secrets: readonly string[] } {
  const env = mapOf(app.env);
  const secrets = Object.keys(env).filter((name) => looksSecret(name, String(env[name])));
  const references = Object.fromEntries(secrets.map((name) => [name, reference(name)]));
  return { app: { ...app, env: { ...env, ...references } }, secrets };
}
