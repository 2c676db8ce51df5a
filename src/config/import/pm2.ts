/** Converts PM2's ecosystem files, and the dump of `pm2 save`. */

import { durationProblem, formatDuration, parseDuration } from "../../model/duration.ts";
import { isMap, mapOf, onlyGiven } from "../../model/merge_patch.ts";
import { nameFromPath } from "../../model/name.ts";
import { dirname, isAbsolute, resolve } from "../../npm/path.js";
import { lookAt } from "../../platform/stat.ts";
import type { ConfigDocument } from "../document.ts";
import { ConfigProblem } from "../problem.ts";
import {
  alike,
  convertedKeys,
  handled,
  type ImportContext,
  type Imported,
  type Importer,
  ImportResult,
  type ImportTable,
  type Keys,
  logFileProblem,
  logFiles,
  ms,
  partition,
  reference,
  texts,
  UNLIMITED,
  words,
} from "./imported.ts";
import { looksSecret } from "../../model/secret_values.ts";

export const pm2: Importer = {
  name: "pm2",
  matches: ({ value }) =>
    Array.isArray(value)
      ? value.length > 0 && value.every(isApp)
      : isMap(value) && !("processes" in value) &&
        ("apps" in value || "pm2" in value || isApp(value)),
  convert,
};

/** Whether a value is an app of an ecosystem file or of a dump. */
function isApp(value: unknown): boolean {
  return isMap(value) &&
    ["pm_exec_path", "script", "exec", "cmd"].some((key) => key in value);
}

type App = Readonly<Record<string, unknown>>;

const SECRET = "it looks like a secret: set it in .env, or move it to secrets";

/** PM2's default interpreters by extension. */
const BY_EXTENSION: readonly (readonly [RegExp, Keys])[] = [
  [/\.[cm]?js$/, { runtime: "node" }],
  [/\.(sh|bash)$/, { interpreter: "bash" }],
];

function convert({ file, value }: ConfigDocument, { isWritten }: ImportContext): Imported {
  const result = new ImportResult(file);
  // Without the methods of objects: a profile may have the name of one.
  const profiles: Record<string, { processes: Record<string, Keys> }> = Object.create(null);
  for (const given of appsOf(file, value)) {
    // A dump holds the whole environment of `pm2 start`. An ecosystem file holds what its author wrote.
    const { app, secrets } = isWritten && isDump(value)
      ? withoutSecrets(given)
      : { app: given, secrets: [] };
    const script = scriptOf(file, app);
    const name = addApp({ ...app, script }, dirname(file), result, profiles);
    result.note(name, ...secrets.map((secret) => `env.${secret}: ${SECRET}`));
  }
  if (isMap(value) && !isApp(value)) {
    const { notes } = convertedKeys(handled("apps", "pm2"), Object.entries(value), undefined);
    result.note(undefined, ...notes);
  }
  return { ...result.imported(), profiles };
}

function appsOf(file: string, value: unknown): readonly App[] {
  if (isDump(value)) return appsOfDump(value);
  const given = value as { apps?: unknown; pm2?: unknown };
  const apps: unknown = Array.isArray(value) ? value : given.apps ?? given.pm2 ?? value;
  const list = [apps].flat();
  // PM2 takes null as not set.
  if (list.length > 0 && list.every(isMap)) return list.map(withoutNulls);
  throw new ConfigProblem(file, "apps: expected a list of apps");
}

function withoutNulls(app: App): App {
  return Object.fromEntries(Object.entries(app).filter(([, value]) => value !== null));
}

/** The script of an app, under any of PM2's keys for it. */
function scriptOf(file: string, app: App): unknown {
  const script = app.script ?? app.exec ?? app.cmd ?? app.command;
  if (typeof script === "string" && script !== "") return script;
  const which = app.name === undefined ? "an app" : JSON.stringify(app.name);
  throw new ConfigProblem(file, `apps: ${which} has no "script"`, {
    advice: 'a PM2 app needs one; procsup\'s own apps are under "processes", with an "entrypoint"',
  });
}

