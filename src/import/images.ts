/** Replaces container images by Debian packages, or by `docker run`; and limits of containers. */

import { isMap, type Keyed, mapOf } from "../model/merge_patch.ts";
import { resolve } from "@std/path";
import { type Keys, rowFor, words } from "./imported.ts";
import { reference, withReferences } from "./references.ts";

/** Image names → Debian packages. */
const PACKAGES: Readonly<Record<string, string>> = {
  caddy: "caddy",
  httpd: "apache2",
  mariadb: "mariadb-server",
  memcached: "memcached",
  "eclipse-mosquitto": "mosquitto",
  mysql: "mariadb-server",
  nginx: "nginx",
  postgres: "postgresql",
  rabbitmq: "rabbitmq-server",
  redis: "redis-server",
  "postgis/postgis": "postgresql-postgis",
  "prom/prometheus": "prometheus",
  "valkey/valkey": "valkey-server",
};

/** What to do about an image; `known` if a package provides its service. */
export function imageAdvice(image: string): { readonly known: boolean; readonly text: string } {
  // An image of another publisher may contain anything.
  const name = image.replace(/@.*$|:[^/]*$/, "").replace(/^(docker\.io\/)?(library\/)?/, "");
  const debian = rowFor(PACKAGES, name);
  const needed = debian === undefined
    ? "what it holds must be on this machine"
    : `apt-get install ${debian}`;
  return {
    known: debian !== undefined,
    text: `image ${image}: ${needed}, or import --with-docker`,
  };
}

/** Runs a service with `docker run`. */
export function dockerRun(
  service: Keyed,
  folder: string,
  container: string,
): Keys {
  const { image, command, ports, volumes, environment, user, working_dir } = service;
  const names = Array.isArray(environment)
    ? environment.map((pair) => String(pair).split("=")[0]!)
    : Object.keys(mapOf(environment));
  const [entrypoint, ...entryArgs] = words(service.entrypoint);
  const envFiles = [service.env_file ?? []].flat().map((file) => isMap(file) ? file.path : file);
  const args = [
    ...["run", "--rm", "--init", "--name", container],
    ...envFiles.flatMap((file) => ["--env-file", resolve(folder, String(file))]),
    ...names.flatMap((name) => ["-e", name]),
    ...listOf(ports).flatMap((port) => ["-p", portText(port)]),
    ...listOf(volumes).flatMap((volume) => ["-v", volumeText(volume, folder)]),
    ...serviceLimits(service).flags,
    ...(service.stdin_open === true ? ["--interactive"] : []),
    ...(service.tty === true ? ["--tty"] : []),
    ...(user === undefined ? [] : ["--user", String(user)]),
    ...(working_dir === undefined ? [] : ["--workdir", String(working_dir)]),
    ...(entrypoint === undefined ? [] : ["--entrypoint", entrypoint]),
    ...[String(image), ...entryArgs, ...words(command)],
  ];
  // If the docker client was killed, the container still exists and keeps its name and ports.
  const hooks = { pre_start: `docker rm -f ${container} >/dev/null 2>&1 || true` };
  return { entrypoint: "docker", args: args.map(withReferences), hooks };
}

/** The value if it is a list; otherwise an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A port in the short form, as `docker run -p` takes it. */
export function portText(port: unknown): string {
  if (!isMap(port)) return String(port);
  const { host_ip, published, target, protocol = "tcp" } = port;
  const parts = [host_ip, published ?? (host_ip && ""), target];
  const text = parts.filter((part) => part !== undefined).join(":");
  return protocol === "tcp" ? text : `${text}/${protocol}`;
}

/** A volume as `docker run -v` takes it. */
function volumeText(volume: unknown, folder: string): string {
  if (!isMap(volume)) return placed(String(volume), folder);
  const { source, target, read_only } = volume;
  const text = source === undefined ? `${target}` : `${source}:${target}`;
  return placed(read_only === true ? `${text}:ro` : text, folder);
}

function placed(volume: string, folder: string): string {
  const [from, ...rest] = volume.split(":") as [string, ...string[]];
  const path = /^\.\.?(\/|$)/.test(from) ? resolve(folder, from) : homePath(from);
  return [path, ...rest].join(":");
}

/** A path of this machine, with a reference to the user's folder in place of `~`. */
export function homePath(path: string): string {
  return path.replace(/^~(?=\/|$)/, reference("HOME"));
}

/** How a limit is written under a service and under deploy.resources.limits, and what it becomes. */
const ROWS: readonly {
  readonly own: string;
  readonly deployed: string;
  /** Flag of `docker run`. */
  readonly flag: string;
  readonly form: RegExp;
  readonly convert: (text: string) => Keys;
}[] = [
  {
    ...{ own: "mem_limit", deployed: "memory", flag: "--memory" },
    form: /^\d+(\.\d+)?([kmg]b?|b)?$/i,
    convert: (text) => ({ memory: text.toUpperCase().replace(/([KMG])$/, "$1B") }),
  },
  {
    ...{ own: "cpus", deployed: "cpus", flag: "--cpus" },
    form: /^(?=.*[1-9])\d*(\.\d+)?$/,
    convert: (text) => ({ cpu_percent: Math.max(1, Number(text) * 100) }),
  },
  {
    ...{ own: "pids_limit", deployed: "pids", flag: "--pids-limit" },
    form: /^[1-9]\d*$/,
    convert: (text) => ({ pids: Number(text) }),
  },
];

/** Limits of a service as keys, as flags of `docker run`, and those that are not converted. */
export function serviceLimits(service: Keyed): { keys: Keys; flags: string[]; lost: string[] } {
  const limits = mapOf(mapOf(mapOf(service.deploy).resources).limits);
  const keys: Keys = {};
  const flags: string[] = [];
  const lost: string[] = [];
  for (const { own, deployed, flag, form, convert } of ROWS) {
    const value = limits[deployed] ?? service[own];
    if (value === undefined || value === null) continue;
    const text = String(value).trim();
    flags.push(flag, text);
    if (form.test(text)) Object.assign(keys, convert(text));
    else lost.push(`${own} ${text}: write it into limits`);
  }
  return { keys, flags, lost };
}
