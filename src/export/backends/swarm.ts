/** The Docker Swarm backend, which runs `docker`. */

import { Client, withFile } from "../client.ts";
import type { Exported } from "../export_stack.ts";
import {
  type Backend,
  type Copy,
  type Explanation,
  type LogFlags,
  type OnProgress,
  type Place,
  type Rollout,
  unknownApp,
} from "./backend.ts";
import { settleRollouts } from "./settle.ts";

/** The fields of `docker service inspect` that are used. */
interface Service {
  readonly ID: string;
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
  readonly ContainerSpec: unknown;
  readonly ForceUpdate?: number;
}

/** The fields of `docker inspect --type task` that are used. */
interface TaskJson {
  readonly ID: string;
  readonly DesiredState: string;
  readonly Status: { readonly State: string; readonly Err?: string };
  readonly Spec: TaskSpec;
}

/** A line of `docker stack ps`. */
interface TaskLine {
  readonly ID: string;
  readonly Name: string;
  readonly Node: string;
  readonly Image: string;
}

/** A task: a current or former copy of an app. */
interface Task {
  readonly id: string;
  readonly name: string;
  readonly node: string;
  readonly image: string;
  readonly state: string;
  /** True if Swarm wants it to run. */
  readonly wanted: boolean;
  readonly error: string;
  readonly spec: TaskSpec;
}

/** After this many failures for each copy, the rollout has failed. */
const FAILURES = 3;

/** The backend of a stack. */
export function swarm(place: Place, onProgress: OnProgress): Backend {
  return new Swarm(place, onProgress);
}

class Swarm implements Backend {
  readonly stack: string;
  readonly #docker: Client;
  readonly #onProgress: OnProgress;

  constructor({ stack, context }: Place, onProgress: OnProgress) {
    this.stack = stack;
    this.#docker = new Client("docker", ...context === undefined ? [] : ["--context", context]);
    this.#onProgress = onProgress;
  }

