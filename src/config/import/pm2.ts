/** Converts PM2's ecosystem files, and the dump of `pm2 save`. */

import { durationProblem, formatDuration, parseDuration } from "../../model/duration.ts";
import { isMap, onlyGiven } from "../../model/merge_patch.ts";
import { nameFromPath } from "../../model/name.ts";
import { dirname, isAbsolute, resolve } from "../../npm/path.js";
import { lookAt } from "../../platform/stat.ts";
import type { ConfigDocument } from "../document.ts";
import { ConfigProblem } from "../problem.ts";
import { appsOfDump, isDump, withoutSecrets } from "./pm2_dump.ts";
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
  texts,
  UNLIMITED,
  words,
} from "./imported.ts";

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
  const apps = Array.isArray(value) ? value : given.apps ?? given.pm2 ?? value;
  const list = Array.isArray(apps) ? apps : [apps];
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
    ...pm2Command(app, folder),
    restart_policy: "always",
    // PM2 stops apps with SIGINT.
    stop_signal: "SIGINT",
    ...keys,
  };
  const sockets = socketsOf(app, all.env);
  const name = result.add(pm2Name(app), {
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

function pm2Name({ name, script }: App): string {
  return name === undefined || name === "" ? nameFromPath(String(script ?? "app")) : String(name);
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
  const cwd = app.cwd === undefined ? {} : { cwd: String(app.cwd) };
  const at = app.cwd === undefined ? folder : resolve(folder, String(app.cwd));
  const args = words(app.args);
  if (isServe(app)) return { ...cwd, entrypoint: "procsup", args: serveArgs(app) };
  const path = seenFrom(script, at, folder);
  const isFile = lookAt(resolve(folder, path))?.isFile === true;
  if (/\s/.test(script) && !isFile) return { ...cwd, command: [script, ...args].join(" ") };
  const interpreter = String(app.interpreter ?? app.exec_interpreter ?? "");
  const options = words(app.node_args ?? app.interpreter_args ?? app.interpreterArgs);
  if (options.length > 0 && interpreter !== "none") {
    const program = interpreter || "node";
    return {
      ...cwd,
      entrypoint: program,
      args: [...options, at === folder ? path : resolve(folder, path), ...args],
    };
  }
  if (interpreter === "none") return { ...cwd, entrypoint: path, args };
  if (interpreter !== "") return { ...cwd, entrypoint: path, args, ...interpreted(interpreter) };
  const known = isFile ? BY_EXTENSION.find(([pattern]) => pattern.test(script))?.[1] : undefined;
  return { ...cwd, entrypoint: path, args, ...known };
}

/** Whether PM2 runs its static file server, which it does even if a file `serve` exists. */
function isServe({ script }: App): boolean {
  return script === "serve";
}

/** Folder and port of the static file server, which variables override; `env` is a profile's. */
function serveArgs(app: App, env: Record<string, unknown> = {}): string[] {
  const [folder, port] = serveWords(app) ?? [];
  const { PM2_SERVE_PATH, PM2_SERVE_PORT, PM2_SERVE_HOST, PM2_SERVE_SPA } = texts({
    ...(isMap(app.env) ? app.env : {}),
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

function interpreted(interpreter: string): Keys {
  return interpreter === "node" ? { runtime: "node" } : { interpreter };
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
  env: (_, { app }) => environment(app),
  port: (_, { app }) => environment(app),
  env_file: (value) => ({ env_file: value }),
  instances: (value) => ({
    instances: instanceCount(value),
    lost: Number(value) < 0 ? `${value} became max, one for each CPU` : undefined,
  }),
  increment_var: (value) => ({ increment_env: value }),
  namespace: (value) => ({ namespace: value }),
  watch: (value, { app }) => watch(value, app),
  // In PM2, 0 means the default of these limits.
  max_memory_restart: (value) => value ? { max_memory: size(value) } : {},
  cron_restart: (value, { app }) => cron(value, app),
  cron: (value, { app }) => cron(value, app),
  autostart: (value) => value === false ? { autostart: false } : {},
  autorestart: (value, { app }) =>
    value === false && !app.cron_restart ? { restart_policy: "never" } : {},
  stop_exit_codes: (value, { app }) => ({
    ...(app.autorestart === false ? {} : { restart_policy: "on-failure" }),
    success_exit_codes: (Array.isArray(value) ? value : [value]).map(Number),
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

/** In PM2, 0 means one per core and -1 one less. */
function instanceCount(value: unknown): number | "max" {
  return Number(value) > 0 ? Number(value) : "max";
}

/** PM2 runs Node in cluster mode if instances are given without a mode. */
function isCluster({ exec_mode, instances, script, interpreter, exec_interpreter }: App): boolean {
  if (exec_mode !== undefined && exec_mode !== null) return /^cluster/.test(String(exec_mode));
  const node = /^(.*\/)?(node|bun)$/.test(String(interpreter ?? exec_interpreter ?? "node"));
  return instances !== undefined && node && /\.[cm]?[jt]s$/.test(String(script));
}

/** The variables of an app; `port` is a short form of the variable PORT. */
function environment({ env, port }: App): Keys {
  return { env: texts({ ...(isMap(env) ? env : {}), ...(port ? { PORT: port } : {}) }) };
}

/** Instances in PM2's cluster mode share the port that the app listens on. */
function socketsOf(app: App, env: unknown): string[] | undefined {
  const port = isMap(env) ? String(env.PORT ?? env.port ?? "") : "";
  return isCluster(app) && /^(\d{2,5}|\0.*)$/.test(port) ? [`0.0.0.0:${port}`] : undefined;
}

function watch(value: unknown, { ignore_watch, watch_delay }: App): Keys {
  if (!value || (Array.isArray(value) && value.length === 0)) return {};
  const list = (given: unknown) => Array.isArray(given) ? given.map(String) : [String(given)];
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
function cron(value: unknown, { autorestart }: App): Keys {
  if (!value || value === "0") return {};
  if (autorestart !== false) return { cron_restart: String(value) };
  const lost = "it runs only on schedule, not also at the start";
  return { cron: String(value), restart_policy: "never", lost };
}

/** `300M`, `1G`, `512K`, or bytes. */
function size(value: unknown): unknown {
  return typeof value === "number" ? value : String(value).trim();
}
