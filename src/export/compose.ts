/** Compose files for docker compose and for Docker Swarm. */

import {
  type App,
  PROBE_SECONDS,
  PROBE_WORDS,
  REPLACE_SECONDS,
  runWords,
  type Stack,
} from "./stack.ts";

type Keys = Readonly<Record<string, unknown>>;

/** Ports are published by every node ("ingress"), or by nodes that run the app ("host"). */
export type PortMode = "ingress" | "host";

const CONDITIONS: Readonly<Record<string, string>> = {
  started: "service_started",
  ready: "service_healthy",
  healthy: "service_healthy",
  completed: "service_completed_successfully",
  completed_ok: "service_completed_successfully",
};

/** The file for docker compose. */
export function composeFile(stack: Stack): Keys {
  const services = stack.apps.map((app) => {
    const { instances, restartPolicy, dependsOn, limits: { pids } } = app.config;
    const all = labelsOf(app);
    const ports = instances === 1 ? app.ports.map((port) => `${port}:${port}`) : [];
    if (ports.length < app.ports.length) {
      const text =
        "several copies cannot publish one port of this machine: put a proxy before them";
      stack.losses.push({ app: app.name, key: "sockets", text });
    }
    return [app.id, {
      ...common(stack, app),
      restart: app.config.cron !== undefined
        ? "always"
        : { always: "always", never: "no", "on-failure": "on-failure" }[restartPolicy],
      ...(ports.length > 0 && { ports }),
      ...(ports.length < app.ports.length && { expose: app.ports.map(String) }),
      ...(Object.keys(dependsOn).length > 0 && { depends_on: dependencies(stack, app) }),
      ...(Object.keys(all).length > 0 && { labels: all }),
      ...(pids !== undefined && { pids_limit: pids }),
      deploy: { replicas: copies(app), ...resources(app, undefined) },
    }];
  });
  return { services: Object.fromEntries(services), ...secrets(stack, false) };
}

/** The file for `docker stack deploy`. */
export function swarmFile(stack: Stack, mode: PortMode): Keys {
  const services = stack.apps.map((app) => {
    const all = labelsOf(app);
    return [app.id, {
      ...common(stack, app),
      ...(app.ports.length > 0 && {
        ports: app.ports.map((port) => ({ target: port, published: port, protocol: "tcp", mode })),
      }),
      deploy: {
        replicas: copies(app),
        ...updates(app),
        ...resources(app, app.config.limits.pids),
        restart_policy: restartPolicy(app),
        ...(Object.keys(all).length > 0 && { labels: all }),
      },
    }];
  });
  return { version: "3.9", services: Object.fromEntries(services), ...secrets(stack, true) };
}

/** Escapes "$", which begins a variable. */
function literal(text: string): string {
  return text.replaceAll("$", "$$$$");
}

function copies({ config: { autostart, instances, cron } }: App): number {
  return autostart && cron?.enabled !== false ? instances : 0;
}

function common(stack: Stack, app: App): Keys {
  const { cron } = app.config;
  const names = Object.entries(app.files).map(([source, { inside }]) => ({
    source,
    target: literal(inside),
  }));
  const needed = Object.entries(app.variables).map(([name, needed]) =>
    [name, needed ? `\${${name}?}` : null] as const
  );
  const plain = Object.entries(app.plain).map(([name, value]) => [name, literal(value)] as const);
  const environment = Object.fromEntries([...plain, ...needed]);
  return {
    image: stack.image,
    command: runWords(stack, app, "inside").map(literal),
    ...(Object.keys(environment).length > 0 && { environment }),
    ...(names.length > 0 && { secrets: names }),
    ...(cron === undefined && { healthcheck: healthcheck(app) }),
    stop_grace_period: `${app.graceSeconds}s`,
  };
}

/** Docker replaces unhealthy containers: first give procsup time to restart the app. */
function healthcheck({ config }: App): Keys {
  return {
    test: ["CMD", ...PROBE_WORDS],
    interval: `${PROBE_SECONDS}s`,
    timeout: `${PROBE_SECONDS}s`,
    retries: REPLACE_SECONDS / PROBE_SECONDS,
    start_period: `${Math.ceil(config.listenTimeoutMs / 1000)}s`,
  };
}

function updates({ config: { overlap, minUptimeMs, cron } }: App): Keys {
  // The container of a job ends after each run, which must not fail an update.
  if (cron !== undefined) return { update_config: { parallelism: 1, failure_action: "continue" } };
  const change = {
    parallelism: 1,
    order: overlap ? "start-first" : "stop-first",
    monitor: `${Math.ceil(minUptimeMs / 1000) + PROBE_SECONDS}s`,
  };
  return { update_config: { ...change, failure_action: "rollback" }, rollback_config: change };
}

/** A job waits for its time in the container, which is started again after each run. */
function restartPolicy({ config }: App): Keys {
  const { restartPolicy, cron } = config;
  const condition = cron !== undefined
    ? "any"
    : { always: "any", never: "none", "on-failure": "on-failure" }[restartPolicy];
  return { condition, delay: cron === undefined ? "5s" : "1s" };
}

function resources({ config }: App, pids: number | undefined): Keys {
  const { memoryBytes, cpuPercent } = config.limits;
  const limits = {
    ...(memoryBytes === undefined ? {} : { memory: `${memoryBytes}b` }),
    ...(cpuPercent === undefined ? {} : { cpus: String(Math.round(cpuPercent * 10) / 1000) }),
    ...(pids === undefined ? {} : { pids }),
  };
  return Object.keys(limits).length === 0 ? {} : { resources: { limits } };
}

function labelsOf({ config: { namespace, tags, labels } }: App): Record<string, string> {
  const all = {
    ...labels,
    ...(tags.length === 0 ? {} : { "procsup.tags": tags.join(",") }),
    ...(namespace === "default" ? {} : { "procsup.namespace": namespace }),
  };
  const entries = Object.entries(all).map(([key, value]) => [key, literal(value)]);
  return Object.fromEntries(entries);
}

function dependencies(stack: Stack, app: App): Keys {
  return Object.fromEntries(
    Object.entries(app.config.dependsOn).map(([name, state]) => {
      const other = stack.apps.find((app) => app.name === name)!;
      const isJob = other.config.cron !== undefined;
      const isEnd = state === "completed" || state === "completed_ok";
      const text = isJob && isEnd
        ? "compose does not run a job before its time"
        : state === "completed"
        ? "compose waits for its success"
        : undefined;
      if (text !== undefined) {
        stack.losses.push({ app: app.name, key: "depends_on", text: `${name}: ${state}: ${text}` });
      }
      // A job has no probe.
      return [other.id, { condition: isJob ? "service_started" : CONDITIONS[state] }];
    }),
  );
}

/** Swarm secrets are created beforehand (`external`); compose reads them from files. */
function secrets({ apps }: Stack, external: boolean): Keys {
  const all = apps.flatMap(({ files }) => Object.entries(files));
  if (all.length === 0) return {};
  const entries = all.map((
    [name, { path }],
  ) => [name, external ? { external } : { file: literal(path) }]);
  return { secrets: Object.fromEntries(entries) };
}
