/** Derives rollouts, copies and reasons of a stack from its Kubernetes objects. */

import type { IDeployment } from "kubernetes-models/apps/v1/Deployment";
import type { ICronJob } from "kubernetes-models/batch/v1/CronJob";
import type { IJob } from "kubernetes-models/batch/v1/Job";
import type { IEvent } from "kubernetes-models/v1/Event";
import type { IPod } from "kubernetes-models/v1/Pod";
import { type Copy, type Progress, restartsText, shortName, withoutCopies } from "./backend.ts";

type Meta = Required<IPod>["metadata"];

/** Any object. Each has a name and an id. */
export interface Item {
  readonly kind: string;
  readonly metadata: Meta & Required<Pick<Meta, "name" | "uid">>;
}

type Part<K extends "spec" | "status"> =
  & Required<IDeployment>[K]
  & Required<IJob>[K]
  & Required<ICronJob>[K];

/** A Deployment, Job or CronJob, or a ReplicaSet, which is one revision of a Deployment. */
export interface Workload extends Item {
  readonly spec: Partial<Part<"spec">>;
  readonly status: Part<"status">;
}

/** A current or former copy of an app. */
type Pod = Item & Required<IPod>;

export type Event = Item & IEvent;

/** Reasons why a Job will never start. (A Deployment has a deadline.) */
const STUCK = new Set([
  "CreateContainerConfigError",
  "ErrImageNeverPull",
  "FailedCreate",
  "ImagePullBackOff",
  "InvalidImageName",
]);

const MAX_EVENTS = 20;

/** Events that say nothing about an app. The cluster repeats those of DNS for every pod. */
const ROUTINE = new RegExp(
  "^(Scheduled|Pulling|Pulled|Created|Started|Successful(Create|Delete)|Completed|" +
    "SawCompletedJob|DNSConfigForming|MissingClusterDNS)$",
);

type State = Omit<Progress, "app">;

/** The workloads of a stack, with their pods. */
export class Workloads {
  readonly deployments: readonly Workload[];
  readonly replicaSets: readonly Workload[];
  readonly cronJobs: readonly Workload[];
  readonly pods: readonly Pod[];
  /** The workloads of the file. A job that something owns is a run of a CronJob. */
  readonly own: readonly Workload[];
  readonly #jobs: readonly Workload[];
  readonly #items: readonly Item[];
  readonly #warnings: readonly Event[];

  constructor(items: readonly Item[], warnings: readonly Event[] = []) {
    const of = <T = Workload>(kind: string) => items.filter((item) => item.kind === kind) as T[];
    this.#items = items;
    this.#warnings = relevant(warnings);
    this.deployments = of("Deployment");
    this.replicaSets = of("ReplicaSet");
    this.pods = of<Pod>("Pod");
    this.#jobs = of("Job");
    this.cronJobs = of("CronJob");
    const jobs = this.#jobs.filter(({ metadata }) => metadata.ownerReferences === undefined);
    this.own = [...this.deployments, ...jobs, ...this.cronJobs];
  }

