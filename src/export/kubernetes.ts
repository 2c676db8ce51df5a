/** Kubernetes manifests. */

import { intervalOf } from "../model/interval_schedule.ts";
import type { CronConfig } from "../model/process_config.ts";
import { checksum } from "../platform/files/state_file.ts";
import { cronJobSchedule } from "./calendar.ts";
import { type App, PROBE, PROGRAM, runWords, type Stack, unlessEmpty } from "./stack.ts";

type Manifest = Readonly<Record<string, unknown>>;

/** Valid names of annotations, with or without a prefix. */
const ANNOTATION = /^([a-z0-9.-]{1,253}\/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/;

/** Valid values of labels. */
const LABEL_VALUE = /^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/;

/** Value of the managed-by label of all exported objects. */
export const MANAGED_BY = "procsup";

/** Name of the Secret with the values of variables and secret files. */
export function secretName({ name }: Stack): string {
  return `${name}-secrets`;
}

export function kubernetesManifests({ apps }: Stack): Manifest[] {
  return apps.flatMap((app) => {
    const { plain, ports } = app;
    const published = ports.map((port) => ({ name: `p${port}`, port, targetPort: port }));
    const spec = { selector: selector(app), ports: published };
    return [
      unlessEmpty(plain) && object(app, "v1", "ConfigMap", { data: plain }, checksumOf(plain)),
      workload(app),
      unlessEmpty(ports) && object(app, "v1", "Service", { spec }),
    ].filter((manifest) => manifest !== undefined);
  });
}

/** Part of a name that changes with a value, which replaces the pods that refer to the name. */
function checksumOf(value: unknown): string {
  return `-${checksum(JSON.stringify(value))}`;
}

function nameOf({ stack, id }: App): string {
  return `${stack.name}-${id}`;
}

function selector({ stack, id }: App): Record<string, string> {
  return { "app.kubernetes.io/name": id, "app.kubernetes.io/instance": stack.name };
}

function labels(app: App): Record<string, string> {
  return { ...selector(app), "app.kubernetes.io/managed-by": MANAGED_BY };
}

/** An object of an app. */
function object(app: App, apiVersion: string, kind: string, body: Manifest, suffix = ""): Manifest {
  const { tags, namespace } = app.config;
  const taken = Object.entries(app.config.labels).filter(([key]) => ANNOTATION.test(key));
  const group = isGroup(namespace) ? namespace : undefined;
  const metadata = {
    name: nameOf(app) + suffix,
    labels: { ...labels(app), "app.kubernetes.io/part-of": group },
    annotations: unlessEmpty({
      ...Object.fromEntries(taken),
      "procsup/tags": tags.length === 0 ? undefined : tags.join(","),
    }),
  };
  return { apiVersion, kind, metadata, ...body };
}

/** True if a namespace becomes a label. */
function isGroup(namespace: string): boolean {
  return namespace !== "default" && LABEL_VALUE.test(namespace);
}

function workload(app: App): Manifest {
  const { lose, config } = app;
  const { cron, restartPolicy, instances, autostart, overlap, namespace } = config;
  if (namespace !== "default" && !isGroup(namespace)) lose("namespace", "no value of a label");
  for (const key of Object.keys(config.labels).filter((key) => !ANNOTATION.test(key))) {
    lose(`labels.${key}`, "no name of an annotation");
  }
  if (cron !== undefined) return cronJob(app, cron);
  if (restartPolicy === "never") {
    const spec = {
      ...runs(app),
      suspend: autostart ? undefined : true,
      backoffLimit: 0,
      template: pod(app, "Never"),
    };
    // A Job cannot be changed, so a changed one gets another name.
    return object(app, "batch/v1", "Job", { spec }, checksumOf(spec));
  }
  return object(app, "apps/v1", "Deployment", {
    spec: {
      replicas: autostart ? instances : 0,
      selector: { matchLabels: selector(app) },
      strategy: {
        type: "RollingUpdate",
        rollingUpdate: { maxSurge: overlap ? 1 : 0, maxUnavailable: overlap ? 0 : 1 },
      },
      minReadySeconds: Math.ceil(config.minUptimeMs / 1000),
      // Longer than an app may take to become ready.
      progressDeadlineSeconds: Math.ceil((config.listenTimeoutMs + config.minUptimeMs) / 1000) + 60,
      template: pod(app, "Always"),
    },
  });
}

/** A Job runs every copy at the same time. */
function runs({ config: { instances } }: App): Manifest {
  return instances === 1 ? {} : { parallelism: instances, completions: instances };
}

function cronJob(app: App, cron: CronConfig): Manifest {
  const { lose } = app;
  const { schedule, timezone, overlap, timeoutMs, enabled, catchUp } = cron;
  const fields = intervalOf(schedule) ? [schedule.trim()] : schedule.trim().split(/\s+/);
  const known = cronJobSchedule(schedule);
  if (fields.length === 6) lose("cron.schedule", "seconds: a CronJob knows minutes");
  if (known === undefined) lose("cron.schedule", `${schedule}: a CronJob has no L, W and #`);
  if (overlap === "queue") lose("cron.overlap", "queue: a CronJob skips or replaces a run");
  return object(app, "batch/v1", "CronJob", {
    spec: {
      schedule: known ?? fields.slice(-5).join(" "),
      timeZone: timezone,
      concurrencyPolicy: overlap === "kill" ? "Replace" : "Forbid",
      // Without a deadline it makes up for one missed run.
      startingDeadlineSeconds: catchUp === "once" ? undefined : 30,
      suspend: !enabled || !app.config.autostart,
      jobTemplate: {
        metadata: { labels: labels(app) },
        spec: {
          ...runs(app),
          backoffLimit: 0,
          activeDeadlineSeconds: timeoutMs && Math.ceil(timeoutMs / 1000),
          template: pod(app, "Never"),
        },
      },
    },
  });
}

function pod(app: App, restartPolicy: string): Manifest {
  const mounts = Object.entries(app.files).map(([key, { inside }]) => (
    { name: "secrets", mountPath: inside, subPath: key, readOnly: true }
  ));
  const volume = { name: "secrets", secret: { secretName: secretName(app.stack) } };
  return {
    metadata: { labels: labels(app) },
    spec: {
      restartPolicy,
      // Variables of Services, such as SHOP_API_PORT, could take the place of those of the file.
      enableServiceLinks: false,
      terminationGracePeriodSeconds: app.graceSeconds,
      containers: [{ ...container(app), volumeMounts: unlessEmpty(mounts) }],
      volumes: unlessEmpty(mounts) && [volume],
    },
  };
}

function container(app: App): Manifest {
  const { plain, ports, variables, config: { cron, limits } } = app;
  const configMap = nameOf(app) + checksumOf(plain);
  const env = Object.entries(variables).map(([key, needed]) => {
    const optional = needed ? undefined : true;
    return {
      name: key,
      valueFrom: { secretKeyRef: { name: secretName(app.stack), key, optional } },
    };
  });
  const max = unlessEmpty({
    memory: limits.memoryBytes === undefined ? undefined : String(limits.memoryBytes),
    cpu: limits.cpuPercent === undefined ? undefined : `${Math.round(limits.cpuPercent * 10)}m`,
  });
  return {
    name: app.id,
    image: app.stack.image,
    command: [PROGRAM],
    args: runWords(app, "engine"),
    envFrom: unlessEmpty(plain) && [{ configMapRef: { name: configMap } }],
    env: unlessEmpty(env),
    ports: unlessEmpty(ports.map((port) => ({ name: `p${port}`, containerPort: port }))),
    resources: max && { limits: max },
    ...(cron === undefined && probes(app)),
  };
}

/** procsup restarts an unhealthy app. If it stays unhealthy, the kubelet restarts the container. */
function probes({ config }: App): Manifest {
  const exec = { command: PROBE.command };
  const probe = { exec, periodSeconds: PROBE.everySeconds, timeoutSeconds: PROBE.everySeconds };
  const failures = (seconds: number) => ({
    failureThreshold: Math.ceil(seconds / PROBE.everySeconds),
  });
  return {
    startupProbe: { ...probe, ...failures(config.listenTimeoutMs / 1000 + PROBE.replaceSeconds) },
    readinessProbe: { ...probe, failureThreshold: 1 },
    livenessProbe: { ...probe, ...failures(PROBE.replaceSeconds) },
  };
}
