/** Kubernetes manifests. */

import type { CronConfig } from "../model/process_config.ts";
import { cronJobSchedule } from "./calendar.ts";
import { checksum } from "../platform/state_file.ts";
import {
  type App,
  PROBE_SECONDS,
  PROBE_WORDS,
  PROGRAM,
  REPLACE_SECONDS,
  runWords,
  type Stack,
} from "./stack.ts";

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

export function kubernetesManifests(stack: Stack): Manifest[] {
  return stack.apps.flatMap((app) => [
    ...configMap(stack, app),
    workload(stack, app),
    ...service(stack, app),
  ]);
}

function configMap(stack: Stack, app: App): Manifest[] {
  if (Object.keys(app.plain).length === 0) return [];
  return [{
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { ...metadata(stack, app), name: configMapName(stack, app) },
    data: app.plain,
  }];
}

/** The name changes with the values: that replaces the pods, and each revision keeps its own. */
function configMapName(stack: Stack, app: App): string {
  return `${metadata(stack, app).name}-${checksum(JSON.stringify(app.plain))}`;
}

function service(stack: Stack, app: App): Manifest[] {
  if (app.ports.length === 0) return [];
  const ports = app.ports.map((port) => ({ name: `p${port}`, port, targetPort: port }));
  return [{
    apiVersion: "v1",
    kind: "Service",
    metadata: metadata(stack, app),
    spec: { selector: selector(stack, app), ports },
  }];
}

function selector({ name }: Stack, { id }: App): Record<string, string> {
  return { "app.kubernetes.io/name": id, "app.kubernetes.io/instance": name };
}

function labels(stack: Stack, app: App): Record<string, string> {
  return { ...selector(stack, app), "app.kubernetes.io/managed-by": MANAGED_BY };
}

function metadata(stack: Stack, app: App) {
  const { tags, namespace } = app.config;
  const taken = Object.entries(app.config.labels).filter(([key]) => ANNOTATION.test(key));
  const annotations = {
    ...Object.fromEntries(taken),
    ...(tags.length === 0 ? {} : { "procsup/tags": tags.join(",") }),
  };
  return {
    name: `${stack.name}-${app.id}`,
    labels: {
      ...labels(stack, app),
      ...(isGroup(namespace) && { "app.kubernetes.io/part-of": namespace }),
    },
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  };
}

/** True if a namespace becomes a label. */
function isGroup(namespace: string): boolean {
  return namespace !== "default" && LABEL_VALUE.test(namespace);
}

function workload(stack: Stack, app: App): Manifest {
  const { cron, restartPolicy, instances, autostart, overlap, namespace } = app.config;
  if (namespace !== "default" && !isGroup(namespace)) {
    stack.losses.push({ app: app.name, key: "namespace", text: "no value of a label" });
  }
  for (const key of Object.keys(app.config.labels).filter((key) => !ANNOTATION.test(key))) {
    stack.losses.push({ app: app.name, key: `labels.${key}`, text: "no name of an annotation" });
  }
  if (cron !== undefined) return cronJob(stack, app, cron);
  if (restartPolicy === "never") {
    const spec = {
      ...copies(instances, autostart),
      backoffLimit: 0,
      template: pod(stack, app, "Never"),
    };
    const job = head("batch/v1", "Job", stack, app);
    // A Job cannot be changed, so a changed one gets another name.
    const name = `${job.metadata.name}-${checksum(JSON.stringify(spec))}`;
    return { ...job, metadata: { ...job.metadata, name }, spec };
  }
  return {
    ...head("apps/v1", "Deployment", stack, app),
    spec: {
      replicas: autostart ? instances : 0,
      selector: { matchLabels: selector(stack, app) },
      strategy: {
        type: "RollingUpdate",
        rollingUpdate: { maxSurge: overlap ? 1 : 0, maxUnavailable: overlap ? 0 : 1 },
      },
      minReadySeconds: Math.ceil(app.config.minUptimeMs / 1000),
      progressDeadlineSeconds: progressSeconds(app),
      template: pod(stack, app, "Always"),
    },
  };
}

/** Deadline of a rollout: longer than an app may take to become ready. */
function progressSeconds({ config }: App): number {
  return Math.ceil((config.listenTimeoutMs + config.minUptimeMs) / 1000) + 60;
}

