/** Nomad jobs, as JSON for its API and `nomad job run -json`. */

import { nomadSchedule } from "./calendar.ts";
import {
  type App,
  PROBE_SECONDS,
  PROBE_WORDS,
  REPLACE_SECONDS,
  runWords,
  type Stack,
} from "./stack.ts";

type Keys = Readonly<Record<string, unknown>>;

const NS_PER_SECOND = 1e9;

/** Nomad refuses durations that are not whole nanoseconds. */
function nanoseconds(ms: number): number {
  return Math.round(ms * 1e6);
}

export function nomadJob(stack: Stack, app: App): Keys {
  const { cron, restartPolicy, instances, autostart, namespace, tags, labels } = app.config;
  const isBatch = cron !== undefined || restartPolicy === "never";
  const lose = (key: string, text: string) => stack.losses.push({ app: app.name, key, text });
  if (cron?.overlap === "kill" || cron?.overlap === "queue") {
    lose("cron.overlap", `${cron.overlap}: Nomad skips a run, or runs both`);
  }
  return {
    Job: {
      ID: `${stack.name}-${app.id}`,
      Name: `${stack.name}-${app.id}`,
      Type: isBatch ? "batch" : "service",
      Datacenters: ["*"],
      Meta: {
        ...labels,
        ...(tags.length === 0 ? {} : { tags: tags.join(",") }),
        ...(namespace === "default" ? {} : { namespace }),
      },
      ...(cron === undefined ? {} : {
        Periodic: {
          Enabled: cron.enabled && autostart,
          SpecType: "cron",
          Spec: nomadSchedule(cron.schedule),
          ProhibitOverlap: true,
          ...(cron.timezone === undefined ? {} : { TimeZone: cron.timezone }),
        },
      }),
      TaskGroups: [{
        Name: app.id,
        Count: autostart ? instances : 0,
        RestartPolicy: {
          Attempts: isBatch ? 0 : 3,
          Interval: 1800 * NS_PER_SECOND,
          Delay: 15 * NS_PER_SECOND,
          Mode: "fail",
        },
        // By default Nomad runs a failed batch job once more.
        ...(isBatch
          ? { ReschedulePolicy: { Attempts: 0, Unlimited: false } }
          : { Update: update(app) }),
        ...network(app),
        ...(isBatch ? {} : { Services: [service(stack, app)] }),
        Tasks: [task(stack, app)],
      }],
    },
  };
}

function update({ config }: App): Keys {
  const { overlap, minUptimeMs, listenTimeoutMs, instances } = config;
  const deadlineMs = listenTimeoutMs + REPLACE_SECONDS * 1000;
  return {
    MaxParallel: 1,
    ...(overlap ? { Canary: instances, AutoPromote: true } : {}),
    HealthCheck: "checks",
    MinHealthyTime: nanoseconds(minUptimeMs),
    HealthyDeadline: nanoseconds(deadlineMs),
    ProgressDeadline: nanoseconds(2 * deadlineMs),
    AutoRevert: true,
  };
}

function network({ ports }: App): Keys {
  if (ports.length === 0) return {};
  const reserved = ports.map((port) => ({ Label: `p${port}`, Value: port, To: port }));
  return { Networks: [{ Mode: "bridge", ReservedPorts: reserved }] };
}

/** Nomad restarts a task that stays unready for longer than `REPLACE_SECONDS`. */
function service(stack: Stack, app: App): Keys {
  const [command, ...args] = PROBE_WORDS;
  return {
    Name: `${stack.name}-${app.id}`,
    Provider: "consul",
    ...(app.ports.length === 0 ? {} : { PortLabel: `p${app.ports[0]}` }),
    Checks: [{
      Name: "ready",
      Type: "script",
      TaskName: app.id,
      Command: command,
      Args: args,
      Interval: PROBE_SECONDS * NS_PER_SECOND,
      Timeout: PROBE_SECONDS * NS_PER_SECOND,
      CheckRestart: {
        Limit: REPLACE_SECONDS / PROBE_SECONDS,
        Grace: nanoseconds(app.config.listenTimeoutMs),
      },
    }],
  };
}

function task(stack: Stack, app: App): Keys {
  const { memoryBytes, pids } = app.config.limits;
  const mounts = Object.entries(app.files).map(([key, { inside }]) => ({
    type: "bind",
    source: `secrets/${key}`,
    target: inside,
    readonly: true,
  }));
  const templates = [...environment(stack, app), ...fileTemplates(stack, app)];
  return {
    Name: app.id,
    Driver: "docker",
    Config: {
      image: stack.image,
      args: runWords(stack, app, "engine"),
      ...(app.ports.length > 0 && { ports: app.ports.map((port) => `p${port}`) }),
      ...(pids === undefined ? {} : { pids_limit: pids }),
      ...(mounts.length > 0 && { mount: mounts }),
    },
    Env: app.plain,
    ...(templates.length > 0 && { Templates: templates }),
    ...(memoryBytes === undefined
      ? {}
      : { Resources: { MemoryMB: Math.max(10, Math.round(memoryBytes / 2 ** 20)) } }),
    KillTimeout: app.graceSeconds * NS_PER_SECOND,
  };
}

/** A template with the job's Nomad variables, set by `nomad var put nomad/jobs/…`. */
function withVariables({ name }: Stack, { id }: App, inner: string): string {
  return `{{ with nomadVar "nomad/jobs/${name}-${id}" }}${inner}{{ end }}`;
}

function environment(stack: Stack, app: App): Keys[] {
  const names = Object.entries(app.variables);
  if (names.length === 0) return [];
  const lines = names.map(([name, needed]) => {
    const line = `${name}={{ .${name}.Value | toJSON }}\n`;
    return needed ? line : `{{ if index . "${name}" }}${line}{{ end }}`;
  });
  const EmbeddedTmpl = withVariables(stack, app, lines.join(""));
  return [{ EmbeddedTmpl, DestPath: "secrets/variables.env", Envvars: true }];
}

function fileTemplates(stack: Stack, app: App): Keys[] {
  return Object.keys(app.files).map((key) => ({
    EmbeddedTmpl: withVariables(stack, app, `{{ .${key.replaceAll("-", "_")}.Value }}`),
    DestPath: `secrets/${key}`,
  }));
}
