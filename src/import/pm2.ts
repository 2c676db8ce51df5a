/** Converts PM2's ecosystem files, and the dump of `pm2 save`. */

import { durationProblem, formatDuration, parseDuration } from "../model/duration.ts";
import { isMap, mapOf, onlyGiven } from "../model/merge_patch.ts";
import { nameFromPath } from "../model/name.ts";
import { isAbsolute, join, resolve } from "@std/path";
import { lookAt } from "../platform/files/stat.ts";
import type { ConfigDocument, Path } from "../config/document.ts";
import { ConfigProblem } from "../config/problem.ts";
import {
  alike,
  convertedKeys,
  handled,
  type ImportContext,
  type Imported,
  type Importer,
  type ImportTable,
  type KeyOrigins,
  type Keys,
  logFiles,
  lost,
  lostLog,
  ms,
  partition,
  texts,
  UNLIMITED,
  words,
} from "./imported.ts";
import { ImportResult, type PlaceOf } from "./import_result.ts";
import { appsOfDump, isDump, withoutSecrets } from "./pm2_dump.ts";
import { pm2Places } from "./pm2_places.ts";
import { isServe, lostOfServe, serveArgs, staticApps } from "./pm2_serve.ts";
import { hasReference, reference } from "./references.ts";

export const pm2: Importer = {
  matches: ({ value }) =>
    Array.isArray(value)
      ? value.length > 0 && value.every(isApp)
      : isMap(value) && !("processes" in value) &&
        ("apps" in value || "pm2" in value || Array.isArray(value.static) || isApp(value)),
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

function convert(document: ConfigDocument, context: ImportContext): Imported {
  const { file, value } = document;
  const { path, apps } = appsOf(file, value, context);
  const placeOf = pm2Places(document, apps);
  const result = new ImportResult(document, { context, placeOf, bareWord: "file" });
  // Without the methods of objects: a profile may have the name of one.
  const profiles: Record<string, { processes: Record<string, Keys> }> = Object.create(null);
  for (const [index, given] of apps.entries()) {
    // A dump holds the whole environment of `pm2 start`. An ecosystem file holds what its author wrote.
    const { app, secrets } = context.isWritten && isDump(value)
      ? withoutSecrets(given)
      : { app: given, secrets: [] };
    const at = path === undefined ? ["apps", index] : path(index);
    const script = scriptOf(file, app, placeOf(at));
    const name = addApp({ ...app, script }, at, result, profiles);
    result.note(name, ...secrets.map((secret) => lost(["env", secret], SECRET)));
  }
  if (isMap(value) && !isApp(value)) {
    const entries = Object.entries(value);
    const { notes } = convertedKeys(handled("apps", "pm2", "static"), entries, undefined);
    result.note(undefined, ...notes);
  }
  return { ...result.imported(), profiles };
}

interface Apps {
  readonly apps: readonly App[];
  /** The path of an app in the document; undefined if the apps are not in it. */
  readonly path?: (index: number) => Path;
}

function appsOf(file: string, value: unknown, { env }: ImportContext): Apps {
  if (isDump(value)) return { apps: appsOfDump(value, env) };
  if (Array.isArray(value) && value.length > 0 && value.every(isMap)) {
    return { apps: value.map(withoutNulls), path: (index) => [index] };
  }
  const given = value as { apps?: unknown; pm2?: unknown; static?: unknown };
  const key = given.apps !== undefined ? "apps" : given.pm2 !== undefined ? "pm2" : undefined;
  const servers = staticApps(given.static);
  const found: unknown = key === undefined ? (isApp(value) ? value : []) : given[key];
  const list = [found].flat();
  // PM2 takes null as not set.
  if (list.length + servers.length > 0 && list.every(isMap)) {
    const isList = Array.isArray(found);
    return {
      apps: [...list.map(withoutNulls), ...servers],
      path: (index) => [
        ...(index >= list.length
          ? ["static", index - list.length]
          : key === undefined
          ? []
          : [key]),
        ...(isList && index < list.length ? [index] : []),
      ],
    };
  }
  throw new ConfigProblem(file, "apps: expected a list of apps");
}

function withoutNulls(app: App): App {
  return Object.fromEntries(Object.entries(app).filter(([, value]) => value !== null));
}

/** The script of an app, under any of PM2's keys for it. */
function scriptOf(file: string, app: App, place: ReturnType<PlaceOf>): unknown {
  const script = app.script ?? app.exec ?? app.cmd ?? app.command;
  if (typeof script === "string" && script !== "") return script;
  const which = app.name === undefined ? "an app" : JSON.stringify(app.name);
  throw new ConfigProblem(file, `apps: ${which} has no "script"`, {
    place,
    advice: 'a PM2 app needs one; procsup\'s own apps are under "processes", with an "entrypoint"',
  });
}

function addApp(
  app: App,
  path: Path,
  result: ImportResult,
  profiles: Record<string, { processes: Record<string, Keys> }>,
): string {
  const { folder } = result;
  const [envs, own] = partition(
    Object.entries(app),
    ([key, value]) => /^env_./.test(key) && isMap(value),
  );
  const { keys, notes, origins } = convertedKeys(KEYS, own, { app, folder });
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
  }, { path, keys: { ...ORIGINS, ...origins } });
  result.note(name, ...notes);
  if (isCluster(app) && sockets === undefined) {
    const why = "the instances share a port only through sockets: [address:port]";
    result.note(name, lost("exec_mode", why));
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

/** Keys that several of ours come from. */
const ORIGINS: KeyOrigins = {
  ...{ entrypoint: "script", args: "args", cwd: "cwd", restart_policy: "autorestart" },
  ...{ max_restarts: "max_restarts", restart_window: "min_uptime", log: "out_file", env: "env" },
  ...{ sockets: "exec_mode", interpreter: "interpreter" },
};

/** The log files of an app; `log` is one for both streams. */
function pm2Logs(app: App, folder: string, instances: unknown): Keys {
  const both = app.log ?? app.log_file;
  const stdout = app.out_file ?? app.out ?? app.output ?? app.out_log ?? both;
  const stderr = app.error_file ?? app.error ?? app.err_file ?? app.err ?? app.err_log ?? both;
  const suffix = (instances ?? 1) === 1 ? "" : "-{instance}";
  return logFiles({ stdout: inFolder(app, stdout), stderr: inFolder(app, stderr), folder, suffix });
}

/** A path of an app, which is relative to its working directory; `~` is the user's folder. */
function inFolder({ cwd = "." }: App, path: unknown): unknown {
  if (typeof path !== "string" || path === "" || /^(NULL|AUTO)$/.test(path)) return path;
  if (/^~(\/|$)/.test(path)) return `${reference("HOME")}${path.slice(1)}`;
  return isAbsolute(path) || hasReference(path.slice(0, 1)) ? path : join(String(cwd), path);
}

function pm2Command(app: App, folder: string): Keys {
  const script = String(app.script ?? "");
  const at = resolve(folder, String(app.cwd ?? "."));
  const args = words(app.args);
  if (isServe(app)) return { entrypoint: "procsup", args: serveArgs(app) };
  const isFile = lookAt(resolve(at, script))?.isFile === true;
  if (/\s/.test(script) && !isFile) return { command: [script, ...args].join(" ") };
  const interpreter = String(app.interpreter ?? app.exec_interpreter ?? "");
  const options = words(app.node_args ?? app.interpreter_args ?? app.interpreterArgs);
  if (options.length > 0 && interpreter !== "none") {
    return { entrypoint: interpreter || "node", args: [...options, script, ...args] };
  }
  // PM2 looks for a bare word in the folder first. It may be built later.
  const isScript = isFile ? at !== folder : /\.\w+$/.test(script);
  const path = isScript && !script.includes("/") ? `./${script}` : script;
  return { entrypoint: path, args, ...interpreted(interpreter, isFile ? script : "") };
}

/** The keys for an interpreter; without one, PM2 chooses it by the extension of the script. */
function interpreted(interpreter: string, script: string): Keys | undefined {
  if (interpreter === "node") return { runtime: "node" };
  if (interpreter === "none") return undefined;
  if (interpreter !== "") return { interpreter };
  return BY_EXTENSION.find(([pattern]) => pattern.test(script))?.[1];
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
  ...handled("exec_mode", "min_uptime_ms", "max_restarts", "instance_var", "time", "vizion"),
  ...handled("source_map_support", "disable_source_map_support", "pmx", "automation", "write"),
  ...handled("windowsHide", "km_link", "username", "disable_trace"),
  // Without it PM2 signals the main process, and leaves what that has started.
  treekill: (value) => value === false ? { stop_mode: "leave" } : {},
  ...handled("ignore_watch", "watch_delay"),
  ...alike(lostLog, "out_file", "out", "output", "out_log"),
  ...alike(lostLog, "error_file", "error", "err_file", "err", "err_log"),
  ...alike(combinedLog, "log", "log_file"),
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
  ...alike(
    (value: unknown, { app }: AppContext) => ({
      lost: value && app.instances !== undefined
        ? "each instance has its own log; procsup logs <name> shows them in order of time"
        : undefined,
    }),
    "merge_logs",
    "combine_logs",
  ),
};

/** PM2 writes a combined log beside those of the streams. */
function combinedLog(
  file: unknown,
  { app, folder }: AppContext,
): { readonly lost?: string | undefined } {
  const others = ["out_file", "out", "output", "error_file", "error", "err_file"];
  if (file === true || file === false) return {};
  return others.some((key) => app[key] !== undefined)
    ? { lost: "procsup logs shows both streams together" }
    : lostLog(file, { folder });
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

function watch(value: unknown, { app }: AppContext): Keys {
  const { ignore_watch, watch_delay } = app;
  if (!value || (Array.isArray(value) && value.length === 0)) return {};
  const list = (given: unknown) => [given].flat().map(String);
  return {
    watch: onlyGiven({
      paths: value === true ? undefined : list(value).map((path) => inFolder(app, path)),
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