function copies(instances: number, autostart: boolean): Manifest {
  const suspend = autostart ? {} : { suspend: true };
  return instances === 1 ? suspend : { parallelism: instances, completions: instances, ...suspend };
}

function cronJob(stack: Stack, app: App, cron: CronConfig): Manifest {
  const { schedule, timezone, overlap, timeoutMs, enabled } = cron;
  const fields = schedule.trim().split(/\s+/);
  const known = cronJobSchedule(schedule);
  const lose = (key: string, text: string) => stack.losses.push({ app: app.name, key, text });
  if (fields.length === 6) lose("cron.schedule", "seconds: a CronJob knows minutes");
  if (known === undefined) lose("cron.schedule", `${schedule}: a CronJob has no L, W and #`);
  if (overlap === "queue") lose("cron.overlap", "queue: a CronJob skips or replaces a run");
  const concurrencyPolicy = overlap === "kill" ? "Replace" : "Forbid";
  return {
    ...head("batch/v1", "CronJob", stack, app),
    spec: {
      schedule: known ?? fields.slice(-5).join(" "),
      ...(timezone === undefined ? {} : { timeZone: timezone }),
      concurrencyPolicy,
      suspend: !enabled || !app.config.autostart,
      jobTemplate: {
        metadata: { labels: labels(stack, app) },
        spec: {
          backoffLimit: 0,
          ...(timeoutMs === undefined
            ? {}
            : { activeDeadlineSeconds: Math.max(1, Math.ceil(timeoutMs / 1000)) }),
          template: pod(stack, app, "Never"),
        },
      },
    },
  };
}

function head(apiVersion: string, kind: string, stack: Stack, app: App) {
  return { apiVersion, kind, metadata: metadata(stack, app) };
}

function pod(stack: Stack, app: App, restartPolicy: string): Manifest {
  const mounts = Object.entries(app.files).map(([key, { inside }]) => ({
    name: "secrets",
    mountPath: inside,
    subPath: key,
    readOnly: true,
  }));
  return {
    metadata: { labels: labels(stack, app) },
    spec: {
      restartPolicy,
      // Variables of Services, such as SHOP_API_PORT, could take the place of those of the file.
      enableServiceLinks: false,
      terminationGracePeriodSeconds: app.graceSeconds,
      containers: [{
        ...container(stack, app),
        ...(mounts.length > 0 && { volumeMounts: mounts }),
      }],
      ...(mounts.length > 0 &&
        { volumes: [{ name: "secrets", secret: { secretName: secretName(stack) } }] }),
    },
  };
}

function container(stack: Stack, app: App): Manifest {
  const env = Object.entries(app.variables).map(([name, needed]) => ({
    name,
    valueFrom: {
      secretKeyRef: { name: secretName(stack), key: name, ...(needed ? {} : { optional: true }) },
    },
  }));
  const { memoryBytes, cpuPercent } = app.config.limits;
  const limits = {
    ...(memoryBytes === undefined ? {} : { memory: String(memoryBytes) }),
    ...(cpuPercent === undefined ? {} : { cpu: `${Math.round(cpuPercent * 10)}m` }),
  };
  return {
    name: app.id,
    image: stack.image,
    command: [PROGRAM],
    args: runWords(stack, app, "engine"),
    ...(Object.keys(app.plain).length > 0 &&
      { envFrom: [{ configMapRef: { name: configMapName(stack, app) } }] }),
    ...(env.length > 0 && { env }),
    ...(app.ports.length > 0 &&
      { ports: app.ports.map((port) => ({ name: `p${port}`, containerPort: port })) }),
    ...(Object.keys(limits).length > 0 && { resources: { limits } }),
    ...(app.config.cron === undefined && probes(app)),
  };
}

/** procsup restarts an unhealthy app. If it stays unhealthy, the kubelet restarts the container. */
function probes({ config }: App): Manifest {
  const exec = { command: PROBE_WORDS };
  const probe = { exec, periodSeconds: PROBE_SECONDS, timeoutSeconds: PROBE_SECONDS };
  const failures = (seconds: number) => ({ failureThreshold: Math.ceil(seconds / PROBE_SECONDS) });
  return {
    startupProbe: { ...probe, ...failures(config.listenTimeoutMs / 1000 + REPLACE_SECONDS) },
    readinessProbe: { ...probe, failureThreshold: 1 },
    livenessProbe: { ...probe, ...failures(REPLACE_SECONDS) },
  };
}
