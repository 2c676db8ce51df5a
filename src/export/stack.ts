/** A configuration file for engines: apps in containers of one image, secrets only by reference. */

import type { LoadedConfig, LoadedProcess } from "../config/load_config.ts";
import { isMap } from "../model/merge_patch.ts";
import { valueAt } from "../config/document.ts";
import { ifPossible, ProcsupError, quote } from "../model/errors.ts";
import { webhookWire } from "../model/config_schema.ts";
import { isLoopback, parseListen } from "../model/listen_address.ts";
import { nameFromPath } from "../model/name.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { isUnsafe } from "../model/plain_text.ts";
import { PROCESS_KEYS } from "../model/process_keys.ts";
import { leavesOf, looksSecret, secretsIn } from "../model/secret_values.ts";
import { WEB_KEYS, WEBHOOK_KEYS } from "../model/settings_keys.ts";
import { basename, dirname, relative, resolve } from "@std/path";
import { parseSockets, type SocketAddress } from "../platform/sockets/sockets.ts";
import { checksum } from "../platform/files/state_file.ts";
import { type Engine, EXPORTED_ROWS, lackOf } from "./engines.ts";

/** The folder of the configuration file, in the image. */
export const APP_FOLDER = "/app";

/** The executable in the image, by its path: `PATH` in `env` may lack its folder. */
export const PROGRAM = "/usr/local/bin/procsup";

/** Variables that every container has. */
const IMAGE_VARIABLES = ["PATH", "HOME"];

/** Exists in the container while the app is ready. */
const READY_FILE = "/tmp/procsup-ready";

/** How every engine asks whether an app is ready. */
export const PROBE = {
  command: ["test", "-e", READY_FILE],
  everySeconds: 5,
  /** An app that stays unready for this long is replaced. Until then procsup restarts it. */
  replaceSeconds: 120,
} as const;

export interface App {
  readonly stack: Stack;
  readonly name: string;
  /** The name on engines: a DNS label. */
  readonly id: string;
  readonly config: ProcessConfig;
  readonly loaded: LoadedProcess;
  /** Variables whose values may be written to exported files. */
  readonly plain: Readonly<Record<string, string>>;
  /** Variables from the engine; true if required, false if they have a default. */
  readonly variables: Readonly<Record<string, boolean>>;
  /** Secret files by the name of their secret. */
  readonly files: Readonly<Record<string, SecretFile>>;
  /** Ports that are reachable from outside the container. */
  readonly ports: readonly number[];
  /** Stop timeout for the engine: that of the app and its hooks, plus time for procsup. */
  readonly graceSeconds: number;
  /** Reports a setting that has no counterpart on the engine. */
  readonly lose: (key: string, text: string) => void;
}

/** A file that is not in the image. */
export interface SecretFile {
  readonly path: string;
  readonly inside: string;
}

/** A setting that has no counterpart on an engine. */
export interface Loss {
  readonly app?: string;
  readonly key: string;
  readonly text: string;
}

/** A configuration file, prepared for an export. */
export interface Stack {
  /** The name on engines. */
  readonly name: string;
  readonly file: string;
  readonly folder: string;
  readonly image: string;
  /** Profile of the file, for the procsup in the containers too. */
  readonly profile: string | undefined;
  readonly apps: readonly App[];
  readonly losses: Loss[];
  /** Files of the folder that hold secrets, relative to it. No image takes them along. */
  readonly secretFiles: readonly string[];
}

export interface ExportRequest {
  readonly file: string;
  readonly loaded: LoadedConfig;
  readonly to: Engine | "dockerfile";
  readonly image?: string;
  readonly profile?: string;
  readonly stack?: string;
  /** Swarm: ports are published by every node ("ingress"), or by nodes that run the app ("host"). */
  readonly ports?: "ingress" | "host";
  /** The image that a Dockerfile begins with. */
  readonly base?: string;
}

/** Leaves room for the name of an app: engines limit the length of both together. */
const MAX_STACK_NAME = 20;

/** The given stack name, or one made from a folder. Throws `bad_request` for an invalid name. */
export function stackName(folder: string, given?: string): string {
  if (given !== undefined && label(given, MAX_STACK_NAME) !== given) {
    throw new ProcsupError("bad_request", `Invalid --stack ${quote(given)}`, {
      hint: `Lower-case letters, digits and dashes, ${MAX_STACK_NAME} at most: ` +
        label(given, MAX_STACK_NAME),
    });
  }
  const name = given ?? label(nameFromPath(folder));
  if (name.length <= MAX_STACK_NAME) return name;
  // Two folders whose names begin alike must not be one stack.
  return `${label(name, MAX_STACK_NAME - 7)}-${checksum(name).slice(0, 6)}`;
}

