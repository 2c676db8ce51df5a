/** Derives rollouts, copies and reasons of a stack from its Kubernetes objects. */

import { type Copy, unknownApp } from "./backend.ts";
import type { Progress } from "./settle.ts";

/** Any object. */
export interface Item {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly generation?: number;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly { readonly kind: string; readonly uid: string }[];
    readonly deletionTimestamp?: string;
  };
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** The template of pods. */
export interface PodTemplate {
  readonly spec: {
    readonly containers: readonly {
      readonly image: string;
      readonly envFrom?: readonly { readonly configMapRef: { readonly name: string } }[];
    }[];
  };
}

/** A Deployment, or a ReplicaSet, which is one revision of a Deployment. */
export interface Deployment extends Item {
  readonly spec: { readonly replicas: number; readonly template: PodTemplate };
  readonly status: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
    readonly conditions?: readonly Condition[];
  };
}

interface Job extends Item {
  readonly spec: {
    readonly parallelism?: number;
    readonly suspend?: boolean;
    readonly template: PodTemplate;
  };
  readonly status: { readonly conditions?: readonly Condition[] };
}

interface CronJob extends Item {
  readonly spec: {
    readonly schedule: string;
    readonly suspend?: boolean;
    readonly jobTemplate: { readonly spec: { readonly template: PodTemplate } };
  };
  readonly status: { readonly lastScheduleTime?: string };
}

interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly terminated?: { readonly reason?: string; readonly exitCode: number };
}

/** A pod: a current or former copy of an app. */
export interface Pod extends Item {
  readonly spec: PodTemplate["spec"] & { readonly nodeName?: string };
  readonly status: {
    readonly phase: string;
    readonly reason?: string;
    readonly message?: string;
    readonly conditions?: readonly Condition[];
    readonly containerStatuses?: readonly {
      readonly containerID?: string;
      readonly restartCount: number;
      readonly state: ContainerState;
      readonly lastState: ContainerState;
    }[];
  };
}

/** Something that happened to an object. */
export interface Event extends Item {
  readonly involvedObject: { readonly kind: string; readonly uid: string; readonly name: string };
  readonly reason: string;
  readonly message: string;
  readonly count?: number | null;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
}

/** Reasons why a Job will never start. (A Deployment has a deadline.) */
const STUCK = new Set([
  "CreateContainerConfigError",
  "ErrImageNeverPull",
  "FailedCreate",
  "ImagePullBackOff",
  "InvalidImageName",
]);

/** Maximum events in an explanation. */
const MAX_EVENTS = 20;

/** Events that every pod has. */
const ROUTINE =
  /^(Scheduled|Pulling|Pulled|Created|Started|Successful(Create|Delete)|Completed|SawCompletedJob)$/;

/** The workloads of a stack, with their pods. */
export class Workloads {
  readonly deployments: readonly Deployment[];
  readonly replicaSets: readonly Deployment[];
  readonly cronJobs: readonly CronJob[];
  readonly pods: readonly Pod[];
  readonly #jobs: readonly Job[];
  readonly #stack: string;
  readonly #items: readonly Item[];
  readonly #warnings: readonly Event[];

  constructor(stack: string, items: readonly Item[], warnings: readonly Event[] = []) {
    const of = <T>(kind: string) => items.filter((item) => item.kind === kind) as unknown as T[];
    this.#stack = stack;
    this.#items = items;
    this.#warnings = warnings.toSorted(newestFirst);
    this.deployments = of("Deployment");
    this.replicaSets = of("ReplicaSet");
    this.pods = of("Pod");
    this.#jobs = of("Job");
    this.cronJobs = of("CronJob");
  }

