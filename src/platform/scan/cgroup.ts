/**
 * A control group (v2) for each run, where the machine allows it: a process can leave its session
 * and clear its environment, but it cannot leave its control group.
 *
 * Joining a group takes 4 to 20 ms on an idle machine, since the kernel waits for all processors.
 * An app with limits waits for it before it starts; any other is moved while it starts
 * (`Gatherer`).
 *
 * The groups are below the supervisor's own one, in `procsup/<run id>`: what controls the
 * supervisor, such as a systemd unit, controls the apps too. A systemd unit must have
 * `Delegate=yes`, and `DelegateSubgroup=daemon` for limits: a group that contains processes cannot
 * pass on controllers.
 */

import { ifPossible } from "../../model/errors.ts";
import type { LimitsConfig } from "../../model/process_config.ts";
import { dirname } from "@std/path";
import { readFileIfAny } from "../files/atomic_file.ts";
import { isShortage } from "../lack.ts";
import { isLinux } from "../os.ts";
import { childrenOf, processRow, readProc } from "./process_table.ts";
import { lstatIfAny } from "../files/stat.ts";
import type { Run } from "../../model/process_state.ts";

/** A limit's key, its controller, and the file that takes its value. */
const LIMITS = [
  { key: "memoryBytes", name: "memory", controller: "memory", file: "memory.max" },
  { key: "memoryHighBytes", name: "memory_high", controller: "memory", file: "memory.high" },
  { key: "cpuPercent", name: "cpu_percent", controller: "cpu", file: "cpu.max" },
  { key: "cpuWeight", name: "cpu_weight", controller: "cpu", file: "cpu.weight" },
  { key: "ioMax", name: "io_max", controller: "io", file: "io.max" },
  { key: "pids", name: "pids", controller: "pids", file: "pids.max" },
] as const satisfies readonly { key: keyof LimitsConfig; [more: string]: string }[];

/** Period of the CPU limit in microseconds: the kernel's default. */
const CPU_PERIOD = 100_000;

/** An older empty group was left by a killed supervisor: no launch takes so long. */
const STALE_MS = 60_000;

/** The control groups of runs. */
export class Cgroups {
  readonly #folder: string | undefined;
  readonly #base: string | undefined;
  /** Paths of groups that a supervisor elsewhere in the tree created. */
  readonly #elsewhere = new Map<string, string>();
  /** Groups that could not be removed yet. */
  readonly #occupied = new Set<string>();
  readonly #removals = new Set<Promise<void>>();
  /** Runs whose group contains every process that they started. */
  readonly #whole = new Set<string>();
  #usable: boolean | undefined;

  /** `base` is the group below which groups are made; undefined if none can be made. */
  constructor(base: string | undefined) {
    this.#base = base;
    this.#folder = base === undefined ? undefined : `${base}/procsup`;
  }

