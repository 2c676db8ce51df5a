/** Notes on parts of a compose service that are not supported. */

import { isMap } from "../document.ts";
import { portText } from "./images.ts";
import { convertedKeys, handled, type ImportTable, unknownInside } from "./imported.ts";

type Service = Readonly<Record<string, unknown>>;

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
export function lost(service: Service, isInContainer: boolean): string[] {
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
  const list = (value: unknown): unknown[] => Array.isArray(value) ? value : [];
  return [
    ...(user === undefined ? [] : [lostUser(user)]),
    ...list(ports).map(portText).flatMap((port) => {
      const [, at, outside, inside] = /^(?:(.*):)?([^:]+):([^:/]+)(?:\/\w+)?$/.exec(port) ?? [];
      if (at === undefined && outside === inside) return [];
      return `ports ${port}: the process listens on its own port, ${inside}`;
    }),
    ...list(volumes).map((volume) =>
      `volumes ${isMap(volume) ? volume.target : volume}: the paths are those of this machine`
    ),
  ];
}

export function lostUser(user: unknown): string {
  return `user ${user}: uid, if it exists here`;
}