  async up({ files: [file] }: Exported): Promise<Rollout[]> {
    return await this.#changed(() =>
      withFile(file!.text, (path) => {
        const words = ["--prune", "--with-registry-auth", "-c", path, this.stack];
        return this.#docker.told("stack", "deploy", ...words);
      })
    );
  }

  async list(): Promise<Copy[]> {
    return this.#copies(await this.#tasks());
  }

  async logs(apps: readonly string[], { follow, lines }: LogFlags): Promise<number> {
    const services = await Promise.all(apps.map((app) => this.#inspect(app)));
    const names = apps.length > 0 ? services.map(({ Spec }) => Spec.Name) : await this.#names();
    const flags = [...follow ? ["--follow"] : [], "--tail", String(lines)];
    const codes = await Promise.all(
      names.map((name) => this.#docker.shown("service", "logs", ...flags, name)),
    );
    return Math.max(0, ...codes);
  }

  async why(app: string): Promise<Explanation> {
    const service = await this.#inspect(app);
    const tasks = (await this.#tasks()).filter(({ name }) => this.#appOf(name) === app);
    const update = service.UpdateStatus;
    return {
      copies: this.#copies(tasks),
      history: [
        ...(update === undefined ? [] : [`update ${update.State}: ${update.Message}`]),
        ...tasks.filter(({ error }) => error !== "")
          .map(({ name, node, error }) => `${name} on ${node}: ${error}`),
      ],
    };
  }

  async scale(app: string, copies: (now: number) => number): Promise<Rollout[]> {
    const { Spec: { Name, Mode } } = await this.#inspect(app);
    const count = copies(Mode.Replicated?.Replicas ?? 0);
    return await this.#changed(async () => {
      await this.#docker.told("service", "scale", "--detach", `${Name}=${count}`);
    }, app);
  }

  async roll(app: string): Promise<Rollout[]> {
    const { Spec: { Name } } = await this.#inspect(app);
    return await this.#changed(async () => {
      await this.#docker.told("service", "update", "--detach", "--force", Name);
    }, app);
  }

  async down(): Promise<string[]> {
    const names = await this.#names();
    await this.#docker.told("stack", "rm", this.stack);
    return names.map((name) => this.#short(name));
  }

  /** Makes a change, and waits until every service has adopted it or failed. */
  async #changed(change: () => Promise<unknown>, only?: string): Promise<Rollout[]> {
    const services = await this.#services();
    const before = new Map(
      services.map(({ Spec, UpdateStatus }) => [Spec.Name, UpdateStatus?.StartedAt]),
    );
    const old = new Set((await this.#tasks()).map(({ id }) => id));
    await change();
    return await settleRollouts(async () => {
      const services = (await this.#services())
        .filter(({ Spec }) => only === undefined || Spec.Name === this.#service(only));
      const tasks = await this.#tasks();
      return services.map((service) => {
        const own = tasks.filter(({ name }) => name.startsWith(`${service.Spec.Name}.`));
        const fresh = service.UpdateStatus?.StartedAt !== before.get(service.Spec.Name);
        return { app: this.#short(service.Spec.Name), ...rolloutOf(service, own, old, fresh) };
      });
    }, this.#onProgress);
  }

  /** The service name of an app: `shop_api`. */
  #service(app: string): string {
    return `${this.stack}_${app}`;
  }

  /** The name of a service or a task without the stack name. */
  #short(name: string): string {
    return name.slice(this.stack.length + 1);
  }

  async #names(): Promise<string[]> {
    const filter = `label=com.docker.stack.namespace=${this.stack}`;
    const words = ["service", "ls", "--filter", filter, "--format", "{{json .}}"];
    return (await this.#docker.jsonLines<{ Name: string }>(...words)).map(({ Name }) => Name);
  }

  async #services(): Promise<Service[]> {
    const names = await this.#names();
    return names.length === 0
      ? []
      : JSON.parse(await this.#docker.told("service", "inspect", ...names));
  }

  async #inspect(app: string): Promise<Service> {
    const { code, stdout } = await this.#docker.ask("service", "inspect", this.#service(app));
    if (code === 0) return JSON.parse(stdout)[0];
    const known = (await this.#names()).map((name) => this.#short(name));
    throw unknownApp(this.stack, app, known);
  }

  /** Every task, newest first within a slot. */
  async #tasks(): Promise<Task[]> {
    if ((await this.#names()).length === 0) return [];
    const words = ["stack", "ps", "--no-trunc", "--format", "{{json .}}", this.stack];
    const lines = await this.#docker.jsonLines<TaskLine>(...words);
    if (lines.length === 0) return [];
    // `ask()`: a task may be gone by now, which is not a failure.
    const ids = lines.map(({ ID }) => ID);
    const { stdout } = await this.#docker.ask("inspect", "--type", "task", ...ids);
    const found = new Map((JSON.parse(stdout || "[]") as TaskJson[]).map((one) => [one.ID, one]));
    return lines.flatMap(({ ID: id, Name, Node, Image: image }) => {
      const task = found.get(id);
      if (task === undefined) return [];
      const { DesiredState, Status: { State: state, Err: error = "" }, Spec: spec } = task;
      const wanted = DesiredState === "running" || DesiredState === "ready";
      const name = Name.replace(/^\\_ /, "").trim();
      return [{ id, name, node: Node || "-", image, state, wanted, error, spec }];
    });
  }

  #appOf(task: string): string {
    return this.#short(task).replace(/\.[^.]*$/, "");
  }

  #copies(tasks: readonly Task[]): Copy[] {
    return tasks.filter(({ wanted }) => wanted).map((task) => this.#copy(task, tasks));
  }

  #copy({ name, node, image, state, error }: Task, all: readonly Task[]): Copy {
    const ready = state === "running";
    // A new task does not say why the task before it failed.
    const failed = ready ? "" : all.find((one) => one.name === name && one.error !== "")?.error;
    const app = this.#appOf(name);
    return {
      ...{ name: this.#short(name), app, state, ready, node, image },
      reason: error || (failed ?? ""),
    };
  }
}

/** The progress of a service. */
function rolloutOf(
  { Spec, UpdateStatus }: Service,
  tasks: readonly Task[],
  old: ReadonlySet<string>,
  fresh: boolean,
): { readonly ok: boolean | undefined; readonly text: string } {
  const count = Spec.Mode.Replicated?.Replicas ?? 0;
  const failed = tasks.filter(({ id, error }) => error !== "" && !old.has(id));
  const why = failed.length === 0 ? "" : `: ${failed[0]!.error}`;
  if (fresh && UpdateStatus !== undefined) {
    const { State, Message } = UpdateStatus;
    if (/^(rollback_completed|rollback_paused|paused)$/.test(State)) {
      return { ok: false, text: `${State.replace("_", " ")}, ${Message}${why}` };
    }
    if (State !== "completed") return { ok: undefined, text: `${State.replace("_", " ")}${why}` };
  }
  const isNew = ({ spec }: Task) => isOf(spec, Spec.TaskTemplate);
  const current = tasks.filter((task) => task.state === "running" && isNew(task)).length;
  const text = `${current} of ${count} running`;
  const isLeft = tasks.some((task) => task.wanted && !isNew(task));
  // A task of a job completes after one run, and a new task waits for the next one.
  const hasRun = tasks.some((task) => task.state === "complete" && isNew(task));
  if ((current === count || hasRun) && !isLeft) return { ok: true, text };
  return {
    ok: failed.length >= FAILURES * Math.max(1, count) ? false : undefined,
    text: text + why,
  };
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
