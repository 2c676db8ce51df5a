/** Applies configuration files, and remembers which: for a reload, for SIGHUP, for `prune`. */

import { messageOf, ProcsupError } from "../model/errors.ts";
import { apply, type ApplyOptions, type ApplyPlan, planApply } from "../manager/apply.ts";
import type { Outcome } from "../manager/bulk.ts";
import type { Fleet } from "../manager/fleet.ts";
import { readFileIfAny } from "../platform/atomic_file.ts";
import { absolute } from "../platform/paths.ts";
import { type Applied, readMemory, writeMemory } from "./config_memory.ts";

/** What is to be applied. */
export interface ConfigRequest extends ApplyOptions {
  /** Paths; undefined: those applied last. */
  readonly files?: readonly string[];
  /** What a file would hold, instead of one. */
  readonly inline?: object;
  readonly profile?: string;
  readonly variables?: Readonly<Record<string, string>>;
  readonly only?: string | readonly string[];
  readonly dryRun?: boolean;
}

/** What was, or would be, done. */
export interface ConfigResult {
  readonly plan: ApplyPlan;
  readonly outcomes: readonly Outcome[];
  readonly errors: readonly string[];
}

/** Where a reload that nobody asked an answer of says how it went. */
interface Log {
  info(message: string): void;
  warn(message: string): void;
}

/** The configuration files of a daemon. One is applied at a time. */
export class ConfigFiles {
  readonly #fleet: Fleet;
  readonly #path: string;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(fleet: Fleet, path: string) {
    this.#fleet = fleet;
    this.#path = path;
  }

  /** Whether there is something to reload. */
  get any(): boolean {
    return readMemory(this.#path).last !== undefined;
  }

  /** Applies, or with `dryRun` only plans. Throws `invalid_config` before anything is done. */
  apply(request: ConfigRequest): Promise<ConfigResult> {
    const turn = this.#turn.then(() => this.#apply(request));
    this.#turn = turn.catch(() => {});
    return turn;
  }

  /** Applies the last files again, and logs how it went. */
  async reloadLast(log: Log): Promise<void> {
    if (!this.any) return;
    try {
      const { plan, errors } = await this.apply({});
      const counts = `${plan.added.length} added, ${plan.changed.length} changed`;
      log.info(`Configuration reloaded: ${counts}, ${plan.unchanged.length} unchanged`);
      for (const error of errors) log.warn(error);
    } catch (error) {
      log.warn(`Configuration not reloaded: ${messageOf(error)}`);
    }
  }

  async #apply(request: ConfigRequest): Promise<ConfigResult> {
    const applied = this.#applied(request);
    const { loadConfig } = await import("../config/load_config.ts");
    const { onlyWords, selectProcesses } = await import("../config/select.ts");
    const loaded = await loadConfig({
      files: applied.files,
      env: { ...Deno.env.toObject(), ...applied.variables },
      ...(request.inline === undefined ? {} : { inline: request.inline }),
      ...(applied.profile === undefined ? {} : { profile: applied.profile }),
    });
    const only = onlyWords(request.only);
    const wires = selectProcesses(loaded.processes, only).map(({ wire }) => wire);
    this.#refuseOthers(wires.map(({ name }) => name as string), applied.files);
    const mine = only.length > 0 ? [] : this.#mine(applied.files);
    const plan = await planApply(this.#fleet, wires, mine);
    if (request.dryRun) return { plan, outcomes: [], errors: [] };
    const done = await apply(this.#fleet, plan, request);
    this.#remember({ ...applied, variables: loaded.variables }, plan, request);
    return { plan, ...done };
  }

  #applied({ files, inline, profile, variables = {} }: ConfigRequest): Applied {
    if (inline !== undefined) return { files: [], variables, ...(profile ? { profile } : {}) };
    if (files !== undefined) {
      return { files: files.map(absolute), variables, ...(profile ? { profile } : {}) };
    }
    const { last } = readMemory(this.#path);
    if (last === undefined) {
      throw new ProcsupError("bad_request", "No configuration file was applied yet", {
        hint: "Name one: procsup config apply procsup.yaml",
      });
    }
    const merged = { ...last, variables: { ...last.variables, ...variables } };
    return profile === undefined ? merged : { ...merged, profile };
  }

  /** Names of processes that came from one of the files and are still the same. */
  #mine(files: readonly string[]): string[] {
    const { origins } = readMemory(this.#path);
    return [...origins].filter(([name, origin]) =>
      origin.files.some((file) => files.includes(file)) &&
      this.#ids(name).some((id) => origin.ids.includes(id))
    ).map(([name]) => name);
  }

  /** Two files that both want a process would undo each other's work for ever. */
  #refuseOthers(names: readonly string[], files: readonly string[]): void {
    const { origins } = readMemory(this.#path);
    for (const name of names) {
      const origin = origins.get(name);
      const ours = origin === undefined || origin.files.some((file) => files.includes(file));
      if (ours || !this.#ids(name).some((id) => origin.ids.includes(id))) continue;
      const other = origin.files.find((file) => readFileIfAny(file) !== undefined);
      if (other === undefined) continue;
      throw new ProcsupError("name_taken", `"${name}" comes from "${other}"`, {
        hint: `Give it another name, or delete it first: procsup delete ${name}`,
      });
    }
  }

  #ids(name: string): string[] {
    return this.#fleet.registry.list().filter(({ config }) => config.name === name)
      .map(({ identity }) => identity.id);
  }

  #remember(applied: Applied, plan: ApplyPlan, { inline, only }: ConfigRequest): void {
    if (inline !== undefined) return;
    const { last, origins: before } = readMemory(this.#path);
    const origins = new Map([...before].filter(([name]) => this.#ids(name).length > 0));
    for (const name of plan.configs.keys()) {
      origins.set(name, { files: applied.files, ids: this.#ids(name) });
    }
    // A part of a file is no reason to forget which files are reloaded as a whole.
    writeMemory(this.#path, { last: only === undefined ? applied : last ?? applied, origins });
  }
}