  /** A copy with warnings, which give reasons. */
  with(warnings: readonly Event[]): Workloads {
    return new Workloads(this.#stack, this.#items, warnings);
  }

  apps(): string[] {
    return this.#own().map(appOf);
  }

  /** The workload of an app. Throws `process_not_found`. */
  find(app: string): Item {
    const found = this.#own().find((item) => appOf(item) === app);
    if (found !== undefined) return found;
    throw unknownApp(this.#stack, app, this.apps());
  }

  deployment(app: string): Deployment | undefined {
    return this.deployments.find((deployment) => appOf(deployment) === app);
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

  /** The progress of each app. */
  rollouts(): Progress[] {
    return [
      ...this.deployments.map((one) => ({ app: appOf(one), ...this.#deploymentProgress(one) })),
      ...this.#ownJobs().map((job) => ({ app: appOf(job), ...this.#jobProgress(job) })),
      ...this.cronJobs.map((one) => ({ app: appOf(one), ok: true, text: scheduleOf(one) })),
    ];
  }

  /** The pods that have not ended, and the workloads without such pods. */
  copies(only?: string): Copy[] {
    const pods = this.pods.filter((pod) => !hasEnded(pod));
    const has = (item: Item) => pods.some((pod) => appOf(pod) === appOf(item));
    return [
      ...pods.map((pod) => this.#copy(pod)),
      ...this.deployments.filter((one) => one.spec.replicas > 0 && !has(one))
        .map((one) => this.#withoutPod(one, one.spec.template, this.#deploymentProgress(one))),
      ...this.#ownJobs().filter((job) => !has(job))
        .map((job) => this.#withoutPod(job, job.spec.template, this.#jobProgress(job))),
      ...this.cronJobs.map((one) => {
        const { lastScheduleTime } = one.status;
        return {
          ...this.#withoutPod(one, one.spec.jobTemplate.spec.template, {
            ...{ ok: true, text: scheduleOf(one) },
          }),
          reason: lastScheduleTime === undefined ? "" : `last run ${lastScheduleTime}`,
        };
      }),
    ].filter(({ app }) => only === undefined || app === only);
  }

  /** What happened to an app and its earlier pods, newest first. */
  history(app: string, events: readonly Event[]): string[] {
    const items = this.#items.filter((item) => appOf(item) === app);
    const makers = items.filter(({ kind }) => kind === "ReplicaSet" || kind === "Job");
    const own = events.filter(({ reason, involvedObject: { uid, name } }) =>
      !ROUTINE.test(reason) && (items.some(({ metadata }) => metadata.uid === uid) ||
        // Events of deleted pods.
        makers.some(({ metadata }) => name.startsWith(`${metadata.name}-`)))
    );
    const conditions = this.deployment(app)?.status.conditions ?? [];
    return [
      ...conditions.filter(isBad).map(({ reason, message }) => `${reason}: ${message}`),
      ...(items as Pod[]).filter(({ kind }) => kind === "Pod").flatMap((pod) => {
        const why = exitOf(pod);
        const where = `${this.#short(pod)} on ${pod.spec.nodeName ?? "-"}`;
        return why === "" ? [] : [`${where}: ${why}`];
      }),
      ...own.toSorted(newestFirst).slice(0, MAX_EVENTS).map((event) => {
        const { involvedObject: { kind, name }, count } = event;
        const times = (count ?? 1) > 1 ? ` (${count} times)` : "";
        return `${kind} ${name}: ${textOf(event)}${times}`;
      }),
    ];
  }

  /** Ids of objects that are not ready and give no reason. */
  silent(): Set<string> {
    const pods = this.pods.filter((pod) => !hasEnded(pod) && !isReady(pod) && reasonOf(pod) === "");
    const jobs = this.#jobs.filter((job) =>
      endOf(job) === undefined && !this.#podsOf(job).some((pod) => !hasEnded(pod))
    );
    return new Set([...pods, ...jobs].map(({ metadata }) => metadata.uid));
  }

  /** All workloads of the file. */
  #own(): Item[] {
    return [...this.deployments, ...this.#ownJobs(), ...this.cronJobs];
  }

  /** Jobs of the file; the others are runs of a CronJob. */
  #ownJobs(): Job[] {
    return this.#jobs.filter(({ metadata }) => metadata.ownerReferences === undefined);
  }

  #podsOf(owner: Item | undefined): Pod[] {
    return this.pods.filter((pod) => isOwned(pod, owner));
  }

  #deploymentProgress(deployment: Deployment): Omit<Progress, "app"> {
    const { metadata: { generation = 0 }, spec: { replicas }, status } = deployment;
    if ((status.observedGeneration ?? 0) < generation) return { ok: undefined, text: "applied" };
    const current = this.replicaSets.find((set) =>
      isOwned(set, deployment) && revisionOf(set) === revisionOf(deployment)
    );
    const pods = this.#podsOf(current);
    const text = `${pods.filter(isReady).length} of ${replicas} ready`;
    if (isComplete(deployment)) return { ok: true, text };
    const bad = status.conditions?.filter(isBad) ?? [];
    const isLate = bad.some(({ type }) => type === "Progressing");
    const refused = bad.find(({ type }) => type === "ReplicaFailure")?.message;
    const why = refused ?? (this.#firstReason(pods) || (isLate ? bad[0]!.message! : ""));
    return { ok: isLate ? false : undefined, text: why === "" ? text : `${text}: ${why}` };
  }

  #jobProgress(job: Job): Omit<Progress, "app"> {
    const pods = this.#podsOf(job);
    const end = endOf(job);
    if (end?.type === "Complete") return { ok: true, text: "complete" };
    if (end !== undefined) {
      const why = pods.map(exitOf).find(Boolean) ?? end.message;
      return { ok: false, text: `${end.reason}: ${why}` };
    }
    if (job.spec.suspend === true) return { ok: true, text: "suspended" };
    const count = job.spec.parallelism ?? 1;
    const text = `${pods.filter(isReady).length} of ${count} running`;
    if (pods.filter((pod) => isReady(pod) || hasEnded(pod)).length >= count) {
      return { ok: true, text };
    }
    const why = this.#firstReason(pods) || textOf(this.#warningOf(job));
    const reasons = [...pods.map(waitingReason), this.#warningOf(job)?.reason];
    const isStuck = reasons.some((reason) => STUCK.has(reason ?? ""));
    return { ok: isStuck ? false : undefined, text: why === "" ? text : `${text}: ${why}` };
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
      ...{ name: this.#short(pod), app: appOf(pod), state: stateOf(pod), ready },
      node: pod.spec.nodeName ?? "-",
      image: pod.spec.containers[0]!.image,
      reason: ready ? exitOf(pod) : this.#reason(pod),
    };
  }

  #withoutPod(item: Item, template: PodTemplate, { ok, text }: Omit<Progress, "app">): Copy {
    const [state, ...reason] = text.split(": ");
    return {
      ...{ name: appOf(item), app: appOf(item), state: state!, ready: ok === true, node: "-" },
      image: template.spec.containers[0]!.image,
      reason: reason.join(": "),
    };
  }

  /** The name without the stack name. */
  #short({ metadata: { name } }: Item): string {
    return name.slice(this.#stack.length + 1);
  }
}

/** The revision of a Deployment or a ReplicaSet. */
export function revisionOf({ metadata: { annotations = {} } }: Item): string {
  return annotations["deployment.kubernetes.io/revision"] ?? "";
}

/** The manifest that `kubectl apply` was given. */
export function appliedOf({ metadata: { annotations = {} } }: Item): string {
  return annotations["kubectl.kubernetes.io/last-applied-configuration"] ?? "";
}

/** The app that an object belongs to. */
export function appOf({ metadata: { labels = {} } }: Item): string {
  return labels["app.kubernetes.io/name"] ?? "";
}

function isOwned({ metadata: { ownerReferences = [] } }: Item, owner: Item | undefined): boolean {
  return ownerReferences.some(({ uid }) => uid === owner?.metadata.uid);
}

function isComplete({ metadata, spec: { replicas }, status }: Deployment): boolean {
  const { observedGeneration = 0, updatedReplicas, availableReplicas } = status;
  return observedGeneration >= (metadata.generation ?? 0) &&
    [status.replicas, updatedReplicas, availableReplicas].every((one) => (one ?? 0) === replicas);
}

/** True for a condition that means failure. */
function isBad({ type, status }: Condition): boolean {
  return type === "ReplicaFailure"
    ? status === "True"
    : status === "False" && type === "Progressing";
}

function endOf({ status: { conditions = [] } }: Job): Condition | undefined {
  return conditions.find(({ type, status }) =>
    /^(Complete|Failed)$/.test(type) && status === "True"
  );
}

function scheduleOf({ spec: { suspend, schedule } }: CronJob): string {
  return suspend === true ? "suspended" : `scheduled ${schedule}`;
}

function hasEnded({ status: { phase } }: Pod): boolean {
  return phase === "Succeeded" || phase === "Failed";
}

function isReady({ metadata: { deletionTimestamp }, status: { conditions = [] } }: Pod): boolean {
  return deletionTimestamp === undefined &&
    conditions.some(({ type, status }) => type === "Ready" && status === "True");
}

function waitingReason({ status: { containerStatuses } }: Pod): string | undefined {
  return containerStatuses?.[0]?.state.waiting?.reason;
}

/** The state of a pod, as in `kubectl get pods`. */
function stateOf(pod: Pod): string {
  const { metadata: { deletionTimestamp }, status: { phase, containerStatuses } } = pod;
  if (deletionTimestamp !== undefined) return "Terminating";
  const { waiting, terminated } = containerStatuses?.[0]?.state ?? {};
  const state = waiting?.reason ?? terminated?.reason ?? phase;
  return state === "Running" && !isReady(pod) ? "Running (not ready)" : state;
}

/** Why a pod is not ready, from its own status. */
function reasonOf(pod: Pod): string {
  const { reason, message, conditions = [], containerStatuses } = pod.status;
  const unscheduled = conditions.find(({ type, status }) =>
    type === "PodScheduled" && status === "False"
  );
  if (unscheduled !== undefined) return `${unscheduled.reason}: ${unscheduled.message}`;
  const waiting = containerStatuses?.[0]?.state.waiting;
  const why = waiting?.reason === "CrashLoopBackOff" ? exitOf(pod) : waiting?.message;
  if (waiting !== undefined && why) return `${waiting.reason}: ${why}`;
  return exitOf(pod) || (reason === undefined ? "" : `${reason}: ${message}`);
}

/** The last exit of its container, if that failed. */
function exitOf({ status: { containerStatuses } }: Pod): string {
  const { state, lastState, restartCount = 0 } = containerStatuses?.[0] ?? {};
  const { exitCode = 0, reason } = state?.terminated ?? lastState?.terminated ?? {};
  if (exitCode === 0) return "";
  const how = reason === undefined || reason === "Error" ? "" : ` (${reason})`;
  const restarts = restartCount === 0
    ? ""
    : restartCount === 1
    ? ", 1 restart"
    : `, ${restartCount} restarts`;
  return `exit code ${exitCode}${how}${restarts}`;
}

function textOf(event: Event | undefined): string {
  return event === undefined ? "" : `${event.reason}: ${event.message.trim()}`;
}

function newestFirst(a: Event, b: Event): number {
  return timeOf(b) - timeOf(a);
}

function timeOf({ lastTimestamp, eventTime }: Event): number {
  return Date.parse(lastTimestamp ?? eventTime ?? "") || 0;
}
