/** Converts files of docker compose: services that can run here become processes. */

import { nameFromPath } from "../../model/name.ts";
import { shellWord, splitWords } from "../../model/shell_line.ts";
import { dirname, resolve } from "../../npm/path.js";
import { type ConfigDocument, isMap } from "../document.ts";
import { ConfigProblem } from "../problem.ts";
import { serviceLimits } from "./compose_limits.ts";
import { lost } from "./compose_lost.ts";
import { type Command, dockerfileCommand } from "./dockerfile.ts";
import { dockerRun, imageAdvice } from "./images.ts";
import {
  environment,
  type ImportContext,
  type Imported,
  type Importer,
  ImportResult,
  type Keys,
  UNLIMITED,
  withReferences,
} from "./imported.ts";

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

function convert({ file, value }: ConfigDocument, context: ImportContext): Imported {
  const { services, ...rest } = value as Record<string, unknown>;
  if (!isMap(services)) throw new ConfigProblem(file, "services: expected a map of names");
  const result = new ImportResult(file);
  const converter = new Converter(file, services, context, result);
  for (const [name, service] of Object.entries(services)) {
    if (isMap(service)) converter.add(name, service);
  }
  for (const key of Object.keys(rest)) {
    if (["version", "name"].includes(key) || key.startsWith("x-")) continue;
    if (["networks", "volumes"].includes(key)) continue;
    result.note(undefined, `${key}: not supported by procsup`);
  }
  if (Object.keys(result.processes).length > 0) {
    result.note(undefined, "services reach each other at 127.0.0.1, not by their names");
    return result.imported();
  }
  const why = result.notes.map(({ process, text }) => `${process}: ${text}`).join("; ");
  throw new ConfigProblem(file, `no service can run without a container (${why})`, {
    ...(context.withDocker ? {} : { advice: "to run images with docker run: --with-docker" }),
  });
}

class Converter {
  readonly #folder: string;
  readonly #services: Service;
  readonly #context: ImportContext;
  readonly #result: ImportResult;

  constructor(file: string, services: Service, context: ImportContext, result: ImportResult) {
    this.#folder = dirname(file);
    this.#services = services;
    this.#context = context;
    this.#result = result;
  }