  /** A copy with warnings, which give reasons. */
  with(warnings: readonly Event[]): Workloads {
    return new Workloads(this.#items, warnings);
  }

  /** App → revision, for each Deployment whose copies are all available. */
  completeRevisions(): Map<string, string> {
    const complete = this.deployments.filter(isComplete);
    return new Map(complete.map((deployment) => [appOf(deployment), revisionOf(deployment)]));
  }

  /** New runs of CronJobs that have not ended. */
  runsSince(before: Workloads, cronJobs: readonly Item[]): Item[] {
    const old = new Set(before.#jobs.map(({ metadata }) => metadata.uid));
    return this.#jobs.filter((job) =>
      !old.has(job.metadata.uid) && endOf(job) === undefined &&
      cronJobs.some((one) => isOwned(job, one))
    );
  }

  rollouts(): Progress[] {
    return this.own.map((workload) => ({ app: appOf(workload), ...this.#stateOf(workload) }));
  }

  /** The pods that have not ended, and the workloads without such pods. */
  copies(only?: string): Copy[] {
    const pods = this.pods.filter((pod) => !hasEnded(pod));
    const running = new Set(pods.map(appOf));
    const idle = this.own.filter((workload) =>
      workload.kind === "CronJob" || !running.has(appOf(workload))
    );
    return [...pods.map((pod) => this.#copy(pod)), ...idle.map((one) => this.#withoutPod(one))]
      .filter(({ app }) => only === undefined || app === only);
  }

  /** What happened to an app and its earlier pods, newest first. */
  history(app: string, events: readonly Event[]): string[] {
    const items = this.#items.filter((item) => appOf(item) === app);
    const makers = items.filter(({ kind }) => kind === "ReplicaSet" || kind === "Job");
    const own = relevant(events).filter(({ involvedObject: { uid, name = "" } }) =>
      items.some(({ metadata }) => metadata.uid === uid) ||
      // Events of deleted pods.
      makers.some(({ metadata }) => name.startsWith(`${metadata.name}-`))
    );
    const deployments = this.deployments.filter((one) => appOf(one) === app);
    const failures = deployments.flatMap((one) => [
      conditionOf(one, "Progressing", "False"),
      conditionOf(one, "ReplicaFailure"),
    ]).filter((condition) => condition !== undefined);
    return [
      ...failures.map(({ reason, message }) => `${reason}: ${message}`),
      ...(items as Pod[]).filter(({ kind }) => kind === "Pod").flatMap((pod) => {
        const why = exitOf(pod);
        const where = `${shortOf(pod)} on ${pod.spec.nodeName ?? "-"}`;
        return why === "" ? [] : [`${where}: ${why}`];
      }),
      ...own.slice(0, MAX_EVENTS).map((event) => {
        const { involvedObject: { kind, name }, count } = event;
        const times = (count ?? 1) > 1 ? ` (${count} times)` : "";
        return `${kind} ${name}: ${textOf(event)}${times}`;
      }),
    ];
  }

  /** Ids of objects that are not ready and give no reason. */
  silent(): ReadonlySet<string | undefined> {
    const pods = this.pods.filter((pod) => !hasEnded(pod) && !isReady(pod) && reasonOf(pod) === "");
    const jobs = this.#jobs.filter((job) =>
      endOf(job) === undefined && !this.#podsOf(job).some((pod) => !hasEnded(pod))
    );
    return new Set([...pods, ...jobs].map(({ metadata }) => metadata.uid));
  }

  #podsOf(owner: Item | undefined): Pod[] {
    return this.pods.filter((pod) => isOwned(pod, owner));
  }

  #stateOf(workload: Workload): State {
    if (workload.kind === "Deployment") return this.#deploymentState(workload);
    if (workload.kind === "Job") return this.#jobState(workload);
    const { suspend, schedule } = workload.spec;
    return { ok: true, state: suspend === true ? "suspended" : `scheduled ${schedule}` };
  }

  #deploymentState(deployment: Workload): State {
    const { metadata: { generation = 0 }, spec: { replicas }, status } = deployment;
    if ((status.observedGeneration ?? 0) < generation) return { ok: undefined, state: "applied" };
    const current = this.replicaSets.find((set) =>
      isOwned(set, deployment) && revisionOf(set) === revisionOf(deployment)
    );
    const pods = this.#podsOf(current);
    const state = `${pods.filter(isReady).length} of ${replicas} ready`;
    if (isComplete(deployment)) return { ok: true, state };
    const late = conditionOf(deployment, "Progressing", "False");
    const refused = conditionOf(deployment, "ReplicaFailure");
    const reason = refused?.message ?? (this.#firstReason(pods) || late?.message);
    return { ok: late === undefined ? undefined : false, state, reason };
  }

  #jobState(job: Workload): State {
    const pods = this.#podsOf(job);
    const end = endOf(job);
    if (end?.type === "Complete") return { ok: true, state: "complete" };
    if (end !== undefined) {
      const reason = pods.map(exitOf).find(Boolean) ?? end.message;
      return { ok: false, state: end.reason ?? end.type, reason };
    }
    if (job.spec.suspend === true) return { ok: true, state: "suspended" };
    const count = job.spec.parallelism ?? 1;
    const state = `${pods.filter(isReady).length} of ${count} running`;
    if (pods.filter((pod) => isReady(pod) || hasEnded(pod)).length >= count) {
      return { ok: true, state };
    }
    const warning = this.#warningOf(job);
    const reasons = [...pods.map((pod) => containerOf(pod)?.state?.waiting), warning];
    const isStuck = reasons.some((one) => STUCK.has(one?.reason ?? ""));
    const reason = this.#firstReason(pods) || textOf(warning);
    return { ok: isStuck ? false : undefined, state, reason };
  }

  #firstReason(pods: readonly Pod[]): string {
    return pods.filter((pod) => !isReady(pod)).map((pod) => this.#reason(pod)).find(Boolean) ?? "";
  }

  #reason(pod: Pod): string {
    return reasonOf(pod) || textOf(this.#warningOf(pod));
  }

  #warningOf({ metadata: { uid } }: Item): Event | undefined {
    return this.#warnings.find(({ involvedObject }) => involvedObject.uid === uid);
  }

  #copy(pod: Pod): Copy {
    const ready = isReady(pod);
    return {
      ...{ name: shortOf(pod), app: appOf(pod), state: stateOf(pod), ready },
      node: pod.spec.nodeName ?? "-",
      image: imageOf(pod, pod.spec),
      reason: ready ? exitOf(pod) : this.#reason(pod),
    };
  }