/**
 * Makes the stack. Throws `bad_request` if a needed value is not set, if names clash, or if a text
 * could be more than a value in the file of an engine.
 */
export function stackOf({ file, loaded, to, image, profile, stack }: ExportRequest): Stack {
  const folder = dirname(file);
  refuseUnsafeTexts(file, loaded, [["--image", image], ["--profile", profile]]);
  const name = stackName(folder, stack);
  const isContainer = to !== "systemd";
  const apps: App[] = [];
  const losses: Loss[] = [];
  const made: Stack = {
    ...{ name, file: basename(file), folder, image: image ?? `${name}:latest`, profile },
    ...{ apps, losses, secretFiles: secretFilesOf(loaded, folder) },
  };
  apps.push(...loaded.processes.map((process) => appOf(made, process)));
  refuseSameIds(apps.map(({ id, name }) => [id, name]));
  if (isContainer) {
    const files = apps.flatMap(({ loaded }) => filesOf(loaded, folder));
    refuseSameIds(files.map(([id, { path }]) => [id, path]));
  }
  // An image loses no key: procsup in it reads the file.
  if (to === "dockerfile") {
    losses.push(...secretTexts(loaded));
    return made;
  }
  for (const app of apps) reportLosses(app, to);
  for (const path of isContainer ? loaded.files : []) {
    if (isWithin(path, folder)) continue;
    losses.push({ key: "extends", text: `${path} is outside of the folder, and not in the image` });
  }
  for (const key of ["web", "webhooks", "alerts"] as const) {
    const text = "they belong to a daemon, which does not run there";
    if (loaded.settings[key] !== undefined) losses.push({ key, text });
  }
  return made;
}

/** Labels, tags and namespace of an app, as one map. */
export function notes({ config }: App, prefix = ""): Record<string, string> {
  const { labels, tags, namespace } = config;
  return {
    ...labels,
    ...(tags.length > 0 && { [`${prefix}tags`]: tags.join(",") }),
    ...(namespace !== "default" && { [`${prefix}namespace`]: namespace }),
  };
}

/** Restart policies, in the words of compose and systemd. */
export const RESTART = { always: "always", never: "no", "on-failure": "on-failure" } as const;

/** True for an app that ends by itself: it has a schedule, or runs once. */
export function endsByItself({ cron, restartPolicy }: ProcessConfig): boolean {
  return cron !== undefined || restartPolicy === "never";
}

/** Undefined for an empty map or list: undefined keys are not written. */
export function unlessEmpty<T extends object>(value: T): T | undefined {
  return Object.values(value).some((inner) => inner !== undefined) ? value : undefined;
}

/** The first arguments of every container. */
export const RUN_WORDS = ["run", "--single"] as const;

/** The arguments of `procsup` that run an app in its container. */
export function runWords({ stack, name, config }: App, clock: "engine" | "inside"): string[] {
  const isNow = clock === "engine" && config.cron !== undefined;
  return [
    ...[...RUN_WORDS, name],
    ...(isNow ? ["--now"] : []),
    ...(config.cron === undefined ? ["--ready-file", READY_FILE] : []),
    ...fileWords(stack),
  ];
}

/** The arguments of `procsup run` that name the file and its profile. */
export function fileWords({ file, profile }: Stack): string[] {
  return [...(profile === undefined ? [] : [`--profile=${profile}`]), file];
}

function appOf(stack: Stack, loaded: LoadedProcess): App {
  const { config } = loaded;
  const { name, hooks, stopTimeoutMs } = config;
  const hookMs = [hooks.preStop, hooks.postStop].map((hook) => hook?.timeoutMs ?? 0);
  const shared = sharedPorts(loaded);
  const graceMs = [stopTimeoutMs, ...hookMs].reduce((sum, ms) => sum + ms);
  return {
    ...{ stack, name, loaded, config },
    // At most 63 characters with the stack name; names of CronJobs and Jobs get up to 11 more.
    id: label(name, endsByItself(config) ? 31 : 42),
    ...variablesOf(loaded),
    files: Object.fromEntries(filesOf(loaded, stack.folder)),
    // Engines that publish no ports do not ask: they do not need the value of PORT.
    get ports() {
      return [...new Set([...shared, ...ownPort(loaded)])];
    },
    graceSeconds: Math.ceil(graceMs / 1000) + 5,
    lose: (key, text) => stack.losses.push({ app: name, key, text }),
  };
}

/** Ports of sockets that are not on loopback. */
function sharedPorts(loaded: LoadedProcess): number[] {
  return parseSockets(settled(loaded, "sockets", loaded.config.sockets))
    .filter((address) => !isLocal(address)).map(({ port }) => port);
}

