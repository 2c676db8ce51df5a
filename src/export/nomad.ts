/** Nomad jobs, as JSON for its API and `nomad job run -json`. */

import { intervalOf } from "../model/interval_schedule.ts";
import { nomadSchedule } from "./calendar.ts";
import { type App, endsByItself, notes, PROBE, runWords, unlessEmpty } from "./stack.ts";

type Keys = Readonly<Record<string, unknown>>;

/** Nomad counts whole nanoseconds. */
function nanoseconds(ms: number): number {
  return Math.round(ms * 1e6);
}

export function nomadJob(app: App): Keys {
  const { stack } = app;
  const { cron, instances, autostart } = app.config;
  const isBatch = endsByItself(app.config);
  const name = `${stack.name}-${app.id}`;
  if (cron?.overlap === "kill" || cron?.overlap === "queue") {
    app.lose("cron.overlap", `${cron.overlap}: Nomad skips a run, or runs both`);
  }
  const isByInterval = cron !== undefined && intervalOf(cron.schedule) !== undefined;
  if (isByInterval) {
    app.lose("cron.schedule", `${cron.schedule}: Nomad knows no intervals, the job is disabled`);
  }
  const lost = stack.losses.filter((loss) => loss.app === undefined || loss.app === app.name);
  // JSON has no comments.
  const comments = Object.entries(Object.groupBy(lost, ({ key }) => `no counterpart: ${key}`))
    .map(([key, all]) => [key, all!.map(({ text }) => text).join("; ")]);
  return {
    Job: {
      ID: name,
      Name: name,
      Type: isBatch ? "batch" : "service",
      Datacenters: ["*"],
      Meta: { ...notes(app), ...Object.fromEntries(comments) },
      Periodic: cron && {
        Enabled: cron.enabled && autostart && !isByInterval,
        SpecType: "cron",
        Spec: isByInterval ? "@yearly" : nomadSchedule(cron.schedule),
        ProhibitOverlap: true,
        TimeZone: cron.timezone,
      },
      TaskGroups: [{
        Name: app.id,
        Count: autostart ? instances : 0,
        RestartPolicy: {
          Attempts: isBatch ? 0 : 3,
          Interval: nanoseconds(1_800_000),
          Delay: nanoseconds(15_000),
          Mode: "fail",
        },
        // By default Nomad runs a failed batch job once more.
        ReschedulePolicy: isBatch ? { Attempts: 0, Unlimited: false } : undefined,
        Update: isBatch ? undefined : update(app),
        Networks: unlessEmpty(app.ports) && [{
          Mode: "bridge",
          ReservedPorts: app.ports.map((port) => ({ Label: `p${port}`, Value: port, To: port })),
        }],
        Services: isBatch ? undefined : [probed(app, name)],
        Tasks: [task(app, name)],
      }],
    },
  };
}

function update({ config }: App): Keys {
  const { overlap, minUptimeMs, listenTimeoutMs, instances } = config;
  const deadlineMs = listenTimeoutMs + PROBE.replaceSeconds * 1000;
  return {
    MaxParallel: 1,
    ...(overlap && { Canary: instances, AutoPromote: true }),
    HealthCheck: "checks",
    MinHealthyTime: nanoseconds(minUptimeMs),
    HealthyDeadline: nanoseconds(deadlineMs),
    ProgressDeadline: nanoseconds(2 * deadlineMs),
    AutoRevert: true,
  };
}

/** Nomad restarts a task that stays unready for longer than `PROBE.replaceSeconds`. */
function probed({ id, ports: [port], config }: App, name: string): Keys {
  const [command, ...args] = PROBE.command;
  return {
    Name: name,
    Provider: "consul",
    PortLabel: port && `p${port}`,
    Checks: [{
      Name: "ready",
      Type: "script",
      TaskName: id,
      Command: command,
      Args: args,
      Interval: nanoseconds(PROBE.everySeconds * 1000),
      Timeout: nanoseconds(PROBE.everySeconds * 1000),
      CheckRestart: {
        Limit: PROBE.replaceSeconds / PROBE.everySeconds,
        Grace: nanoseconds(config.listenTimeoutMs),
      },
    }],
  };
}

function task(app: App, name: string): Keys {
  const { memoryBytes, pids } = app.config.limits;
  const mounts = Object.entries(app.files).map(([key, { inside }]) => (
    { type: "bind", source: `secrets/${key}`, target: inside, readonly: true }
  ));
  return {
    Name: app.id,
    Driver: "docker",
    Config: {
      image: app.stack.image,
      args: runWords(app, "engine"),
      ports: unlessEmpty(app.ports.map((port) => `p${port}`)),
      pids_limit: pids,
      mount: unlessEmpty(mounts),
    },
    Env: app.plain,
    Templates: unlessEmpty(templates(app, name)),
    Resources: memoryBytes === undefined
      ? undefined
      : { MemoryMB: Math.max(10, Math.round(memoryBytes / 2 ** 20)) },
    KillTimeout: nanoseconds(app.graceSeconds * 1000),
  };
}

/** Templates of variables and secret files, with values from `nomad var put nomad/jobs/…`. */
function templates({ variables, files }: App, name: string): Keys[] {
  const filledIn = (inner: string) => `{{ with nomadVar "nomad/jobs/${name}" }}${inner}{{ end }}`;
  const lines = Object.entries(variables).map(([name, needed]) => {
    const line = `${name}={{ .${name}.Value | toJSON }}\n`;
    return needed ? line : `{{ if index . "${name}" }}${line}{{ end }}`;
  });
  const environment = {
    EmbeddedTmpl: filledIn(lines.join("")),
    DestPath: "secrets/variables.env",
    Envvars: true,
  };
  return [
    ...(lines.length > 0 ? [environment] : []),
    ...Object.keys(files).map((key) => ({
      EmbeddedTmpl: filledIn(`{{ .${key.replaceAll("-", "_")}.Value }}`),
      DestPath: `secrets/${key}`,
    })),
  ];
}