  #withoutPod(workload: Workload): Copy {
    const row = withoutCopies(appOf(workload), imageOf(workload, podTemplateOf(workload)));
    if (workload.spec.replicas === 0) return row;
    const { ok, state, reason = "" } = this.#stateOf(workload);
    const { lastScheduleTime } = workload.status;
    const last = lastScheduleTime === undefined ? reason : `last run ${lastScheduleTime}`;
    return { ...row, state, ready: ok === true, reason: last };
  }
}

export function podTemplateOf({ spec }: Workload): Pod["spec"] {
  return (spec.jobTemplate?.spec ?? spec).template!.spec!;
}

function imageOf(item: Item, { containers }: Pod["spec"]): string {
  return containers.find(({ name }) => name === appOf(item))?.image ?? "-";
}

/** The revision of a Deployment or a ReplicaSet. */
export function revisionOf({ metadata: { annotations = {} } }: Item): string {
  return annotations["deployment.kubernetes.io/revision"] ?? "";
}

/** The manifest that `kubectl apply` was given. */
export function appliedOf({ metadata: { annotations = {} } }: Item): string {
  return annotations["kubectl.kubernetes.io/last-applied-configuration"] ?? "";
}

export function appOf({ metadata: { labels = {} } }: Item): string {
  return labels["app.kubernetes.io/name"] ?? "";
}

function shortOf({ metadata: { name, labels = {} } }: Item): string {
  return shortName(labels["app.kubernetes.io/instance"] ?? "", name);
}

function isOwned({ metadata: { ownerReferences = [] } }: Item, owner: Item | undefined): boolean {
  return ownerReferences.some(({ uid }) => uid === owner?.metadata.uid);
}

function isComplete({ metadata, spec: { replicas }, status }: Workload): boolean {
  const { observedGeneration = 0, updatedReplicas, availableReplicas } = status;
  return observedGeneration >= (metadata.generation ?? 0) &&
    [status.replicas, updatedReplicas, availableReplicas].every((one) => (one ?? 0) === replicas);
}

/** The condition of an object, if it has the status. */
function conditionOf({ status }: Workload | Pod, type: string, value = "True") {
  return status.conditions?.find((one) => one.type === type && one.status === value);
}

function endOf(job: Workload) {
  return conditionOf(job, "Complete") ?? conditionOf(job, "Failed");
}

function hasEnded({ status: { phase } }: Pod): boolean {
  return phase === "Succeeded" || phase === "Failed";
}

function isReady(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp === undefined && conditionOf(pod, "Ready") !== undefined;
}

/** The status of the app's container. A cluster may add others, such as a proxy. */
export function containerOf(pod: Pod) {
  return pod.status.containerStatuses?.find(({ name }) => name === appOf(pod));
}

/** The state of a pod, as in `kubectl get pods`. */
function stateOf(pod: Pod): string {
  if (pod.metadata.deletionTimestamp !== undefined) return "Terminating";
  const { waiting, terminated } = containerOf(pod)?.state ?? {};
  const state = waiting?.reason ?? terminated?.reason ?? pod.status.phase ?? "Unknown";
  return state === "Running" && !isReady(pod) ? "Running (not ready)" : state;
}

/** Why a pod is not ready, from its own status. */
function reasonOf(pod: Pod): string {
  const { reason, message } = pod.status;
  const unscheduled = conditionOf(pod, "PodScheduled", "False");
  if (unscheduled !== undefined) return `${unscheduled.reason}: ${unscheduled.message}`;
  const waiting = containerOf(pod)?.state?.waiting;
  const why = waiting?.reason === "CrashLoopBackOff" ? exitOf(pod) : waiting?.message;
  if (waiting !== undefined && why) return `${waiting.reason}: ${why}`;
  return exitOf(pod) || (reason === undefined ? "" : `${reason}: ${message}`);
}

/** The last exit of its container, if that failed. */
function exitOf(pod: Pod): string {
  const { state, lastState, restartCount = 0 } = containerOf(pod) ?? {};
  const { exitCode = 0, reason } = state?.terminated ?? lastState?.terminated ?? {};
  if (exitCode === 0) return "";
  const how = reason === undefined || reason === "Error" ? "" : ` (${reason})`;
  return [`exit code ${exitCode}${how}`, restartsText(restartCount)].filter(Boolean).join(", ");
}

function textOf(event: Event | undefined): string {
  // A failed probe that printed nothing has a message that ends with a colon.
  return event === undefined ? "" : `${event.reason}: ${event.message?.trim().replace(/:$/, "")}`;
}

/** The events about apps, newest first. */
function relevant(events: readonly Event[]): Event[] {
  return events.filter(({ reason = "" }) => !ROUTINE.test(reason))
    .toSorted((a, b) => timeOf(b) - timeOf(a));
}

function timeOf({ lastTimestamp, eventTime }: Event): number {
  return Date.parse(lastTimestamp ?? eventTime ?? "") || 0;
}