/** True if only the machine itself reaches the address. */
function isLocal({ text, bytes }: SocketAddress): boolean {
  return bytes !== undefined && isLoopback(parseListen(text));
}

/** The value of `PORT` in `env`, if it is a port. */
function ownPort(loaded: LoadedProcess): number[] {
  const text = settled(loaded, "env.PORT", loaded.config.env.PORT ?? "");
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port > 0 && port < 65_536 ? [port] : [];
}

/** Converts a name to a DNS label. */
function label(name: string, most = 63): string {
  const text = name.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
  return (/^[a-z]/.test(text) ? text : `app-${text}`).slice(0, most).replace(/-$/, "");
}

/** Throws `bad_request` if two names or paths become the same id: one would be lost. */
function refuseSameIds(all: readonly (readonly [id: string, name: string])[]): void {
  const known = new Map<string, string>();
  for (const [id, name] of all) {
    const other = known.get(id) ?? name;
    known.set(id, name);
    if (other === name) continue;
    throw new ProcsupError("bad_request", `"${other}" and "${name}" are both "${id}" there`, {
      hint:
        "Engines allow only short names of lower-case letters, digits and dashes: rename one of them",
    });
  }
}

/** Returns the value of a key, such as `sockets` or `env.PORT`. Throws `bad_request` if one of its variables is not set. */
export function settled<T>({ references, config }: LoadedProcess, key: string, value: T): T {
  const keys = key.split(".");
  const unset = references.filter(({ path }) => keys.every((word, at) => path[at] === word))
    .flatMap(({ variables }) => Object.keys(variables).filter((name) => !variables[name]));
  if (unset.length === 0) return value;
  throw new ProcsupError("bad_request", `"${config.name}": ${key} needs ${unset.join(", ")}`, {
    hint: `Set it for the export, or write a default: \${${unset[0]}:-…}`,
  });
}

function variablesOf({ config, references }: LoadedProcess): Pick<App, "plain" | "variables"> {
  const filled = new Set(references.filter(({ path }) => path[0] === "env").map((r) => r.path[1]));
  const plain = Object.entries(config.env)
    .filter(([name, value]) => !filled.has(name) && !looksSecret(name, value));
  const variables: Record<string, boolean> = {};
  for (const { text } of references) {
    for (const [, name, fallback] of text.matchAll(/\$\$|\$\{([^}:]+)(:-)?/g)) {
      if (name !== undefined && !IMAGE_VARIABLES.includes(name)) {
        variables[name] = (variables[name] ?? false) || fallback === undefined;
      }
    }
  }
  for (const { env } of Object.values(config.secrets)) {
    if (env !== undefined) variables[env] = true;
  }
  return { plain: Object.fromEntries(plain), variables };
}

/** A file is mounted where the app looks for it: an absolute path is the same in the container. */
function filesOf({ wire, absolutePaths }: LoadedProcess, folder: string) {
  const absolute = new Set(absolutePaths.map((path) => valueAt(wire, path)));
  const paths = [...secretsIn(wire)].filter(({ kind }) => kind === "file").map(({ text }) => text);
  return paths.map((path): [string, SecretFile] => {
    const isMoved = isWithin(path, folder) && !absolute.has(path);
    const inside = isMoved ? moved(path, folder) : path;
    return [label(inside), { path, inside }];
  });
}

/** Everything in a configuration that may be a secret, with its app and key. */
function* allSecrets({ processes, settings: { web, webhooks = [] } }: LoadedConfig) {
  for (const { config: { name }, wire, references } of processes) {
    const filled = new Set(references.map(({ path }) => path.join(".")));
    for (const secret of secretsIn(wire)) {
      const key = secret.path.join(".");
      if (secret.kind === "file" || !filled.has(key)) yield { ...secret, app: name, key };
    }
  }
  for (const { kind, path, text } of web === undefined ? [] : secretsIn({ ...web }, WEB_KEYS)) {
    yield { kind, text, app: undefined, key: `web.${path.join(".")}` };
  }
  for (const webhook of webhooks) {
    for (const { kind, path, text } of secretsIn(webhookWire(webhook), WEBHOOK_KEYS)) {
      const key = `webhooks.${webhook.name}.${path.join(".")}`;
      yield {
        kind,
        text: kind === "file" ? resolve(webhook.cwd, text) : text,
        app: undefined,
        key,
      };
    }
  }
}