function addApp(
  app: App,
  folder: string,
  result: ImportResult,
  profiles: Record<string, { processes: Record<string, Keys> }>,
): string {
  const [envs, own] = partition(
    Object.entries(app),
    ([key, value]) => /^env_./.test(key) && isMap(value),
  );
  const { keys, notes } = convertedKeys(KEYS, own, { app, folder });
  const all: Keys = {
    cwd: app.cwd === undefined ? undefined : String(app.cwd),
    ...pm2Command(app, folder),
    restart_policy: "always",
    // PM2 stops apps with SIGINT.
    stop_signal: "SIGINT",
    ...keys,
  };
  const sockets = socketsOf(app, all.env);
  const given = app.name === "" ? undefined : app.name;
  const name = result.add(String(given ?? nameFromPath(String(app.script))), {
    ...{ ...all, ...numbered(app, all), ...restarts(app, all), sockets },
    ...pm2Logs(app, folder, all.instances),
  });
  result.note(name, ...notes);
  if (isCluster(app) && sockets === undefined) {
    const why = "the instances share a port only through sockets: [address:port]";
    result.note(name, `exec_mode: ${why}`);
  }
  if (isServe(app)) result.note(name, ...lostOfServe(app));
  for (const [key, env] of envs as [string, Keys][]) {
    const { processes } = profiles[key.slice("env_".length)] ??= { processes: {} };
    processes[name] = result.written(name, {
      env: texts(env),
      args: isServe(app) ? serveArgs(app, env) : undefined,
      sockets: socketsOf(app, env),
    });
  }
  return name;
}

/** The log files of an app; `log` is one for both streams. */
function pm2Logs(app: App, folder: string, instances: unknown): Keys {
  const both = app.log ?? app.log_file;
  const stdout = app.out_file ?? app.out ?? app.output ?? both;
  const stderr = app.error_file ?? app.error ?? app.err_file ?? both;
  return logFiles({ stdout, stderr, folder, suffix: (instances ?? 1) === 1 ? "" : "-{instance}" });
}

function pm2Command(app: App, folder: string): Keys {
  const script = String(app.script ?? "");
  const at = resolve(folder, String(app.cwd ?? "."));
  const args = words(app.args);
  if (isServe(app)) return { entrypoint: "procsup", args: serveArgs(app) };
  const path = seenFrom(script, at, folder);
  const isFile = lookAt(resolve(folder, path))?.isFile === true;
  if (/\s/.test(script) && !isFile) return { command: [script, ...args].join(" ") };
  const interpreter = String(app.interpreter ?? app.exec_interpreter ?? "");
  const options = words(app.node_args ?? app.interpreter_args ?? app.interpreterArgs);
  if (options.length > 0 && interpreter !== "none") {
    const seen = at === folder ? path : resolve(folder, path);
    return { entrypoint: interpreter || "node", args: [...options, seen, ...args] };
  }
  return { entrypoint: path, args, ...interpreted(interpreter, isFile ? script : "") };
}

/** The keys for an interpreter; without one, PM2 chooses it by the extension of the script. */
function interpreted(interpreter: string, script: string): Keys | undefined {
  if (interpreter === "node") return { runtime: "node" };
  if (interpreter === "none") return undefined;
  if (interpreter !== "") return { interpreter };
  return BY_EXTENSION.find(([pattern]) => pattern.test(script))?.[1];
}

/** Whether PM2 runs its static file server, which it does even if a file `serve` exists. */
function isServe({ script }: App): boolean {
  return script === "serve";
}

/** Folder and port of the static file server, which variables override; `env` is a profile's. */
function serveArgs(app: App, env: Record<string, unknown> = {}): string[] {
  const [folder, port] = serveWords(app) ?? [];
  const { PM2_SERVE_PATH, PM2_SERVE_PORT, PM2_SERVE_HOST, PM2_SERVE_SPA } = texts({
    ...mapOf(app.env),
    ...env,
  });
  const bind = PM2_SERVE_HOST ? ["--bind", PM2_SERVE_HOST] : [];
  const spa = PM2_SERVE_SPA === "true" ? ["--spa"] : [];
  const [path, listen] = [PM2_SERVE_PATH || folder || ".", PM2_SERVE_PORT || port || "8080"];
  return ["serve-files", path, "--port", listen, ...bind, ...spa];
}

/** The arguments of the static file server; undefined if not just a folder and a port. */
function serveWords({ args }: App): readonly string[] | undefined {
  const given = words(args);
  return given.length > 2 || given.some((word) => word.startsWith("-")) ? undefined : given;
}

function lostOfServe(app: App): string[] {
  const lost = Object.entries(app)
    .filter(([key, value]) => /^env(_.+)?$/.test(key) && isMap(value))
    .flatMap(([key, env]) => Object.keys(env as object).map((name) => ({ key, name })))
    .filter(({ name }) => SERVE_LOST.test(name))
    .map(({ key, name }) => `${key}.${name}: procsup serve-files has no such option`);
  if (serveWords(app) === undefined) lost.push("args: PM2's server takes a folder and a port");
  return lost;
}

