/** Replaces container images by Debian packages, or by `docker run`. */

import { splitWords } from "../../model/shell_line.ts";
import { resolve } from "../../npm/path.js";
import { isMap } from "../document.ts";
import { serviceLimits } from "./compose_limits.ts";
import { type Keys, withReferences } from "./imported.ts";

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
  const known = Object.hasOwn(PACKAGES, name);
  return known
    ? { known, text: `image ${image}: apt-get install ${PACKAGES[name]}, or import --with-docker` }
    : {
      known,
      text: `image ${image}: what it holds must be on this machine, or import --with-docker`,
    };
}

/** Runs a service with `docker run`. */
export function dockerRun(
  service: Readonly<Record<string, unknown>>,
  folder: string,
  container: string,
): Keys {
  const { image, command, entrypoint, ports, volumes, environment, user, working_dir } = service;
  const list = (value: unknown) => Array.isArray(value) ? value : [];
  const names = Array.isArray(environment)
    ? environment.map((pair) => String(pair).split("=")[0]!)
    : Object.keys(isMap(environment) ? environment : {});
  const entry = words(entrypoint);
  const envFiles = [service.env_file ?? []].flat().map((file) =>
    String(isMap(file) ? file.path : file)
  );
  const args = [
    ...["run", "--rm", "--init", "--name", container],
    ...envFiles.flatMap((file) => ["--env-file", resolve(folder, file)]),
    ...names.flatMap((name) => ["-e", name]),
    ...list(ports).flatMap((
      port,
    ) => ["-p", isMap(port) ? `${port.published}:${port.target}` : String(port)]),
    ...list(volumes).flatMap((volume) => ["-v", volumeText(volume, folder)]),
    ...serviceLimits(service).flags,
    ...(user === undefined ? [] : ["--user", String(user)]),
    ...(working_dir === undefined ? [] : ["--workdir", String(working_dir)]),
    ...(entry.length === 0 ? [] : ["--entrypoint", entry[0]!]),
    String(image),
    ...entry.slice(1),
    ...words(command),
  ];
  // If the docker client was killed, the container still exists and keeps its name and ports.
  const hooks = { pre_start: `docker rm -f ${container} >/dev/null 2>&1 || true` };
  return { entrypoint: "docker", args: args.map(withReferences), hooks };
}

function volumeText(volume: unknown, folder: string): string {
  const text = isMap(volume) ? `${volume.source}:${volume.target}` : String(volume);
  const [from, ...rest] = text.split(":") as [string, ...string[]];
  return [/^\.\.?(\/|$)/.test(from) ? resolve(folder, from) : from, ...rest].join(":");
}

function words(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value.map(String) : splitWords(String(value));
}
