/** Notes on parts of a compose service that are not supported. */

import { isMap } from "../document.ts";

type Service = Readonly<Record<string, unknown>>;

/** Keys of a service that are converted; all others get a note. */
const READ: ReadonlySet<string> = new Set([
  ...["build", "image", "command", "entrypoint", "environment", "env_file", "working_dir"],
  ...["depends_on", "restart", "healthcheck", "stop_signal", "stop_grace_period", "user", "init"],
  ...[
    "container_name",
    "mem_limit",
    "cpus",
    "pids_limit",
    "ulimits",
    "ports",
    "expose",
    "volumes",
    "deploy",
    "scale",
    "tty",
  ],
  "stdin_open",
]);

/** Keys that only make sense for containers, with alternatives. */
const CONTAINERS: Readonly<Record<string, string>> = {
  networks: "processes share the network of this machine",
  logging: "procsup logs",
  profiles: "profiles, or autostart: false",
};

function portText(port: unknown): string {
  if (!isMap(port)) return String(port);
  const { host_ip, published = port.target, target } = port;
  return [host_ip, published, target].filter((part) => part !== undefined).join(":");
}

/** Keys of nested maps that are converted. */
const NESTED: Readonly<Record<string, readonly string[]>> = {
  "deploy": ["replicas", "restart_policy", "resources"],
  "deploy.resources": ["limits"],
  "deploy.resources.limits": ["memory", "cpus", "pids"],
  "deploy.restart_policy": ["condition"],
  "healthcheck": ["test", "interval", "timeout", "retries", "start_period", "disable"],
};

/** One note for each part that is not converted. */
export function lost(service: Service): string[] {
  const keys = Object.keys(service).filter((key) => !READ.has(key));
  const notes = keys.map((key) => `${key}: ${CONTAINERS[key] ?? "not supported by procsup"}`);
  const { ports, volumes, ulimits } = service;
  for (const port of Array.isArray(ports) ? ports.map(portText) : []) {
    const [, at, outside, inside] = /^(?:(.*):)?([^:]+):([^:/]+)(?:\/\w+)?$/.exec(port) ?? [];
    if (at === undefined && outside === inside) continue;
    notes.push(`ports ${port}: the process listens on its own port, ${inside}`);
  }
  for (const volume of Array.isArray(volumes) ? volumes : []) {
    notes.push(
      `volumes ${isMap(volume) ? volume.target : volume}: the paths are those of this machine`,
    );
  }
  for (const [key, known] of Object.entries(NESTED)) {
    const inner = key.split(".").reduce<unknown>((of, part) => isMap(of) ? of[part] : {}, service);
    for (const other of Object.keys(isMap(inner) ? inner : {})) {
      if (!known.includes(other)) notes.push(`${key}.${other}: not supported by procsup`);
    }
  }
  for (const file of [service.env_file ?? []].flat()) {
    if (!isMap(file) || file.required !== false) continue;
    notes.push(`env_file ${file.path}: it must exist, although compose does not require it`);
  }
  if (/\$\{\w+:?\+/.test(JSON.stringify(service).replaceAll("$$", ""))) {
    notes.push("${NAME:+text}: stays as written, procsup has no such form");
  }
  if (ulimits !== undefined) notes.push("ulimits: limits");
  return notes;
}
