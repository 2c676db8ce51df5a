/** The Kubernetes backend, which runs `kubectl`. */

import { ProcsupError } from "../../model/errors.ts";
import { sleep } from "../../platform/clock.ts";
import { Client } from "../client.ts";
import type { Exported } from "../export_stack.ts";
import { MANAGED_BY } from "../kubernetes.ts";
import {
  Backend,
  type Copy,
  type Explanation,
  type LogFlags,
  POLL_MS,
  type Rollout,
} from "./backend.ts";
import {
  appliedOf,
  appOf,
  containerOf,
  type Event,
  type Item,
  podTemplateOf,
  revisionOf,
  type Workload,
  Workloads,
} from "./kubernetes_objects.ts";

const OWN_KINDS = "deployments,jobs,cronjobs,services,configmaps";

const WORKLOADS = "deployments,replicasets,jobs,cronjobs,pods";

export class Kubernetes extends Backend {
  readonly #selector =
    `app.kubernetes.io/instance=${this.stack},app.kubernetes.io/managed-by=${MANAGED_BY}`;
  readonly #kubectl = new Client("kubectl", {
    context: this.place.context,
    namespace: this.place.namespace,
  }, this.place.signal);

  async up({ files: [file] }: Exported): Promise<Rollout[]> {
    await this.#refuseForeign(file!.text);
    let applied: readonly Item[] = [];
    const rollouts = await this.#changed(undefined, async () => {
      applied = await this.#items(["apply", "-f", "-"], file!.text);
      await this.#prune("deployments,jobs,cronjobs,services", applied);
    });
    await this.#prune("configmaps", applied, await this.#configMapsInUse());
    return rollouts;
  }

  async list(): Promise<Copy[]> {
    return (await this.#workloads()).copies();
  }

  async logs(apps: readonly string[], { follow, lines, print }: LogFlags): Promise<number> {
    let workloads = await this.#workloads();
    for (const app of apps) this.#find(app, workloads);
    // Keys are container ids: a restarted container gets another one.
    const shown = new Map<string, Promise<number>>();
    const lost = new Map<string, string>();
    for (let tail = lines;; tail = -1) {
      for (const pod of workloads.pods) {
        const { name, deletionTimestamp } = pod.metadata;
        const id = containerOf(pod)?.containerID;
        const isMeant = apps.length === 0 || apps.includes(appOf(pod));
        if (!isMeant || !id || shown.has(id) || deletionTimestamp !== undefined) continue;
        const from = lost.get(id) ?? `--tail=${tail}`;
        const which = [`--container=${appOf(pod)}`, "--prefix", from];
        const words = ["logs", ...follow ? ["--follow"] : [], ...which, name];
        const ended = this.#kubectl.relayed(words, print);
        shown.set(id, ended);
        if (follow) {
          void ended.then(async (code) => {
            if (code === 0) return;
            // The connection is lost, not the container.
            lost.set(id, `--since-time=${new Date().toISOString()}`);
            await sleep(POLL_MS);
            shown.delete(id);
          });
        }
      }
      if (!follow) return Math.max(0, ...await Promise.all(shown.values()));
      await sleep(POLL_MS);
      workloads = await this.patiently(() => this.#workloads());
    }
  }

  async why(app: string): Promise<Explanation> {
    const workloads = await this.#workloads();
    this.#find(app, workloads);
    const events = await this.#items<Event>(["get", "events"]);
    return { copies: workloads.copies(app), history: workloads.history(app, events) };
  }

  async scale(app: string, copies: (now: number) => number): Promise<Rollout[]> {
    const { metadata: { name }, spec: { replicas } } = await this.#deployment(app);
    const count = `--replicas=${copies(replicas ?? 0)}`;
    return await this.#changed(
      app,
      () => this.#kubectl.output(["scale", `deployment/${name}`, count]),
    );
  }

  async reload(app: string): Promise<Rollout[]> {
    const name = `deployment/${(await this.#deployment(app)).metadata.name}`;
    return await this.#changed(app, () => this.#kubectl.output(["rollout", "restart", name]));
  }

  async down(): Promise<string[]> {
    const apps = (await this.#workloads()).own.map(appOf);
    // With this, the command ends when every pod has ended.
    const words = ["--selector", this.#selector, "--cascade=foreground"];
    await this.#kubectl.output(["delete", OWN_KINDS, ...words]);
    return apps;
  }

  /** Makes a change to one app, or all; waits for the rollouts, and rolls back those that fail. */
  async #changed(app: string | undefined, change: () => Promise<unknown>): Promise<Rollout[]> {
    const before = await this.#workloads();
    await change();
    const rollouts = await this.#rollouts(app);
    const isGood = app !== undefined || rollouts.every(({ ok }) => ok);
    const others = isGood ? [] : await this.#cronJobsTakenBack(before);
    const good = before.completeRevisions();
    return await Promise.all(rollouts.map((rollout) => {
      if (!rollout.ok) return this.#takenBack(rollout, good);
      if (!others.includes(rollout.app)) return rollout;
      return { ...rollout, ok: false, text: "rolled back, as other apps failed" };
    }));
  }

  /** Waits for the rollouts of all apps, or of one. */
  async #rollouts(only?: string): Promise<Rollout[]> {
    return await this.settled(async () => {
      const rollouts = (await this.#workloads()).rollouts();
      return rollouts.filter(({ app }) => only === undefined || app === only);
    });
  }

  /** Rolls back to the last complete revision, if the change has made a new one. */
  async #takenBack(failed: Rollout, good: ReadonlyMap<string, string>): Promise<Rollout> {
    const { app, text } = failed;
    const before = good.get(app);
    const now = (await this.#workloads()).deployments.find((one) => appOf(one) === app);
    if (now === undefined || before === undefined || revisionOf(now) === before) return failed;
    const name = `deployment/${now.metadata.name}`;
    await this.#kubectl.output(["rollout", "undo", name, `--to-revision=${before}`]);
    const [undone] = await this.#rollouts(app);
    const end = undone?.ok ? "rolled back" : `rollback failed: ${undone?.text}`;
    return { app, ok: false, text: `${end}, ${text}` };
  }

  /**
   * Rolls back CronJobs with the other apps, as they show failures only later. Removes runs of the
   * failed release: one may wait for its image for ever, and block the next run.
   */
  async #cronJobsTakenBack(before: Workloads): Promise<string[]> {
    const now = await this.#workloads();
    const changed = before.cronJobs.filter((old) => {
      const one = now.cronJobs.find(({ metadata }) => metadata.uid === old.metadata.uid);
      return one !== undefined && appliedOf(one) !== appliedOf(old);
    });
    for (const old of changed) {
      await this.#kubectl.output(["apply", "-f", "-"], appliedOf(old));
    }
    const runs = now.runsSince(before, changed).map(({ metadata }) => `job/${metadata.name}`);
    if (runs.length > 0) await this.#kubectl.output(["delete", "--wait=false", ...runs]);
    return changed.map(appOf);
  }

  /** Throws `name_taken` if an object of the file exists that this stack did not create. */
  async #refuseForeign(file: string): Promise<void> {
    const there = await this.#items(["get", "--ignore-not-found", "-f", "-"], file);
    const foreign = there.find(({ metadata: { labels = {} } }) =>
      labels["app.kubernetes.io/managed-by"] !== MANAGED_BY ||
      labels["app.kubernetes.io/instance"] !== this.stack
    );
    if (foreign === undefined) return;
    const { kind, metadata: { name } } = foreign;
    throw this.foreign(
      `${kind} "${name}"`,
      "Choose another --stack NAME, or another --cluster-namespace",
    );
  }

  /** Removes objects of the stack that are no longer in its file. */
  async #prune(
    kinds: string,
    applied: readonly Item[],
    kept: ReadonlySet<string | undefined> = new Set(),
  ): Promise<void> {
    const wanted = new Set(applied.map(({ metadata }) => metadata.uid));
    const gone = (await this.#items(["get", kinds, "--selector", this.#selector]))
      .filter(({ metadata: { uid, name, ownerReferences } }) =>
        !wanted.has(uid) && !kept.has(name) && ownerReferences === undefined
      );
    if (gone.length === 0) return;
    const names = gone.map(({ kind, metadata }) => `${kind.toLowerCase()}/${metadata.name}`);
    await this.#kubectl.output(["delete", "--wait=false", ...names]);
  }

  /** Names of ConfigMaps that some revision refers to: `kubectl rollout undo` needs them. */
  async #configMapsInUse(): Promise<Set<string | undefined>> {
    const { deployments, replicaSets, cronJobs } = await this.#workloads();
    const containers = [...deployments, ...replicaSets, ...cronJobs]
      .flatMap((workload) => podTemplateOf(workload).containers);
    return new Set(
      containers.flatMap(({ envFrom = [] }) =>
        envFrom.map(({ configMapRef }) => configMapRef?.name)
      ),
    );
  }

  /** The workload of an app. Throws `process_not_found`. */
  #find(app: string, workloads: Workloads): Workload {
    return this.ofApp(app, workloads.own, appOf)[0];
  }

  /** The Deployment of an app. Throws `wrong_state` if it is another workload. */
  async #deployment(app: string): Promise<Workload> {
    const found = this.#find(app, await this.#workloads());
    const { kind } = found;
    if (kind === "Deployment") return found;
    throw new ProcsupError("wrong_state", `"${app}" is a ${kind}, which has no copies to replace`, {
      hint: kind === "CronJob"
        ? "Its next run takes what was applied"
        : "It runs again when procsup up changes it",
    });
  }

  async #workloads(): Promise<Workloads> {
    const items = await this.#items(["get", WORKLOADS, "--selector", this.#selector]);
    const workloads = new Workloads(items);
    // Only events say why a probe fails, or why a pod cannot be created.
    const silent = workloads.silent();
    if (silent.size === 0) return workloads;
    const words = ["get", "events", "--field-selector=type=Warning"];
    const warnings = await this.#items<Event>(words);
    return workloads.with(warnings.filter(({ involvedObject: { uid } }) => silent.has(uid)));
  }

  /** Runs a command and returns the objects that it prints. */
  async #items<T extends Item = Item>(words: readonly string[], input?: string): Promise<T[]> {
    const text = await this.#kubectl.output([...words, "--output=json"], input);
    if (text.trim() === "") return [];
    const found = JSON.parse(text) as T & { readonly items?: T[] };
    return found.items ?? [found];
  }
}