  /** Adds the process of a service, or a note on why it has none. */
  add(name: string, service: Service): void {
    // The name is used in shell lines.
    const container = `${nameFromPath(this.#folder)}-${name.replace(/[^\w.-]+/g, "-")}`;
    const found = this.#program(service, container);
    if (typeof found === "string") return this.#result.note(name, found);
    const { notes, ...program } = found;
    const inside = program.entrypoint === "docker" ? `docker exec ${container} ` : "";
    const limits = serviceLimits(service);
    const taken = this.#result.add(name, {
      env: environment(service.environment),
      env_file: envFiles(service.env_file),
      ...program,
      ...restart(service),
      depends_on: this.#dependsOn(service.depends_on),
      ...health(service.healthcheck, inside),
      stop_signal: service.stop_signal,
      stop_timeout: service.stop_grace_period ?? "10s",
      stdin: service.stdin_open,
      tty: service.tty,
      limits: inside === "" ? limits.keys : undefined,
      ...instances(service),
    });
    const limitsLost = inside === "" ? limits.lost : [];
    for (const text of [...notes, ...limitsLost, ...lost(service)]) this.#result.note(taken, text);
  }

  /** The program to run, or the reason why it is missing. */
  #program(
    service: Service,
    container: string,
  ): { notes: readonly string[]; [key: string]: unknown } | string {
    const { build, image, command, entrypoint } = service;
    const given = commandOf(command, entrypoint);
    if (build === undefined && typeof image === "string") {
      const advice = imageAdvice(image);
      if (this.#context.withDocker) {
        return { ...dockerRun(service, this.#folder, container), notes: [] };
      }
      if (given === undefined || !given.whole || advice.known) return advice.text;
      const why = `${advice.text}; its command runs here, as the entrypoint of no image`;
      return { ...given.keys, ...this.#folderOf(service, {}), notes: [why] };
    }
    const source = buildOf(build, this.#folder);
    if (source === undefined) return "it has no build, image or command";
    const made = dockerfileCommand(source);
    const own = builtWords(made, given, entrypoint);
    if (own === undefined) {
      return made.found
        ? `${source.file} has no command: add "command"`
        : `${source.file} does not exist: add "command"`;
    }
    const user = service.user === undefined ? [] : [`user ${service.user}: uid, if it exists here`];
    const notes = [`build: what ${source.file} installs must be on this machine`, ...user];
    return { ...own, ...this.#folderOf(service, { ...source, workdir: made.workdir }), notes };
  }

  /** The folder on this machine that corresponds to the container's working directory. */
  #folderOf(
    service: Service,
    source: { readonly context?: string; readonly workdir?: string | undefined },
  ): Keys {
    const inside = service.working_dir ?? source.workdir;
    const mounts = (Array.isArray(service.volumes) ? service.volumes : []).flatMap((volume) => {
      const [from, to] = isMap(volume) ? [volume.source, volume.target] : String(volume).split(":");
      return /^[./~]/.test(String(from)) && to !== undefined ? [[String(from), String(to)]] : [];
    });
    const mount = mounts.find(([, to]) =>
      inside === to || String(inside).startsWith(`${to!.replace(/\/$/, "")}/`)
    );
    if (mount === undefined) return { cwd: source.context ?? this.#folder };
    const [from, to] = mount as [string, string];
    return { cwd: withReferences(`${from}${String(inside).slice(to.replace(/\/$/, "").length)}`) };
  }

  /** Dependencies on services that become processes. */
  #dependsOn(value: unknown): Keys {
    const entries = Array.isArray(value)
      ? value.map((name) => [String(name), "started"] as const)
      : Object.entries(isMap(value) ? value : {}).map(([name, how]) => {
        const condition = isMap(how) ? String(how.condition ?? "service_started") : "";
        return [name, CONDITIONS[condition] ?? "started"] as const;
      });
    return Object.fromEntries(entries.map(([name, state]) => {
      const service = this.#services[name];
      const probed = isMap(service) && service.healthcheck !== undefined;
      return [name, state === "healthy" && !probed ? "ready" : state];
    }));
  }
}

/** The command of a service; `whole` if it does not depend on the image's entrypoint. */
function commandOf(
  command: unknown,
  entrypoint: unknown,
): { readonly whole: boolean; readonly words: readonly string[]; readonly keys: Keys } | undefined {
  const entry = words(entrypoint);
  const rest = words(command);
  if (entry.length + rest.length === 0) return undefined;
  const all = [...entry, ...rest];
  const whole = entry.length > 0 || !/^-/.test(all[0]!);
  const [program, ...args] = all;
  return { whole, words: all, keys: { entrypoint: program, args } };
}

/** The command of a service that is built here; undefined if it names no program. */
function builtWords(
  made: Command,
  given: ReturnType<typeof commandOf>,
  entrypoint: unknown,
): Keys | undefined {
  const all = words(entrypoint).length > 0
    ? given!.words
    : [...made.entrypoint, ...given?.words ?? made.command];
  if (all.length === 0 || all[0]!.startsWith("-")) return undefined;
  const [program, ...args] = all;
  return { entrypoint: program, args };
}

function words(value: unknown): string[] {
  if (value === undefined || value === null || value === "") return [];
  const list = Array.isArray(value) ? value.map(String) : splitWords(String(value));
  return list.map(withReferences);
}

function buildOf(build: unknown, folder: string) {
  if (build === undefined || build === null) return undefined;
  const keys = isMap(build) ? build : { context: build };
  const context = resolve(folder, String(keys.context ?? "."));
  const file = resolve(context, String(keys.dockerfile ?? "Dockerfile"));
  return { context, file, target: keys.target === undefined ? undefined : String(keys.target) };
}

function envFiles(value: unknown): string[] {
  const list = value === undefined || value === null ? [] : Array.isArray(value) ? value : [value];
  return list.map((item) => withReferences(String(isMap(item) ? item.path : item)));
}

function restart({ restart, deploy }: Service): Keys {
  const policy = isMap(deploy) && isMap(deploy.restart_policy) ? deploy.restart_policy : {};
  const how = { any: "always", none: "never", "on-failure": "on-failure" }[
    String(policy.condition)
  ];
  const [word = "no", count] = String(restart ?? "no").split(":");
  const used = restart === undefined && how !== undefined ? how : RESTART[word] ?? "never";
  if (used === "never") return { restart_policy: used };
  return {
    restart_policy: used,
    ...(count === undefined ? UNLIMITED : { max_restarts: Number(count) }),
  };
}

function instances({ deploy, scale }: Service): Keys {
  const count = scale ?? (isMap(deploy) ? deploy.replicas : undefined);
  return Number(count) > 1 ? { instances: Number(count) } : {};
}

/** A health check. In compose it does not restart the service. `inside` runs a command in the container. */
function health(value: unknown, inside: string): Keys {
  if (!isMap(value) || value.disable === true) return {};
  const test = Array.isArray(value.test)
    ? value.test.map(String)
    : ["CMD-SHELL", String(value.test)];
  if (test[0] === "NONE") return {};
  const line = test[0] === "CMD-SHELL"
    ? test.slice(1).join(" ")
    : test.slice(1).map(shellWord).join(" ");
  const plain = line.replaceAll("$$", "$");
  return {
    health_check: {
      type: "command",
      command: inside === "" ? plain : `${inside}sh -c ${shellWord(plain)}`,
      interval: value.interval ?? "30s",
      timeout: value.timeout ?? "30s",
      retries: value.retries ?? 3,
      ...(value.start_period === undefined ? {} : { grace_period: value.start_period }),
      on_failure: "none",
    },
  };
}
