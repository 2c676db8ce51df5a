/** The Docker Swarm backend, which runs `docker`. */

import { Client } from "../client.ts";
import type { Exported } from "../export_stack.ts";
import { RUN_WORDS } from "../stack.ts";
import {
  Backend,
  type Copy,
  type Explanation,
  type LogFlags,
  type Progress,
  type Rollout,
  shortName,
  withoutCopies,
} from "./backend.ts";

/** The fields of `docker service inspect` that are used. */
interface Service {
  readonly Spec: {
    readonly Name: string;
    readonly Mode: { readonly Replicated?: { readonly Replicas: number } };
    readonly TaskTemplate: TaskSpec;
  };
  readonly UpdateStatus?: {
    readonly State: string;
    readonly StartedAt: string;
    readonly Message: string;
  };
}

interface TaskSpec {
  readonly ContainerSpec: { readonly Args?: readonly string[] | null };
  readonly ForceUpdate?: number;
  readonly RestartPolicy?: { readonly Condition?: string };
}

/** A current or former copy of an app: the fields of `docker inspect --type task` that are used. */
interface Task extends TaskLine {
  readonly DesiredState: string;
  readonly Status: { readonly State: string; readonly Err?: string };
  readonly Spec: TaskSpec;
}

/** The fields that only `docker stack ps` has. */
interface TaskLine {
  readonly ID: string;
  readonly Name: string;
  readonly Node: string;
  readonly Image: string;
}

/** After this many failures for each copy, the rollout has failed. */
const FAILURES = 3;

/** The flags for one JSON object a line. */
const AS_JSON = ["--format", "{{json .}}"];

export class Swarm extends Backend {
  readonly #docker = new Client("docker", { context: this.place.context }, this.place.signal);

  async up({ files: [file] }: Exported): Promise<Rollout[]> {
    await this.#refuseForeign();
    const words = ["stack", "deploy", "--prune", "--with-registry-auth", "-c", "-", this.stack];
    return await this.#changed(undefined, words, file!.text);
  }

  async list(): Promise<Copy[]> {
    const names = await this.#names();
    const copies = this.#copies(await this.#tasks(names));
    const idle = names.map((name) => shortName(this.stack, name))
      .filter((name) => !copies.some(({ app }) => app === name));
    return [...copies, ...idle.map((app) => withoutCopies(app))];
  }