/** Variables of PM2's static file server that have no counterpart. */
const SERVE_LOST = /^PM2_SERVE_(?!PATH$|PORT$|HOST$|SPA$)/;

/** PM2 looks for scripts in the app's working directory. */
function seenFrom(script: string, at: string, folder: string): string {
  if (isAbsolute(script) || at === folder) return script;
  const there = resolve(at, script);
  return lookAt(there)?.isFile ? there : script;
}

/** PM2 numbers the instances of an app in a variable, from 0. */
function numbered({ instance_var, increment_var }: App, { env, instances = 1 }: Keys): Keys {
  if (instances === 1) return {};
  const name = String(instance_var ?? "NODE_APP_INSTANCE");
  return {
    env: { ...env as Keys, [name]: "0" },
    increment_env: [increment_var ?? [], name].flat(),
  };
}

/** Defaults of PM2. */
const MIN_UPTIME = "1s";
const MAX_RESTARTS = 16;

/**
 * PM2 gives up after `max_restarts` runs shorter than `min_uptime`, and never after a longer run. So
 * the window is the longest time of these runs.
 */
function restarts({ max_restarts }: App, { min_uptime, restart_policy }: Keys): Keys {
  if (restart_policy === "never") return {};
  const most = Number(max_restarts ?? MAX_RESTARTS);
  const uptime = String(min_uptime ?? MIN_UPTIME);
  // Validation reports a wrong number or time.
  if (!(most > 0) || durationProblem(uptime) !== undefined) return { max_restarts: most };
  const window = most * parseDuration(uptime);
  return window > 0 ? { max_restarts: most, restart_window: formatDuration(window) } : UNLIMITED;
}

interface AppContext {
  readonly app: App;
  readonly folder: string;
}

const KEYS: ImportTable<unknown, AppContext> = {
  ...handled("name", "script", "exec", "cmd", "command", "args", "cwd"),
  ...handled("interpreter", "exec_interpreter", "interpreter_args", "interpreterArgs", "node_args"),
  ...handled("exec_mode", "treekill", "min_uptime_ms", "max_restarts", "instance_var"),
  ...handled("ignore_watch", "watch_delay"),
  ...alike(lostLog, "out_file", "out", "output", "error_file", "error", "err_file"),
  ...alike(lostLog, "log", "log_file"),
  ...alike(environment, "env", "port"),
  ...alike(cron, "cron_restart", "cron"),
  env_file: (value) => ({ env_file: value }),
  instances: (value) => ({
    // In PM2, 0 means one per core and -1 one less.
    instances: Number(value) > 0 ? Number(value) : "max",
    lost: Number(value) < 0 ? `${value} became max, one for each CPU` : undefined,
  }),
  increment_var: (value) => ({ increment_env: value }),
  namespace: (value) => ({ namespace: value }),
  watch,
  // In PM2, 0 means the default of these limits.
  max_memory_restart: (value) =>
    value ? { max_memory: typeof value === "number" ? value : String(value).trim() } : {},
  autostart: (value) => value === false ? { autostart: false } : {},
  autorestart: (value, { app }) =>
    value === false && !app.cron_restart ? { restart_policy: "never" } : {},
  stop_exit_codes: (value, { app }) => ({
    ...(app.autorestart === false ? {} : { restart_policy: "on-failure" }),
    success_exit_codes: [value].flat().map(Number),
  }),
  min_uptime: (value) => ({ min_uptime: ms(value) }),
  // PM2 prefers the delay that grows.
  restart_delay: (value, { app }) =>
    value && !app.exp_backoff_restart_delay
      ? { restart_delay: ms(value), backoff_max: ms(value) }
      : {},
  exp_backoff_restart_delay: (value) => value ? { restart_delay: ms(value) } : {},
  kill_timeout: (value) => value ? { stop_timeout: ms(value) } : {},
  wait_ready: (value) => ({ wait_ready: value === true }),
  listen_timeout: (value) => value ? { listen_timeout: ms(value) } : {},
  uid: (value) => ({ uid: value }),
  user: (value) => ({ uid: value }),
  gid: (value) => ({ gid: value }),
  log_date_format: "procsup logs -t shows when each line was written",
  merge_logs: (value, { app }) => ({
    lost: value && app.instances !== undefined
      ? "each instance has its own log; procsup logs <name> shows them in order of time"
      : undefined,
  }),
};

function lostLog(file: unknown, { folder }: AppContext): { readonly lost?: string | undefined } {
  return { lost: logFileProblem(file, folder) };
}

