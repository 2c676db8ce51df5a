/** Converts files of docker compose: services that can run here become processes. */

import { nameFromPath } from "../model/name.ts";
import { relative, resolve } from "@std/path";
import { isMap, mapOf } from "../model/merge_patch.ts";
import type { ConfigDocument } from "../config/document.ts";
import { underFiles, UNREAD } from "../config/env_file.ts";
import { ConfigProblem, ConfigProblems } from "../config/problem.ts";
import { readServices, type Service } from "./compose_files.ts";
import { health, healthVariables } from "./compose_health.ts";
import { dockerRun, homePath, imageAdvice, listOf, portText, serviceLimits } from "./images.ts";
import { type Image, readDockerfile } from "./dockerfile.ts";
import {
  convertedKeys,
  environment,
  handled,
  type ImportContext,
  type Imported,
  type Importer,
  type ImportTable,
  type KeyOrigins,
  type Keys,
  lineOf,
  type Lost,
  lost,
  rowFor,
  unknownInside,
  UNLIMITED,
} from "./imported.ts";
import { ImportResult } from "./import_result.ts";
import { withReferences } from "./references.ts";

export const compose: Importer = {
  matches: ({ kind, value }) =>
    isMap(value) && ("services" in value || "include" in value) && !("processes" in value) &&
    (kind === "compose" || kind === "yaml"),
  convert,
};

const CONDITIONS: Readonly<Record<string, string>> = {
  service_started: "started",
  service_healthy: "healthy",
  service_completed_successfully: "completed_ok",
};

const RESTART: Readonly<Record<string, string>> = {
  "no": "never",
  "false": "never",
  "always": "always",
  "unless-stopped": "always",
  "on-failure": "on-failure",
};

const FILE_KEYS = handled("version", "name", "networks", "volumes");

async function convert(document: ConfigDocument, context: ImportContext): Promise<Imported> {
  const { file } = document;
  const { services, rest, placeOf, lost: unread } = await readServices(document);
  if (Object.keys(services).length === 0) {
    throw new ConfigProblem(file, "services: expected a map of names", {
      advice: unread.length === 0 ? undefined : unread.join("; "),
    });
  }
  const result = new ImportResult(document, { context, placeOf });
  const { withDocker = false } = context;
  const composeFile = { services, withDocker, result };
  const profiles: Record<string, { processes: Record<string, Keys> }> = Object.create(null);
  for (const [name, service] of Object.entries(services)) {
    if (!isMap(service)) result.skip(name, ["services", name], "expected a map");
    else {
      const taken = addService(name, service, composeFile);
      for (const profile of taken === undefined ? [] : profilesOf(service)) {
        (profiles[profile] ??= { processes: {} }).processes[taken!] = { autostart: true };
      }
    }
  }
  result.note(undefined, ...unread);
  const keys = Object.entries(rest).filter(([key]) => !key.startsWith("x-"));
  const { notes } = convertedKeys(FILE_KEYS, keys, undefined);
  result.note(undefined, ...notes);
  if (Object.keys(result.processes).length > 0) {
    const all = Object.entries(services);
    if (all.length > 1) {
      result.note(undefined, "services reach each other at 127.0.0.1, not by their names");
    }
    return { ...result.imported(), profiles };
  }
  const advice = withDocker ? undefined : "to run images with docker run: --with-docker";
  throw new ConfigProblems([
    ...result.problems("cannot run without a container"),
    new ConfigProblem(file, "no service can run without a container", { advice }),
  ]);
}

function profilesOf({ profiles }: Service): string[] {
  return [profiles ?? []].flat().map(String);
}

/** Keys of a process that depend on its image, and notes. */
interface Program extends Keys {
  readonly notes: readonly (string | Lost)[];
  /** Whether `docker run` runs it. */
  readonly isInContainer?: true;
  /** The variables of the image, under those of the service. */
  readonly env?: Readonly<Record<string, string>>;
}

/** What the services of a file depend on. */
interface ComposeFile {
  readonly services: Service;
  readonly withDocker: boolean;
  readonly result: ImportResult;
}

/** Keys that may have variables; in the others they are filled in at the conversion. */
const REFERRING = new Set([
  ...["command", "entrypoint", "environment", "env_file", "image", "volumes", "ports"],
  ...["working_dir", "healthcheck", "labels", "container_name", "networks", "expose", "logging"],
]);

