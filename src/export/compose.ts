/** Compose files for docker compose and for Docker Swarm. */

import { type App, notes, PROBE, RESTART, runWords, type Stack, unlessEmpty } from "./stack.ts";

type Keys = Readonly<Record<string, unknown>>;

const CONDITIONS: Readonly<Record<string, string>> = {
  started: "service_started",
  ready: "service_healthy",
  healthy: "service_healthy",
  completed: "service_completed_successfully",
  completed_ok: "service_completed_successfully",
};

export function composeFile(stack: Stack): Keys {
  const services = stack.apps.map((app) => {
    const { instances, restartPolicy, cron, limits } = app.config;
    const isPublished = instances === 1;
    if (!isPublished && app.ports.length > 0) {
      const why = "several copies cannot publish one port of this machine: put a proxy before them";
      app.lose("sockets", why);
    }
    return [app.id, {
      ...common(app),
      restart: cron !== undefined ? "always" : RESTART[restartPolicy],
      ports: unlessEmpty(isPublished ? app.ports.map((port) => `${port}:${port}`) : []),
      expose: unlessEmpty(isPublished ? [] : app.ports.map(String)),
      depends_on: unlessEmpty(dependencies(app)),
      labels: unlessEmpty(labelsOf(app)),
      pids_limit: limits.pids,
      deploy: { replicas: copies(app), resources: resources(app) },
    }];
  });
  const files = secrets(stack, (path) => ({ file: literal(path) }));
  return { services: Object.fromEntries(services), secrets: files };
}

/** The file for `docker stack deploy`. */
export function swarmFile(stack: Stack, mode = "ingress"): Keys {
  const services = stack.apps.map((app) => [app.id, {
    ...common(app),
    ports: unlessEmpty(
      app.ports.map((port) => ({ target: port, published: port, protocol: "tcp", mode })),
    ),
    deploy: {
      replicas: copies(app),
      ...updates(app),
      resources: resources(app, app.config.limits.pids),
      restart_policy: restartPolicy(app),
      labels: unlessEmpty(labelsOf(app)),
    },
  }]);
  // Created beforehand, by `docker secret create`.
  const files = secrets(stack, () => ({ external: true }));
  return { version: "3.9", services: Object.fromEntries(services), secrets: files };
}

/** Escapes "$", which begins a variable. */
function literal(text: string): string {
  return text.replaceAll("$", "$$$$");
}

function literals(texts: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, literal(text)]));
}

function copies({ config: { autostart, instances, cron } }: App): number {
  return autostart && cron?.enabled !== false ? instances : 0;
}

function common(app: App): Keys {
  const variables = Object.entries(app.variables).map(([name, needed]) =>
    [name, needed ? `\${${name}?}` : null] as const
  );
  return {
    image: app.stack.image,
    command: runWords(app, "inside").map(literal),
    environment: unlessEmpty({ ...literals(app.plain), ...Object.fromEntries(variables) }),
    secrets: unlessEmpty(
      Object.entries(app.files).map(([source, file]) => ({ source, target: literal(file.inside) })),
    ),
    healthcheck: app.config.cron === undefined ? healthcheck(app) : undefined,
    stop_grace_period: `${app.graceSeconds}s`,
  };
}

/** Docker replaces unhealthy containers: first give procsup time to restart the app. */
function healthcheck({ config }: App): Keys {
  return {
    test: ["CMD", ...PROBE.command],
    interval: `${PROBE.everySeconds}s`,
    timeout: `${PROBE.everySeconds}s`,
    retries: PROBE.replaceSeconds / PROBE.everySeconds,
    start_period: `${Math.ceil(config.listenTimeoutMs / 1000)}s`,
  };
}

function updates({ config: { overlap, minUptimeMs, cron } }: App): Keys {
  // The container of a job ends after each run, which must not fail an update.
  if (cron !== undefined) return { update_config: { parallelism: 1, failure_action: "continue" } };
  const change = {
    parallelism: 1,
    order: overlap ? "start-first" : "stop-first",
    monitor: `${Math.ceil(minUptimeMs / 1000) + PROBE.everySeconds}s`,
  };
  return { update_config: { ...change, failure_action: "rollback" }, rollback_config: change };
}

/** A job waits for its time in the container, which is started again after each run. */
function restartPolicy({ config: { restartPolicy, cron } }: App): Keys {
  if (cron !== undefined) return { condition: "any", delay: "1s" };
  const condition = { always: "any", never: "none", "on-failure": "on-failure" }[restartPolicy];
  return { condition, delay: "5s" };
}

function resources({ config }: App, pids?: number): Keys | undefined {
  const { memoryBytes, cpuPercent } = config.limits;
  const limits = unlessEmpty({
    memory: memoryBytes === undefined ? undefined : `${memoryBytes}b`,
    cpus: cpuPercent === undefined ? undefined : String(Math.round(cpuPercent * 10) / 1000),
    pids,
  });
  return limits && { limits };
}

function labelsOf(app: App): Record<string, string> {
  return literals(notes(app, "procsup."));
}

function dependencies(app: App): Keys {
  const all = Object.entries(app.config.dependsOn).map(([name, state]) => {
    const other = app.stack.apps.find((app) => app.name === name)!;
    const isJob = other.config.cron !== undefined;
    if (isJob && state.startsWith("completed")) {
      const why = "compose does not run a job before its time";
      app.lose("depends_on", `${name}: ${state}: ${why}`);
    } else if (state === "completed") {
      app.lose("depends_on", `${name}: ${state}: compose waits for its success`);
    }
    // A job has no probe.
    return [other.id, { condition: isJob ? "service_started" : CONDITIONS[state] }];
  });
  return Object.fromEntries(all);
}

/** The secret files of all apps, each with the place where the engine finds it. */
function secrets({ apps }: Stack, source: (path: string) => Keys): Keys | undefined {
  const all = apps.flatMap(({ files }) => Object.entries(files));
  return unlessEmpty(Object.fromEntries(all.map(([name, { path }]) => [name, source(path)])));
}
