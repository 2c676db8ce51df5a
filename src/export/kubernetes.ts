/** Kubernetes manifests. */

import type { CronConfig } from "../model/process_config.ts";
import { checksum } from "../platform/state_file.ts";
import { cronJobSchedule } from "./calendar.ts";
import {
  type App,
  lose,
  PROBE_SECONDS,
  PROBE_WORDS,
  PROGRAM,
  REPLACE_SECONDS,
  runWords,
  type Stack,
  unlessEmpty,
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
  return stack.apps.flatMap((app) => {
    const { plain, ports } = app;
    const config = { metadata: metadata(stack, app, checksumOf(plain)), data: plain };
    const service = {
      metadata: metadata(stack, app),
      spec: {
        selector: selector(stack, app),
        ports: ports.map((port) => ({ name: `p${port}`, port, targetPort: port })),
      },
    };
    return [
      ...(unlessEmpty(plain) ? [{ apiVersion: "v1", kind: "ConfigMap", ...config }] : []),
      workload(stack, app),
      ...(unlessEmpty(ports) ? [{ apiVersion: "v1", kind: "Service", ...service }] : []),
    ];
  });
}

/** Part of a name that changes with a value, which replaces the pods that refer to the name. */
function checksumOf(value: unknown): string {
  return `-${checksum(JSON.stringify(value))}`;
}

function nameOf({ name }: Stack, { id }: App): string {
  return `${name}-${id}`;
}

function selector({ name }: Stack, { id }: App): Record<string, string> {
  return { "app.kubernetes.io/name": id, "app.kubernetes.io/instance": name };
}

function labels(stack: Stack, app: App): Record<string, string> {
  return { ...selector(stack, app), "app.kubernetes.io/managed-by": MANAGED_BY };
}

function metadata(stack: Stack, app: App, suffix = ""): Manifest {
  const { tags, namespace } = app.config;
  const taken = Object.entries(app.config.labels).filter(([key]) => ANNOTATION.test(key));
  return {
    name: nameOf(stack, app) + suffix,
    labels: {
      ...labels(stack, app),
      "app.kubernetes.io/part-of": isGroup(namespace) ? namespace : undefined,
    },
    annotations: unlessEmpty({
      ...Object.fromEntries(taken),
      "procsup/tags": tags.length === 0 ? undefined : tags.join(","),
    }),
  };
}

/** True if a namespace becomes a label. */
function isGroup(namespace: string): boolean {
  return namespace !== "default" && LABEL_VALUE.test(namespace);
}

function workload(stack: Stack, app: App): Manifest {
  const { cron, restartPolicy, instances, autostart, overlap, namespace } = app.config;
  if (namespace !== "default" && !isGroup(namespace)) {
    lose(stack, app, "namespace", "no value of a label");
  }
  for (const key of Object.keys(app.config.labels).filter((key) => !ANNOTATION.test(key))) {
    lose(stack, app, `labels.${key}`, "no name of an annotation");
  }
  if (cron !== undefined) return cronJob(stack, app, cron);
  if (restartPolicy === "never") {
    const spec = {
      ...runs(app),
      suspend: autostart ? undefined : true,
      backoffLimit: 0,
      template: pod(stack, app, "Never"),
    };
    // A Job cannot be changed, so a changed one gets another name.
    const meta = metadata(stack, app, checksumOf(spec));
    return { apiVersion: "batch/v1", kind: "Job", metadata: meta, spec };
  }
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: metadata(stack, app),
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

/** A Job runs every copy at the same time. */
function runs({ config: { instances } }: App): Manifest {
  return instances === 1 ? {} : { parallelism: instances, completions: instances };
}

/** Deadline of a rollout: longer than an app may take to become ready. */
function progressSeconds({ config }: App): number {
  return Math.ceil((config.listenTimeoutMs + config.minUptimeMs) / 1000) + 60;
}

function cronJob(stack: Stack, app: App, cron: CronConfig): Manifest {
  const { schedule, timezone, overlap, timeoutMs, enabled } = cron;
  const fields = schedule.trim().split(/\s+/);
  const known = cronJobSchedule(schedule);
  const loseCron = (key: string, text: string) => lose(stack, app, `cron.${key}`, text);
  if (fields.length === 6) loseCron("schedule", "seconds: a CronJob knows minutes");
  if (known === undefined) loseCron("schedule", `${schedule}: a CronJob has no L, W and #`);
  if (overlap === "queue") loseCron("overlap", "queue: a CronJob skips or replaces a run");
  return {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: metadata(stack, app),
    spec: {
      schedule: known ?? fields.slice(-5).join(" "),
      timeZone: timezone,
      concurrencyPolicy: overlap === "kill" ? "Replace" : "Forbid",
      suspend: !enabled || !app.config.autostart,
      jobTemplate: {
        metadata: { labels: labels(stack, app) },
        spec: {
          ...runs(app),
          backoffLimit: 0,
          activeDeadlineSeconds: timeoutMs && Math.ceil(timeoutMs / 1000),
          template: pod(stack, app, "Never"),
        },
      },
    },
  };
}

function pod(stack: Stack, app: App, restartPolicy: string): Manifest {
  const mounts = Object.entries(app.files).map(([key, { inside }]) => (
    { name: "secrets", mountPath: inside, subPath: key, readOnly: true }
  ));
  const volume = { name: "secrets", secret: { secretName: secretName(stack) } };
  return {
    metadata: { labels: labels(stack, app) },
    spec: {
      restartPolicy,
      // Variables of Services, such as SHOP_API_PORT, could take the place of those of the file.
      enableServiceLinks: false,
      terminationGracePeriodSeconds: app.graceSeconds,
      containers: [{ ...container(stack, app), volumeMounts: unlessEmpty(mounts) }],
      volumes: unlessEmpty(mounts) && [volume],
    },
  };
}

function container(stack: Stack, app: App): Manifest {
  const { plain, ports, variables, config: { cron, limits } } = app;
  const configMap = nameOf(stack, app) + checksumOf(plain);
  const env = Object.entries(variables).map(([key, needed]) => {
    const optional = needed ? undefined : true;
    return { name: key, valueFrom: { secretKeyRef: { name: secretName(stack), key, optional } } };
  });
  const max = unlessEmpty({
    memory: limits.memoryBytes === undefined ? undefined : String(limits.memoryBytes),
    cpu: limits.cpuPercent === undefined ? undefined : `${Math.round(limits.cpuPercent * 10)}m`,
  });
  return {
    name: app.id,
    image: stack.image,
    command: [PROGRAM],
    args: runWords(stack, app, "engine"),
    envFrom: unlessEmpty(plain) && [{ configMapRef: { name: configMap } }],
    env: unlessEmpty(env),
    ports: unlessEmpty(ports.map((port) => ({ name: `p${port}`, containerPort: port }))),
    resources: max && { limits: max },
    ...(cron === undefined && probes(app)),
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
