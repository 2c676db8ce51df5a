/** Converts files of docker compose: services that can run here become processes. */

import { nameFromPath } from "../../model/name.ts";
import { basename, dirname, relative, resolve } from "../../npm/path.js";
import { lookAt } from "../../platform/stat.ts";
import { isMap, mapOf } from "../../model/merge_patch.ts";
import type { ConfigDocument } from "../document.ts";
import { underFiles, UNREAD } from "../env_file.ts";
import { ConfigProblem } from "../problem.ts";
import { dockerRun, homePath, imageAdvice, listOf, portText, serviceLimits } from "./images.ts";
import { type Image, readDockerfile } from "./dockerfile.ts";
import {
  convertedKeys,
  environment,
  handled,
  type ImportContext,
  type Imported,
  type Importer,
  ImportResult,
  type ImportTable,
  type Keys,
  reference,
  rowFor,
  unknownInside,
  UNLIMITED,
  withReferences,
  words,
} from "./imported.ts";
import { shellWord, singleQuoted } from "../../model/shell_line.ts";

export const compose: Importer = {
  name: "compose",
  matches: ({ kind, value }) =>
    isMap(value) && "services" in value && !("processes" in value) &&
    (kind === "compose" || kind === "yaml"),
  convert,
  convertOnly: true,
};

type Service = Readonly<Record<string, unknown>>;

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

function convert({ file, value }: ConfigDocument, context: ImportContext): Imported {
  const { services, ...rest } = value as Record<string, unknown>;
  if (!isMap(services) || Object.keys(services).length === 0) {
    throw new ConfigProblem(file, "services: expected a map of names");
  }
  const result = new ImportResult(file);
  const { withDocker = false } = context;
  const composeFile = { services, withDocker, result };
  for (const [name, service] of Object.entries(services)) {
    if (isMap(service)) addService(name, service, composeFile);
    else result.note(name, "expected a map");
  }
  const override = overrideOf(file);
  if (override !== undefined) result.note(undefined, `${override}: docker compose merges it, too`);
  const keys = Object.entries(rest).filter(([key]) => !key.startsWith("x-"));
  const { notes } = convertedKeys(FILE_KEYS, keys, undefined);
  result.note(undefined, ...notes);
  if (Object.keys(result.processes).length > 0) {
    result.note(undefined, "services reach each other at 127.0.0.1, not by their names");
    return result.imported();
  }
  const why = result.notes.filter(({ process }) => process !== undefined)
    .map(({ process, text }) => `${process}: ${text}`).join("; ");
  const advice = withDocker ? undefined : "to run images with docker run: --with-docker";
  throw new ConfigProblem(file, `no service can run without a container (${why})`, { advice });
}

/** The file that docker compose merges into its default file. */
function overrideOf(file: string): string | undefined {
  if (!/^(docker-)?compose\.ya?ml$/.test(basename(file))) return undefined;
  const names = ["compose.override.yml", "compose.override.yaml"];
  return [...names, ...names.map((name) => `docker-${name}`)]
    .find((name) => lookAt(resolve(dirname(file), name))?.isFile);
}