/** Keys that several of ours come from. */
const ORIGINS: KeyOrigins = {
  ...{ entrypoint: "command", args: "command", cwd: "working_dir", env: "environment" },
  ...{ restart_policy: "restart", max_restarts: "restart", health_check: "healthcheck" },
  ...{
    stop_timeout: "stop_grace_period",
    limits: "deploy",
    instances: "deploy",
    stdin: "stdin_open",
  },
  ...{ stop_signal: "stop_signal", tty: "tty", env_file: "env_file", depends_on: "depends_on" },
};

/** Adds the process of a service, or a note on why it has none. Returns its name. */
function addService(name: string, given: Service, file: ComposeFile): string | undefined {
  const { result, result: { folder } } = file;
  const path = ["services", name];
  const filled: Lost[] = [];
  const settle = ([key, value]: [string, unknown]) =>
    [key, REFERRING.has(key) ? value : result.settled(value, [key], filled)] as const;
  const service: Service = Object.fromEntries(
    Object.entries({ ...given, ...settledCheck(given.healthcheck, result, filled) }).map(settle),
  );
  // The name is used in shell lines.
  const container = `${nameFromPath(folder)}-${name.replace(/[^\w.-]+/g, "-")}`;
  const found = programOf(service, container, file);
  if (typeof found === "string") {
    result.skip(name, path, found);
    return undefined;
  }
  const { notes, env, isInContainer = false, ...program } = found;
  const limits = serviceLimits(service);
  const count = instances(service);
  const own = { ...env, ...environment(service.environment) };
  const files = envFiles(service.env_file);
  const inHealth = underFiles(healthVariables(service.healthcheck), pathsOf(files), folder).env;
  const isOff = count === 0 || profilesOf(service).length > 0;
  const taken = result.add(name, {
    env: { ...inHealth, ...own },
    env_file: files,
    ...program,
    ...restart(service),
    autostart: isOff ? false : undefined,
    depends_on: dependsOn(service.depends_on, file.services),
    ...health(service.healthcheck, isInContainer ? `docker exec ${container} ` : ""),
    stop_signal: service.stop_signal ?? program.stop_signal,
    stop_timeout: service.stop_grace_period ?? "10s",
    stdin: service.stdin_open,
    tty: service.tty,
    ...(isInContainer ? {} : { limits: limits.keys, instances: count > 1 ? count : undefined }),
  }, { path, keys: { ...ORIGINS, ...("command" in service ? {} : { entrypoint: "build" }) } });
  result.note(taken, ...filled, ...notes, ...lostOf(service, isInContainer));
  if (count === 0) result.note(taken, lost("scale", "none runs until procsup start", "scale 0"));
  if (!isInContainer) result.note(taken, ...limits.lost);
  else if (count > 1) {
    result.note(taken, `replicas ${count}: one, because containers cannot share a name`);
  }
  return taken;
}

/** A health check with its variables filled in, except for those of its command. */
function settledCheck(value: unknown, result: ImportResult, found: Lost[]): Keys {
  if (!isMap(value)) return {};
  const { test, ...rest } = value;
  const settled = result.settled(rest, ["healthcheck"], found) as Keys;
  return { healthcheck: { ...settled, ...(test === undefined ? {} : { test }) } };
}

/** The words of a command, which is a list or a line. */
function commandWords(value: unknown): readonly string[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value)
    ? value.map((word) => withReferences(String(word)))
    : lineOf(String(value));
}