  async logs(apps: readonly string[], { follow, lines, print }: LogFlags): Promise<number> {
    const services = apps.length === 0
      ? await this.#services()
      : await Promise.all(apps.map((app) => this.#service(app)));
    const flags = [...follow ? ["--follow"] : [], "--tail", String(lines)];
    const codes = await Promise.all(
      services.map(({ Spec }) =>
        this.#docker.relayed(["service", "logs", ...flags, Spec.Name], print)
      ),
    );
    return Math.max(0, ...codes);
  }

  async why(app: string): Promise<Explanation> {
    const service = await this.#service(app);
    const { Spec, UpdateStatus: update } = service;
    const tasks = tasksOf(Spec.Name, await this.#tasks([service]));
    const failed = tasks.filter((task) => errorOf(task) !== "");
    return {
      copies: this.#copies(tasks),
      history: [
        ...(update === undefined ? [] : [`update ${update.State}: ${update.Message}`]),
        ...failed.map((task) => `${task.Name} on ${task.Node}: ${errorOf(task)}`),
      ],
    };
  }

  async scale(app: string, copies: (now: number) => number): Promise<Rollout[]> {
    const { Spec: { Name, Mode } } = await this.#service(app);
    const change = `${Name}=${copies(Mode.Replicated?.Replicas ?? 0)}`;
    return await this.#changed(Name, ["service", "scale", "--detach", change]);
  }

  async reload(app: string): Promise<Rollout[]> {
    const { Spec: { Name } } = await this.#service(app);
    return await this.#changed(Name, ["service", "update", "--detach", "--force", Name]);
  }

  async down(): Promise<string[]> {
    await this.#refuseForeign();
    const names = await this.#names();
    await this.#docker.output(["stack", "rm", this.stack]);
    return names.map((name) => shortName(this.stack, name));
  }

  /** Throws `name_taken` if a service of the stack does not run procsup: it would be removed. */
  async #refuseForeign(): Promise<void> {
    const foreign = (await this.#services()).find(({ Spec: { TaskTemplate: { ContainerSpec } } }) =>
      RUN_WORDS.some((word, index) => ContainerSpec.Args?.[index] !== word)
    );
    if (foreign !== undefined) throw this.foreign(`Service "${foreign.Spec.Name}"`);
  }

  /** Runs a command, and waits until one service, or every one, has adopted the change or failed. */
  async #changed(
    only: string | undefined,
    words: readonly string[],
    input?: string,
  ): Promise<Rollout[]> {
    const there = await this.#services();
    const before = new Map(there.map((service) => [service.Spec.Name, service]));
    const old = new Set((await this.#tasks(there)).map(({ ID }) => ID));
    await this.#docker.output(words, input);
    return await this.settled(async () => {
      const services = await this.#services();
      const tasks = await this.#tasks(services);
      return services.filter(({ Spec: { Name } }) => (only ?? Name) === Name).map((service) => {
        const { Spec: { Name } } = service;
        const progress = progressOf(service, before.get(Name), tasksOf(Name, tasks), old);
        return { app: shortName(this.stack, Name), ...progress };
      });
    });
  }

  /** Names of the services: `shop_api` for the app `api`. */
  async #names(): Promise<string[]> {
    const filter = `label=com.docker.stack.namespace=${this.stack}`;
    const words = ["service", "ls", "--filter", filter, ...AS_JSON];
    return (await this.#docker.jsonLines<Service["Spec"]>(words)).map(({ Name }) => Name);
  }

  async #services(): Promise<Service[]> {
    const names = await this.#names();
    if (names.length === 0) return [];
    return JSON.parse(await this.#docker.output(["service", "inspect", ...names]));
  }

  /** The service of an app. Throws `process_not_found`. */
  async #service(app: string): Promise<Service> {
    const appOf = ({ Spec }: Service) => shortName(this.stack, Spec.Name);
    return this.ofApp(app, await this.#services(), appOf)[0];
  }

  /** Every task, newest first within a slot. */
  async #tasks(services: readonly unknown[]): Promise<Task[]> {
    // For an empty stack the command fails.
    if (services.length === 0) return [];
    const words = ["stack", "ps", "--no-trunc", ...AS_JSON, this.stack];
    const lines = await this.#docker.jsonLines<TaskLine>(words);
    if (lines.length === 0) return [];
    // `ask()`: a task may be gone by now, which is not a failure.
    const ids = lines.map(({ ID }) => ID);
    const { stdout } = await this.#docker.ask(["inspect", "--type", "task", ...ids]);
    const found = new Map((JSON.parse(stdout || "[]") as Task[]).map((task) => [task.ID, task]));
    return lines.flatMap(({ ID, Name, Node, Image }) => {
      const task = found.get(ID);
      if (task === undefined) return [];
      return [{ ...task, Name: Name.replace(/^\\_ /, "").trim(), Node: Node || "-", Image }];
    });
  }

  #copies(tasks: readonly Task[]): Copy[] {
    return tasks.filter(isWanted).map((task) => {
      const { Name, Node: node, Image: image, Status: { State: state } } = task;
      const ready = state === "running";
      // A new task does not say why the task before it failed.
      const slot = ready ? [task] : [task, ...tasks.filter((other) => other.Name === Name)];
      const reason = slot.map(errorOf).find(Boolean) ?? "";
      const name = shortName(this.stack, Name);
      return { name, app: name.replace(/\.[^.]*$/, ""), state, ready, node, image, reason };
    });
  }
}

function tasksOf(service: string, tasks: readonly Task[]): Task[] {
  return tasks.filter(({ Name }) => Name.startsWith(`${service}.`));
}

/** True if Swarm wants the task to run. */
function isWanted({ DesiredState }: Task): boolean {
  return DesiredState === "running" || DesiredState === "ready";
}

function errorOf({ Status }: Task): string {
  return Status.Err ?? "";
}

/** The progress of a service since it was as in `was`, with the tasks `old`. */
function progressOf(
  { Spec, UpdateStatus }: Service,
  was: Service | undefined,
  tasks: readonly Task[],
  old: ReadonlySet<string>,
): Omit<Progress, "app"> {
  const count = Spec.Mode.Replicated?.Replicas ?? 0;
  const isNew = ({ Spec: task }: Task) => isOf(task, Spec.TaskTemplate);
  const isOnce = Spec.TaskTemplate.RestartPolicy?.Condition === "none";
  // Swarm does not run it again if the same version is applied again.
  const isOver = isOnce && JSON.stringify(was?.Spec.TaskTemplate) ===
      JSON.stringify(Spec.TaskTemplate);
  const errors = tasks.filter((task) => !old.has(task.ID) || (isOver && isNew(task)))
    .map(errorOf).filter(Boolean);
  const [why = ""] = errors;
  const isFresh = UpdateStatus?.StartedAt !== was?.UpdateStatus?.StartedAt;
  if (isFresh && UpdateStatus !== undefined && UpdateStatus.State !== "completed") {
    const { State, Message } = UpdateStatus;
    const isBack = /^(rollback_completed|rollback_paused|paused)$/.test(State);
    const state = State.replace("_", " ") + (isBack ? `, ${Message}` : "");
    return { ok: isBack ? false : undefined, state, reason: why };
  }
  const current = tasks.filter((task) => task.Status.State === "running" && isNew(task)).length;
  const state = `${current} of ${count} running`;
  const isLeft = tasks.some((task) => isWanted(task) && !isNew(task));
  // A task of a job completes after one run, and a new task waits for the next one.
  const hasRun = tasks.some((task) => task.Status.State === "complete" && isNew(task));
  if ((current === count || hasRun) && !isLeft) return { ok: true, state };
  const isFailed = errors.length >= (isOnce ? 1 : FAILURES * Math.max(1, count));
  return { ok: isFailed ? false : undefined, state, reason: why };
}

/** True if a task runs the current version of the service. */
function isOf(task: TaskSpec, { ContainerSpec, ForceUpdate = 0 }: TaskSpec): boolean {
  return (task.ForceUpdate ?? 0) === ForceUpdate &&
    JSON.stringify(task.ContainerSpec, filled) === JSON.stringify(ContainerSpec, filled);
}

/** Removes empty values, which the client shows for services but not for tasks. */
function filled(_key: string, value: unknown): unknown {
  if (value === null || value === false || value === 0 || value === "") return undefined;
  if (typeof value !== "object" || Array.isArray(value)) return value;
  const entries = Object.entries(value!).filter(([key, inner]) => filled(key, inner) !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