  /** Creates the group of a run with limits. Returns its path; undefined if there can be none. */
  create(runId: string, limits: LimitsConfig = {}): string | undefined {
    if (!this.#isUsable()) return undefined;
    this.#removeOccupied();
    const path = this.pathOf(runId);
    try {
      Deno.mkdirSync(path, { recursive: true });
    } catch {
      return undefined;
    }
    for (const { key, file } of LIMITS) {
      const value = limits[key];
      if (value !== undefined) Deno.writeTextFileSync(`${path}/${file}`, limitText(key, value));
    }
    return path;
  }

  /**
   * Creates a run's group; false without usable cgroups. While the kernel moves a process, for up
   * to 20 ms, it creates and removes no group: that must not delay the launches of other apps.
   */
  async createAside(runId: string): Promise<boolean> {
    if (!this.#isUsable()) return false;
    this.#removeOccupied();
    try {
      await Deno.mkdir(this.pathOf(runId), { recursive: true });
      return true;
    } catch {
      return false;
    }
  }

  /** Why limits cannot be applied, as a clause; undefined if they can. */
  problem(limits: LimitsConfig): string | undefined {
    const refused = LIMITS.find(({ key, controller }) =>
      limits[key] !== undefined && !this.#canControl(controller)
    );
    if (refused === undefined) return undefined;
    return `limits.${refused.name} needs a writable cgroup v2 with the ${refused.controller} controller`;
  }

  /** Remembers the path of a run's group, found by one of its processes. */
  locate(runId: string, pid: number): void {
    const path = this.#base === undefined ? undefined : groupOf(pid);
    if (path?.endsWith(`/procsup/${groupName(runId)}`)) this.#elsewhere.set(runId, path);
  }

  /** Moves a process into a run's group; does nothing if it has ended. */
  async move(runId: string, pid: number): Promise<void> {
    const file = `${this.pathOf(runId)}/cgroup.procs`;
    await Deno.writeTextFile(file, String(pid), { create: false }).catch(() => {});
  }

  /** Remembers that a run's group contains every process of the run: none can leave it. */
  complete(runId: string): void {
    this.#whole.add(runId);
  }

  /** Whether a run's group is known to contain every process of the run. */
  isWhole(runId: string): boolean {
    return this.#whole.has(runId) && lstatIfAny(this.pathOf(runId)) !== undefined;
  }

  /** Living processes in a run's group, and in the groups that the app created in it. */
  members(runId: string): number[] {
    return this.#folder === undefined ? [] : membersOf(this.pathOf(runId));
  }

  /** Living processes in the group itself, not in groups below it. */
  ownMembers(runId: string): number[] {
    return this.#folder === undefined ? [] : pidsIn(this.pathOf(runId));
  }

  /** Sends SIGKILL to every process in a run's group, even to those being forked. */
  kill(runId: string): void {
    if (this.#folder === undefined) return;
    // No such group, or a kernel before 5.14: the caller kills them one by one.
    ifPossible(() =>
      Deno.writeTextFileSync(`${this.pathOf(runId)}/cgroup.kill`, "1", { create: false })
    );
  }

  /** Removes a run's group: in the background, and again later if it is not empty. */
  remove(runId: string): void {
    if (this.#folder === undefined) return;
    this.removeEmpty(runId);
    this.#elsewhere.delete(runId);
    this.#whole.delete(runId);
  }

  /** Removes the group of a run whose app ended while the group was created. */
  removeEmpty(runId: string): void {
    this.#track(this.#remove(this.pathOf(runId)));
  }

  /** Resolves when no removal is under way. */
  async settled(): Promise<void> {
    await Promise.all(this.#removals);
  }

  /** Path of a run's group, which may not exist. */
  pathOf(runId: string): string {
    return this.#elsewhere.get(runId) ?? `${this.#folder}/${groupName(runId)}`;
  }

  #removeOccupied(): void {
    for (const path of this.#occupied) this.#track(this.#remove(path));
  }

  #track(work: Promise<void>): void {
    const removal: Promise<void> = work.finally(() => this.#removals.delete(removal));
    this.#removals.add(removal);
  }

  async #remove(path: string): Promise<void> {
    try {
      await Deno.remove(path);
      this.#occupied.delete(path);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) this.#occupied.delete(path);
      else this.#occupied.add(path);
    }
  }

  #isUsable(): boolean {
    return (this.#usable ??= this.#prepare()) ?? false;
  }

  /** Undefined if it cannot be found out now. */
  #prepare(): boolean | undefined {
    // The wrapper's shell gets the path in single quotes.
    if (this.#folder === undefined || this.#folder.includes("'")) return false;
    try {
      Deno.mkdirSync(this.#folder, { recursive: true });
      // Moving a process needs write permission here too.
      Deno.openSync(`${this.#base}/cgroup.procs`, { write: true }).close();
      this.#track(removeStale(this.#folder));
      return true;
    } catch (error) {
      return isShortage(error) ? undefined : false;
    }
  }

  #canControl(controller: string): boolean {
    if (!this.#isUsable()) return false;
    return [this.#base!, this.#folder!].every((group) => enable(group, controller));
  }
}

/**
 * The first 48 bits of a run id, which is a UUID. Every user can see the names of groups, and with
 * the whole id a user could make a process count as the app's.
 */
function groupName(runId: string): string {
  return runId.slice(0, 13);
}

function limitText(key: keyof LimitsConfig, value: number | string): string {
  return key === "cpuPercent"
    ? `${Math.round(Number(value) * CPU_PERIOD / 100)} ${CPU_PERIOD}`
    : `${value}`;
}

/** Whether there are limits for a control group. */
export function limitsGroup(limits: LimitsConfig): boolean {
  return LIMITS.some(({ key }) => limits[key] !== undefined);
}

/** Enables a controller for the groups below this one; false when the kernel refuses. */
function enable(group: string, controller: string): boolean {
  const file = `${group}/cgroup.subtree_control`;
  if ((readFileIfAny(file) ?? "").trim().split(" ").includes(controller)) return true;
  try {
    Deno.writeTextFileSync(file, `+${controller}`, { create: false });
    return true;
  } catch {
    return false;
  }
}

function membersOf(path: string): number[] {
  const below = groupsIn(path).flatMap(membersOf);
  return [...pidsIn(path), ...below];
}

function pidsIn(path: string): number[] {
  // The group is gone, or has only threads: their processes are in a group above.
  const pids = ifPossible(() => Deno.readTextFileSync(`${path}/cgroup.procs`)) ?? "";
  return pids.split("\n").filter(Boolean).map(Number);
}

function groupsIn(path: string): string[] {
  const entries = ifPossible(() => [...Deno.readDirSync(path)]) ?? [];
  return entries.filter(({ isDirectory }) => isDirectory).map(({ name }) => `${path}/${name}`);
}

async function removeStale(folder: string): Promise<void> {
  for (const { name, isDirectory } of [...Deno.readDirSync(folder)]) {
    if (!isDirectory) continue;
    const path = `${folder}/${name}`;
    try {
      const age = Date.now() - (Deno.statSync(path).mtime?.getTime() ?? Date.now());
      if (age > STALE_MS) await Deno.remove(path);
    } catch {
      // The group is not empty.
    }
  }
}

/** Mount points of cgroup v2: alone, or beside v1. */
const MOUNTS = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];

/** Path of a process's group; undefined without cgroup v2. */
function groupOf(pid: number | "self"): string | undefined {
  const mount = MOUNTS.find((path) => readFileIfAny(`${path}/cgroup.controllers`) !== undefined);
  const path = /^0::(\/.*)$/m.exec(readProc(`/proc/${pid}/cgroup`) ?? "")?.[1];
  if (mount === undefined || path === undefined) return undefined;
  return `${mount}${path}`.replace(/\/$/, "");
}

/** The group below which a process would make groups, if any. */
function baseOf(pid: number | "self"): string | undefined {
  if (!isLinux) return undefined;
  const own = groupOf(pid);
  return own?.endsWith("/daemon") ? dirname(own) : own;
}

/**
 * The controllers with which a supervisor can limit its apps; undefined without cgroup v2. None if
 * the supervisor itself is in the group: such a group cannot pass on controllers.
 */
export function controllersOf(pid: number | "self"): readonly string[] | undefined {
  const base = baseOf(pid);
  if (base === undefined) return undefined;
  // Only the root group may contain processes and pass on controllers.
  if (base === groupOf(pid) && !MOUNTS.includes(base)) return [];
  return (readFileIfAny(`${base}/cgroup.controllers`) ?? "").trim().split(" ");
}

let groups: Cgroups | undefined;

/** The control groups of this machine. */
export function cgroups(): Cgroups {
  return groups ??= new Cgroups(baseOf("self"));
}

/** Maximum number of looks for processes that were forked before their parent was moved. */
const ROUNDS = 8;

/** Looks in a row that must find nothing: one may miss a child while another child ends. */
const QUIET_ROUNDS = 2;

/**
 * Moves running apps into their control groups without delaying their start. What an app forks and
 * hides before it is moved is recognized by its environment and its process group only; what it
 * forks later is always in its control group.
 */
export class Gatherer {
  readonly #groups: Cgroups;
  readonly #pending = new Set<Promise<void>>();
  #closed = false;

  constructor(groups: Cgroups) {
    this.#groups = groups;
  }

  /** Moves an app and its descendants. An adopted app may have a group elsewhere. */
  gather(run: Run, pid: number, isAdopted: boolean): void {
    const work: Promise<void> = this.#gather(run, pid, isAdopted)
      // An app that could not be moved is still known by its environment.
      .catch(() => {})
      .finally(() => this.#pending.delete(work));
    this.#pending.add(work);
  }

  /** Stops moving processes; resolves when the current moves are done. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#pending);
  }

  async #gather(run: Run, pid: number, isAdopted: boolean): Promise<void> {
    // The wrapper's child is the app: only the wrapper can collect it and free its pid.
    const isOurs = () => processRow(pid)?.ppid === run.wrapperPid;
    if (isAdopted) this.#groups.locate(run.runId, pid);
    if (!isOurs() || !await this.#groups.createAside(run.runId)) return;
    // The pid may have been reused meanwhile.
    if (!isOurs()) return this.#groups.removeEmpty(run.runId);
    let outside: readonly number[] = [pid];
    for (let round = 0, quiet = 0; round < ROUNDS; round++) {
      for (const one of outside) await this.#groups.move(run.runId, one);
      if (!isOurs()) return this.#groups.removeEmpty(run.runId);
      if (this.#closed) return;
      const tree = treeOf(pid);
      outside = outsideOf(this.#groups.ownMembers(run.runId), tree);
      if (outside.length > 0) outside = outsideOf(this.#groups.members(run.runId), tree);
      quiet = outside.length === 0 ? quiet + 1 : 0;
      if (quiet === QUIET_ROUNDS) return this.#groups.complete(run.runId);
    }
  }
}

function outsideOf(inside: readonly number[], tree: readonly number[]): readonly number[] {
  return tree.filter((pid) => !inside.includes(pid));
}

/** Pids of a process and its descendants. */
function treeOf(pid: number): readonly number[] {
  const found = [pid];
  for (const one of found) found.push(...childrenOf(one));
  return found;
}