/** Keys of a process that depend on its image, and notes. */
interface Program extends Keys {
  readonly notes: readonly string[];
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

/** Adds the process of a service, or a note on why it has none. */
function addService(name: string, service: Service, file: ComposeFile): void {
  const { result, result: { folder } } = file;
  // The name is used in shell lines.
  const container = `${nameFromPath(folder)}-${name.replace(/[^\w.-]+/g, "-")}`;
  const found = programOf(service, container, file);
  if (typeof found === "string") return result.note(name, found);
  const { notes, env, isInContainer = false, ...program } = found;
  const limits = serviceLimits(service);
  const count = instances(service);
  const own = { ...env, ...environment(service.environment) };
  const files = envFiles(service.env_file);
  const inHealth = underFiles(healthVariables(service.healthcheck), files, folder).env;
  const taken = result.add(name, {
    env: { ...inHealth, ...own },
    env_file: files,
    ...program,
    ...restart(service),
    depends_on: dependsOn(service.depends_on, file.services),
    ...health(service.healthcheck, isInContainer ? `docker exec ${container} ` : ""),
    stop_signal: service.stop_signal ?? program.stop_signal,
    stop_timeout: service.stop_grace_period ?? "10s",
    stdin: service.stdin_open,
    tty: service.tty,
    ...(isInContainer ? {} : { limits: limits.keys, instances: count }),
  });
  result.note(taken, ...notes, ...lost(service, isInContainer));
  if (!isInContainer) result.note(taken, ...limits.lost);
  else if (count !== undefined) {
    result.note(taken, `replicas ${count}: one, because containers cannot share a name`);
  }
}

/** The program to run, or the reason why it is missing. */
function programOf(
  service: Service,
  container: string,
  { withDocker, result: { folder } }: ComposeFile,
): Program | string {
  const { build, image } = service;
  const entry = words(service.entrypoint).map(withReferences);
  const command = words(service.command).map(withReferences);
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
  if (source === undefined) return "it has no build, image or command";
  const made = readDockerfile(source);
  const given = entry.length + command.length > 0 ? command : made.command;
  const own = programKeys([...entry.length > 0 ? entry : made.entrypoint, ...given]);
  if (own === undefined) {
    return made.found
      ? `${source.file} has no command: add "command"`
      : `${source.file} does not exist: add "command"`;
  }
  const { env, unread } = underFiles(made.env, envFiles(service.env_file), folder);
  const notes = [
    `build: what ${source.file} installs must be on this machine`,
    ...unread.map((path) => `env_file ${path}: ${UNREAD}`),
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
function lostOfImage({ lost, user, healthcheck = "NONE" }: Image, service: Service): string[] {
  return [
    ...lost.map((name) => `ENV ${name}: its value is the image's`),
    ...(user === undefined || service.user !== undefined ? [] : [lostUser(user)]),
    ...(/^NONE$/i.test(healthcheck) || service.healthcheck !== undefined
      ? []
      : [`HEALTHCHECK ${healthcheck}: health_check`]),
  ];
}

function buildOf(build: unknown, folder: string) {
  if (build === undefined || build === null) return undefined;
  const keys = isMap(build) ? build : { context: build };
  const context = resolve(folder, String(keys.context ?? "."));
  const file = resolve(context, String(keys.dockerfile ?? "Dockerfile"));
  const target = keys.target === undefined ? undefined : String(keys.target);
  return { context, file, target, args: environment(keys.args) };
}

function envFiles(value: unknown): string[] {
  const list: unknown[] = [value ?? []].flat();
  return list.map((item) => withReferences(String(isMap(item) ? item.path : item)));
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

function instances({ deploy, scale }: Service): number | undefined {
  const count = Number(scale ?? mapOf(deploy).replicas);
  return count > 1 ? count : undefined;
}

/** A variable that compose fills in, or a `$$`. */
const VARIABLE = /\$(?:(\$)|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::?([-?+])([^}]*))?\})/g;

/** A health check. In compose it does not restart the service. `inside` runs it in the container. */
function health(value: unknown, inside: string): Keys {
  const test = testOf(value);
  if (test === undefined) return {};
  const { interval, timeout, retries, start_period: grace_period } = mapOf(value);
  return {
    health_check: {
      type: "command",
      command: healthCommand(test, inside),
      interval: orDefault(interval, "30s"),
      timeout: orDefault(timeout, "30s"),
      retries: orDefault(retries, 3),
      grace_period,
      on_failure: "none",
    },
  };
}

/** Docker takes zero as not given. */
function orDefault(value: unknown, otherwise: unknown): unknown {
  return /^0+[a-z]*$/.test(String(value ?? 0)) ? otherwise : value;
}

/** The variables that compose fills in: the command of a health check has those of the app. */
function healthVariables(value: unknown): Record<string, string> {
  const found = [...(testOf(value) ?? []).join(" ").matchAll(VARIABLE)];
  const variables = found.filter(([, dollar]) => dollar === undefined)
    .map(([, , bare, name = bare, sign, text]) => {
      const fallback = sign === "-" && !text!.includes("$") ? text : "";
      return [name!, reference(name!, sign === "?" ? undefined : fallback)];
    });
  return Object.fromEntries(variables);
}

function testOf(value: unknown): readonly string[] | undefined {
  const { test, disable } = mapOf(value);
  if (disable === true || test === undefined) return undefined;
  const all = Array.isArray(test) ? test.map(String) : ["CMD-SHELL", String(test)];
  return all[0] === "NONE" ? undefined : all;
}

function healthCommand([form, ...test]: readonly string[], inside: string): string {
  if (form !== "CMD-SHELL") return inside + test.map(quoted).join(" ");
  const line = test.join(" ");
  return inside === "" ? line.replaceAll("$$", "$") : `${inside}sh -c ${quoted(line)}`;
}

/** A word for the shell, which fills in what compose would. */
function quoted(word: string): string {
  let [at, text] = [0, ""];
  for (const match of word.matchAll(VARIABLE)) {
    if (match[1] !== undefined) continue;
    text += literal(word.slice(at, match.index)) + `"${match[0]}"`;
    at = match.index + match[0].length;
  }
  return at === 0 ? shellWord(word.replaceAll("$$", "$")) : text + literal(word.slice(at));
}

function literal(text: string): string {
  return text === "" ? "" : singleQuoted(text.replaceAll("$$", "$"));
}

const KEYS: ImportTable<unknown, undefined> = {
  ...handled("build", "image", "command", "entrypoint", "environment", "env_file", "working_dir"),
  ...handled("depends_on", "restart", "healthcheck", "stop_signal", "stop_grace_period", "user"),
  ...handled("init", "container_name", "mem_limit", "cpus", "pids_limit", "ports", "expose"),
  ...handled("volumes", "deploy", "scale", "tty", "stdin_open"),
  networks: "processes share the network of this machine",
  logging: "procsup logs",
  profiles: "profiles, or autostart: false",
  ulimits: "limits",
};

/** Keys of nested maps that are converted. */
const NESTED: Readonly<Record<string, readonly string[]>> = {
  "deploy": ["replicas", "restart_policy", "resources"],
  "deploy.resources": ["limits"],
  "deploy.resources.limits": ["memory", "cpus", "pids"],
  "deploy.restart_policy": ["condition"],
  "healthcheck": ["test", "interval", "timeout", "retries", "start_period", "disable"],
};

/** One note for each part that is not converted; a service in a container has its ports and volumes. */
function lost(service: Service, isInContainer: boolean): string[] {
  const { notes } = convertedKeys(KEYS, Object.entries(service), undefined);
  const files = [service.env_file ?? []].flat().filter(isMap);
  return [
    ...notes,
    ...(isInContainer ? [] : lostOutside(service)),
    ...unknownInside(service, NESTED),
    ...files.filter(({ required }) => required === false)
      .map(({ path }) => `env_file ${path}: it must exist, although compose does not require it`),
    ...(/\$\{\w+:?\+/.test(JSON.stringify(service).replaceAll("$$", ""))
      ? ["${NAME:+text}: stays as written, procsup has no such form"]
      : []),
  ];
}

/** Notes on what only a container has. */
function lostOutside({ ports, volumes, user }: Service): string[] {
  return [
    ...(user === undefined ? [] : [lostUser(user)]),
    ...listOf(ports).map(portText).flatMap((port) => {
      const [, at, outside, inside] = /^(?:(.*):)?([^:]+):([^:/]+)(?:\/\w+)?$/.exec(port) ?? [];
      if (at === undefined && outside === inside) return [];
      return `ports ${port}: the process listens on its own port, ${inside}`;
    }),
    ...listOf(volumes).map((volume) =>
      `volumes ${isMap(volume) ? volume.target : volume}: the paths are those of this machine`
    ),
  ];
}

function lostUser(user: unknown): string {
  return `user ${user}: uid, if it exists here`;
}