/** Files of the folder that hold secrets, by their own path and by that which a link leads to. */
function secretFilesOf(loaded: LoadedConfig, folder: string): string[] {
  const named = allSecrets(loaded).filter(({ kind }) => kind === "file").map(({ text }) => text);
  const paths = [...named, ...[folder, ...loaded.files.map(dirname)].map((at) => `${at}/.env`)];
  const real = (path: string) => ifPossible(() => Deno.realPathSync(path)) ?? path;
  const places = paths.flatMap((path) => [
    ...isWithin(path, folder) ? [relative(folder, path)] : [],
    ...isWithin(real(path), real(folder)) ? [relative(real(folder), real(path))] : [],
  ]);
  return [...new Set(places)];
}

/** Secrets that are written in the file itself, which an image takes along. */
function secretTexts(loaded: LoadedConfig): Loss[] {
  const text = "it looks like a secret, and goes into the image with the file: move it to secrets";
  return [...allSecrets(loaded)].filter(({ kind, key }) =>
    kind === "text" && !loaded.filledSettings.has(key)
  ).map(({ app, key }) => ({ key, text, ...app !== undefined && { app } }));
}

/** Keys whose texts every engine gets between quotes, so that they may hold anything. */
const QUOTED = new Set([
  "args",
  "env",
  "health_check",
  "hooks",
  "labels",
  "ready_log",
  "shell_env",
]);

/** Throws `bad_request` for a text that an engine would not read as one value. */
function refuseUnsafeTexts(
  file: string,
  { processes }: LoadedConfig,
  flags: readonly (readonly [string, string | undefined])[],
): void {
  const named = flags.map(([name, text]) => [name, text ?? ""] as const);
  const own = processes.flatMap(({ config: { name }, wire }) =>
    [...leavesOf(wire, PROCESS_KEYS)].filter(({ path }) =>
      !QUOTED.has(String(path[0])) && path.at(-1) !== "command"
    ).map(({ path, text }) => [`"${name}": ${path.join(".")}`, text] as const)
  );
  for (const [where, text] of [["the file", file] as const, ...named, ...own]) {
    if (!isUnsafe(text) && !/[\t\n]|\\$/.test(text)) continue;
    throw new ProcsupError("bad_request", `Cannot export ${where} ${quote(text)}`, {
      hint: "It must be one line, and not end in a backslash",
    });
  }
  for (const { config: { name, secrets } } of processes) {
    for (const [secret, { env }] of Object.entries(secrets)) {
      if (env === undefined || /^[A-Za-z_]\w*$/.test(env)) continue;
      const what = `Cannot export "${name}": secrets.${secret}.env ${quote(env)}`;
      throw new ProcsupError("bad_request", what, {
        hint: "Engines allow only letters, digits and _ in the name of a variable",
      });
    }
  }
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

/** Keys whose files are not in the image: the engine mounts them, or the app writes them. */
const OUTSIDE_IMAGE = new Set(["env_file", "secrets", "log"]);

/** The path in the image of a file of the folder. */
function moved(path: string, folder: string): string {
  return [APP_FOLDER, ...[relative(folder, path)].filter(Boolean)].join("/");
}

/** Reports set keys without a counterpart, and values that cannot be written. */
function reportLosses({ stack: { folder }, loaded, config, lose }: App, engine: Engine): void {
  const { wire, references, absolutePaths } = loaded;
  for (const [key, { default: usual }] of EXPORTED_ROWS) {
    const text = lackOf(key, engine);
    if (text !== undefined && isSet(wire, key, usual)) lose(key, text);
  }
  if (engine !== "systemd") {
    if (!isWithin(config.cwd, folder)) {
      lose("cwd", `${config.cwd} is outside of the folder, and not in the image`);
    }
    for (const path of absolutePaths) {
      const value = String(valueAt(wire, path));
      if (OUTSIDE_IMAGE.has(String(path[0])) || !isWithin(value, folder)) continue;
      const text = `${value} is ${moved(value, folder)} in the image`;
      lose(path.join("."), `${text}: write it relative to the file`);
    }
    for (const { text, port } of parseSockets(config.sockets).filter(isLocal)) {
      const reach = `nothing outside of the container reaches ${text}`;
      lose("sockets", `${reach}; "${port}" is for every interface`);
    }
  }
  const filled = references.map(({ path }) => path.join("."));
  for (const [name, value] of Object.entries(config.env)) {
    if (filled.includes(`env.${name}`) || !looksSecret(name, value)) continue;
    lose(`env.${name}`, "it looks like a secret, and is not written here: move it to secrets");
  }
}

/** True if a key is set to a value other than its default. */
function isSet(wire: Readonly<Record<string, unknown>>, key: string, usual: unknown): boolean {
  const value = valueAt(wire, key.split("."));
  const given = value ?? (isMap(wire.cron) || key !== "cron.schedule" ? undefined : wire.cron);
  if (given === undefined || given === null || given === false) return false;
  return JSON.stringify(given) !== JSON.stringify(usual ?? null);
}