/** The program to run, or the reason why it is missing. */
function programOf(
  service: Service,
  container: string,
  { withDocker, result: { folder } }: ComposeFile,
): Program | string {
  const { build, image } = service;
  const entry = commandWords(service.entrypoint);
  const command = commandWords(service.command);
  if (build === undefined && typeof image === "string") {
    const advice = imageAdvice(image);
    if (withDocker) {
      return { ...dockerRun(service, folder, container), notes: [], isInContainer: true };
    }
    const own = programKeys([...entry, ...command]);
    if (own === undefined || advice.known) return advice.text;
    const why = `${advice.text}; its command runs without the entrypoint of the image`;
    return { ...own, ...folderOf(service, folder, {}), notes: [why] };
  }
  const source = buildOf(build, folder);
  if (source === undefined) {
    const own = programKeys([...entry, ...command]);
    if (own === undefined) return "it has no build, image or command";
    return { ...own, ...folderOf(service, folder, {}), notes: [] };
  }
  if (source.isElsewhere) {
    const own = programKeys([...entry, ...command]);
    const why = `build ${source.context}: its Dockerfile is not on this machine`;
    if (own === undefined) return `${why}: clone it, or add "command"`;
    return { ...own, ...folderOf(service, folder, {}), notes: [lost("build", why, "build")] };
  }
  const made = readDockerfile(source);
  // An entrypoint discards the command of the image; an empty one only its entrypoint.
  const given = entry.length + command.length > 0 ? command : made.command;
  const base = "entrypoint" in service && service.entrypoint !== null ? entry : made.entrypoint;
  const own = programKeys([...base, ...given]);
  if (own === undefined) {
    return made.found
      ? `${source.file} has no command: add "command"`
      : `${source.file} does not exist: add "command"`;
  }
  const files = pathsOf(envFiles(service.env_file));
  const { env, unread } = underFiles(made.env, files, folder);
  const notes = [
    lost("build", `what ${source.file} installs must be on this machine`),
    ...unread.map((path) => lost("env_file", UNREAD, `env_file ${path}`)),
    ...lostOfImage(made, service),
  ];
  return {
    ...{ ...own, ...folderOf(service, folder, { ...source, workdir: made.workdir }) },
    ...{ env, stop_signal: made.stopSignal, notes },
  };
}

/** The folder on this machine that corresponds to the container's working directory. */
function folderOf(
  service: Service,
  folder: string,
  source: { readonly context?: string; readonly workdir?: string | undefined },
): Keys {
  const inside = service.working_dir ?? source.workdir;
  const mounts = listOf(service.volumes).flatMap((volume) => {
    const [from, to] = isMap(volume) ? [volume.source, volume.target] : String(volume).split(":");
    return /^[./~]/.test(String(from)) && to !== undefined ? [[String(from), String(to)]] : [];
  });
  const mount = mounts.find(([, to]) =>
    inside === to || String(inside).startsWith(`${to!.replace(/\/$/, "")}/`)
  );
  if (mount === undefined) return { cwd: relative(folder, source.context ?? folder) || undefined };
  const [from, to] = mount as [string, string];
  return {
    cwd: withReferences(`${homePath(from)}${String(inside).slice(to.replace(/\/$/, "").length)}`),
  };
}

/** Dependencies on services that become processes. */
function dependsOn(value: unknown, services: Service): Keys {
  const entries = Array.isArray(value)
    ? value.map((name) => [String(name), "started"] as const)
    : Object.entries(mapOf(value)).map(([name, how]) =>
      [name, rowFor(CONDITIONS, String(mapOf(how).condition)) ?? "started"] as const
    );
  return Object.fromEntries(entries.map(([name, state]) => {
    const service = services[name];
    const probed = isMap(service) && service.healthcheck !== undefined;
    return [name, state === "healthy" && !probed ? "ready" : state];
  }));
}

/** The keys of a command; undefined if it does not begin with a program. */
function programKeys([entrypoint = "-", ...args]: readonly string[]): Keys | undefined {
  return entrypoint.startsWith("-") ? undefined : { entrypoint, args };
}

/** Notes on what an image has, and a process has not. */
function lostOfImage({ lost: names, user, healthcheck = "NONE" }: Image, service: Service) {
  return [
    ...names.map((name) => lost("build", "its value is the image's", `ENV ${name}`)),
    ...(user === undefined || service.user !== undefined ? [] : [lostUser(user)]),
    ...(/^NONE$/i.test(healthcheck) || service.healthcheck !== undefined
      ? []
      : [lost("build", "health_check", `HEALTHCHECK ${healthcheck}`)]),
  ];
}

/** A build from a repository, rather than a folder. */
const ELSEWHERE = /^(https?|git|ssh|oci):|^git@|^github\.com\//;

function buildOf(build: unknown, folder: string) {
  if (build === undefined || build === null) return undefined;
  const keys = isMap(build) ? build : { context: build };
  const given = String(keys.context ?? ".");
  const context = resolve(folder, given);
  const target = keys.target === undefined ? undefined : String(keys.target);
  const inline = keys.dockerfile_inline;
  return {
    ...(ELSEWHERE.test(given)
      ? { context: given, isElsewhere: true }
      : { context, isElsewhere: false }),
    file: inline === undefined
      ? resolve(context, String(keys.dockerfile ?? "Dockerfile"))
      : "dockerfile_inline",
    inline: inline === undefined ? undefined : String(inline),
    ...{ target, args: environment(keys.args) },
  };
}