/** PM2 runs Node in cluster mode if instances are given without a mode. */
function isCluster({ exec_mode, instances, script, interpreter, exec_interpreter }: App): boolean {
  if (exec_mode !== undefined && exec_mode !== null) return /^cluster/.test(String(exec_mode));
  const node = /^(.*\/)?(node|bun)$/.test(String(interpreter ?? exec_interpreter ?? "node"));
  return instances !== undefined && node && /\.[cm]?[jt]s$/.test(String(script));
}

/** The variables of an app; `port` is a short form of the variable PORT. */
function environment(_: unknown, { app: { env, port } }: AppContext): Keys {
  return { env: texts({ ...mapOf(env), ...(port ? { PORT: port } : {}) }) };
}

/** Instances in PM2's cluster mode share the port that the app listens on. */
function socketsOf(app: App, env: unknown): string[] | undefined {
  const { PORT, port = "" } = mapOf(env);
  return isCluster(app) && /^(\d{2,5}|\0.*)$/.test(String(PORT ?? port))
    ? [`0.0.0.0:${PORT ?? port}`]
    : undefined;
}

function watch(value: unknown, { app: { ignore_watch, watch_delay } }: AppContext): Keys {
  if (!value || (Array.isArray(value) && value.length === 0)) return {};
  const list = (given: unknown) => [given].flat().map(String);
  return {
    watch: onlyGiven({
      paths: value === true ? undefined : list(value),
      ignore: ignore_watch === undefined ? undefined : list(ignore_watch),
      debounce: watch_delay === undefined ? undefined : ms(watch_delay),
      enabled: true,
    }),
  };
}

/** Converts a schedule. With `autorestart: false`, PM2 runs a job on it. */
function cron(value: unknown, { app: { autorestart } }: AppContext): Keys & { lost?: string } {
  if (!value || value === "0") return {};
  if (autorestart !== false) return { cron_restart: String(value) };
  const lost = "it runs only on schedule, not also at the start";
  return { cron: String(value), restart_policy: "never", lost };
}

/** Keys of a dump entry that ecosystem files have too. */
const KEPT = [
  ...["name", "args", "node_args", "namespace", "watch", "ignore_watch", "watch_delay"],
  ...["autorestart", "max_restarts", "min_uptime", "max_memory_restart", "cron_restart"],
  ...["kill_timeout", "listen_timeout", "wait_ready", "restart_delay"],
  ...["exp_backoff_restart_delay", "stop_exit_codes", "increment_var", "instance_var"],
  ...["autostart", "uid", "gid"],
];

/** Variables of PM2, and of the terminal in which `pm2 start` ran. */
const SESSION =
  /^(PM2_.*|pm_.*|unique_id|NODE_APP_INSTANCE|PWD|OLDPWD|SHLVL|_|TERM.*|COLORTERM|SSH_.*|LS_COLORS|XDG_.*|LESS.*|DISPLAY|DBUS_.*|PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_.*|MAIL|HOSTNAME|npm_.*|NVM_.*|INIT_CWD|EDITOR|VIRTUAL_ENV|WSL.*|VSCODE.*)$/;

/** Whether a value was written by `pm2 save`. */
function isDump(value: unknown): value is readonly App[] {
  return Array.isArray(value) && value.length > 0 &&
    value.every((item) => isMap(item) && "pm_exec_path" in item);
}

/** Converts the entries to apps of an ecosystem file. Instances of a name become one app. */
function appsOfDump(entries: readonly App[]): App[] {
  const groups = Map.groupBy(entries, ({ name, pm_exec_path }) => `${name}\0${pm_exec_path}`);
  return [...groups.values()].map((instances) => {
    const [first] = instances as [App];
    const kept = KEPT.flatMap((key) => first[key] === undefined ? [] : [[key, first[key]]]);
    return {
      ...Object.fromEntries(kept),
      script: first.pm_exec_path,
      cwd: first.pm_cwd,
      interpreter: first.exec_interpreter,
      env: Object.fromEntries(
        Object.entries(mapOf(first.env)).filter(([key, value]) =>
          !SESSION.test(key) && !isMap(value)
        ),
      ),
      ...(instances.length > 1 ? { instances: instances.length } : {}),
      ...(first.exec_mode === "cluster_mode" ? { exec_mode: "cluster" } : {}),
    };
  });
}

/** An app with references in place of variables that look like secrets, and their names. */
function withoutSecrets(
  app: App,
): { readonly app: App; readonly secrets: readonly string[] } {
  const env = mapOf(app.env);
  const secrets = Object.keys(env).filter((name) => looksSecret(name, String(env[name])));
  const references = Object.fromEntries(secrets.map((name) => [name, reference(name)]));
  return { app: { ...app, env: { ...env, ...references } }, secrets };
}