/** An entry of env_file: a path, or one with whether it must exist. */
type EnvFile = string | { readonly path: string; readonly required: boolean };

function envFiles(value: unknown): EnvFile[] {
  const list: unknown[] = [value ?? []].flat();
  return list.map((item) => {
    const path = withReferences(String(isMap(item) ? item.path : item));
    return isMap(item) && item.required === false ? { path, required: false } : path;
  });
}

function pathsOf(files: readonly EnvFile[]): string[] {
  return files.map((file) => typeof file === "string" ? file : file.path);
}

function restart({ restart, deploy }: Service): Keys {
  const { condition } = mapOf(mapOf(deploy).restart_policy);
  const how = rowFor(
    { any: "always", none: "never", "on-failure": "on-failure" },
    String(condition),
  );
  const [word = "no", count] = String(restart ?? "no").split(":");
  const used = restart === undefined && how !== undefined ? how : rowFor(RESTART, word) ?? "never";
  if (used === "never") return { restart_policy: used };
  return {
    restart_policy: used,
    ...(count === undefined ? UNLIMITED : { max_restarts: Number(count) }),
  };
}

function instances({ deploy, scale }: Service): number {
  return Number(scale ?? mapOf(deploy).replicas ?? 1);
}

const KEYS: ImportTable<unknown, undefined> = {
  ...handled("build", "image", "command", "entrypoint", "environment", "env_file", "working_dir"),
  ...handled("depends_on", "restart", "healthcheck", "stop_signal", "stop_grace_period", "user"),
  ...handled("init", "container_name", "mem_limit", "cpus", "pids_limit", "ports", "expose"),
  ...handled("volumes", "deploy", "scale", "tty", "stdin_open", "profiles", "labels", "hostname"),
  ...handled("pull_policy", "platform", "attach"),
  networks: "processes share the network of this machine",
  logging: "procsup logs",
  ulimits: "limits",
};

/** Keys of nested maps that are converted. */
const NESTED: Readonly<Record<string, readonly string[]>> = {
  "deploy": ["replicas", "restart_policy", "resources"],
  "deploy.resources": ["limits"],
  "deploy.resources.limits": ["memory", "cpus", "pids"],
  "deploy.restart_policy": ["condition"],
  "healthcheck": ["test", "interval", "timeout", "retries", "start_period", "disable"],
  "build": [
    "context",
    "dockerfile",
    "dockerfile_inline",
    "target",
    "args",
    "tags",
    "labels",
    "cache_from",
  ],
};

/** One note for each part that is not converted; a service in a container has its ports and volumes. */
function lostOf(service: Service, isInContainer: boolean): Lost[] {
  const own = Object.entries(service).filter(([key]) => !key.startsWith("x-"));
  const { notes } = convertedKeys(KEYS, own, undefined);
  const needed = Object.entries(mapOf(service.depends_on)).flatMap(([name, how]) =>
    Object.entries(mapOf(how)).filter(([key, value]) =>
      (key === "restart" && value === true) || (key === "required" && value === false)
    ).map(([key]) => lost(["depends_on", name, key], "procsup has no such condition"))
  );
  return [
    ...notes,
    ...(isInContainer ? [] : lostOutside(service)),
    ...unknownInside(service, NESTED),
    ...needed,
    ...own.filter(([, value]) =>
      /\$\{\w+:?\+/.test(JSON.stringify(value)?.replaceAll("$$", "") ?? "")
    ).map(([key]) =>
      lost(key, "stays as written, procsup has no such form", `${key} \${NAME:+text}`)
    ),
  ];
}

/** Notes on what only a container has. */
function lostOutside({ ports, volumes, user }: Service): Lost[] {
  return [
    ...(user === undefined ? [] : [lostUser(user)]),
    ...listOf(ports).map(portText).flatMap((port, index) => {
      const [, at, outside, inside] = /^(?:(.*):)?([^:]+):([^:/]+)(?:\/\w+)?$/.exec(port) ?? [];
      if (at === undefined && outside === inside) return [];
      const why = `the process listens on its own port, ${inside}`;
      return lost(["ports", index], why, `ports ${port}`);
    }),
    ...listOf(volumes).map((volume, index) =>
      lost(
        ["volumes", index],
        "the paths are those of this machine",
        `volumes ${isMap(volume) ? volume.target : volume}`,
      )
    ),
  ];
}

function lostUser(user: unknown): Lost {
  return lost("user", "uid, if it exists here", `user ${user}`);
}
