/** Applies configuration files and remembers them for a reload, for SIGHUP and for `prune`. */

import { messageOf, ProcsupError } from "../model/errors.ts";
import type { ApplyOptions, ApplyPlan } from "../manager/apply.ts";
import type { Outcome } from "../manager/bulk.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { keptInRelease } from "../model/release_folder.ts";
import { dirname } from "@std/path";
import { lookAt } from "../platform/files/stat.ts";
import { absolute } from "../platform/files/paths.ts";
import type { LoadedSettings, RunSettings } from "../config/load_config.ts";
import type { Note } from "../config/problem.ts";
import type { SettingChangeJson } from "../protocol/wire.ts";
import {
  planSettings,
  presentSettings,
  type SettingName,
  type SettingsParts,
  type SettingsPlan,
} from "./settings.ts";
import { Turns } from "../platform/concurrency.ts";
import { readState, writeState } from "../platform/files/state_file.ts";

export interface ConfigRequest extends ApplyOptions {
  /** Paths; undefined for the files applied last. */
  readonly files?: readonly string[];
  /** A configuration to apply in place of files. */
  readonly inline?: object;
  /** Text to apply as the content of a file. */
  readonly content?: { readonly file: string; readonly text: string };
  readonly profile?: string;
  readonly variables?: Readonly<Record<string, string>>;
  /** Environment of the shell, which new apps inherit; with `updateEnv` all of the request. */
  readonly shellEnv?: Readonly<Record<string, string>>;
  readonly updateEnv?: boolean;
  readonly only?: string | readonly string[];
  /** The process to run, without its dependencies; with `now` a job runs at once. */
  readonly single?: { readonly name: string; readonly now: boolean };
  readonly dryRun?: boolean;
  /** Whether this is `procsup run`. */
  readonly inForeground?: boolean;
  /** Called when all new processes are registered, before the first one starts. */
  readonly onRegistered?: () => void;
}

/** Changes that were made, or planned in a dry run. */
interface ConfigResult {
  readonly plan: ApplyPlan;
  readonly outcomes: readonly Outcome[];
  readonly errors: readonly string[];
  /** Changes of the daemon's own settings. */
  readonly settings: readonly SettingChangeJson[];
  readonly run: RunSettings;
  /** Parts of another tool's file that are not supported. */
  readonly notes: readonly Note[];
}

/** Log for the result of a reload by SIGHUP, which has no caller. */
interface Log {
  info(message: string): void;
  warn(message: string): void;
}

interface ConfigFilesParts extends SettingsParts {
  /** The file that remembers what was applied. */
  readonly path: string;
}

/**
 * The configuration files of a daemon. Planning and registering take turns. Starts and changes do not:
 * one may wait for a dependency without a time limit.
 */
export class ConfigFiles {
  readonly #parts: ConfigFilesParts;
  readonly #turns = new Turns();
  #known: ConfigMemory | undefined;

  constructor(parts: ConfigFilesParts) {
    this.#parts = parts;
  }

  /** Whether a file was applied that can be reloaded. */
  get any(): boolean {
    return this.#memory.last !== undefined;
  }

  /** Applies the request, or only plans it with `dryRun`. Throws `invalid_config` before any change. */
  async apply(request: ConfigRequest): Promise<ConfigResult> {
    if (request.dryRun) {
      const { plan, settings: { changes: settings }, loaded } = await this.#plan(request);
      const { run, notes } = loaded;
      return { plan, outcomes: [], errors: [], settings, run, notes };
    }
    const { result } = await this.#turns.take(() => this.#begin(request));
    return await result;
  }

  /**
   * Stops and forgets the apps of the request's files, and removes the settings that came only from
   * them. Only the names are needed: programs and variables may be missing.
   */
  remove(request: ConfigRequest): Promise<Outcome[]> {
    return this.#turns.take(async () => {
      const applied = this.#applied(request);
      const { configs, whole } = await this.#load(request, applied, "remove");
      const names = configs.map(({ name }) => name);
      const gone = whole ? this.#mine(applied.files) : [];
      const settings = await this.#planSettings({}, applied.files, whole, { prune: true });
      this.#forget(applied.files, whole ? undefined : names);
      const outcomes = await this.#parts.supervisor.removeApps(new Set([...names, ...gone]));
      // Last: webhooks report the deletions.
      for (const problem of await settings.carryOut()) this.#parts.warn(problem);
      this.#forgetSettings(settings);
      return outcomes;
    });
  }

  /** Applies the last files again and logs the result. */
  async reloadLast(log: Log): Promise<void> {
    if (!this.any) return;
    try {
      const { plan, errors, settings } = await this.apply({ by: "SIGHUP" });
      const counts = `${plan.added.length} added, ${plan.changed.length} changed`;
      const others = settings.filter(({ change }) => change !== "unchanged")
        .map(({ name, change }) => `, ${name} ${change}`);
      log.info(
        `Configuration reloaded: ${counts}, ${plan.unchanged.length} unchanged${others.join("")}`,
      );
      for (const error of errors) log.warn(error);
    } catch (error) {
      log.warn(`Configuration not reloaded: ${messageOf(error)}`);
    }
  }

  async #plan(request: ConfigRequest) {
    const applied = this.#applied(request);
    const { loaded, configs, whole } = await this.#load(request, applied);
    const { refusePartialPrune } = await import("../config/select.ts");
    refusePartialPrune(request, whole ? undefined : applied.only);
    const mine = whole ? this.#mine(applied.files) : [];
    const { prune } = request;
    const purpose = request.dryRun ? "look" : "start";
    const plan = await this.#parts.supervisor.apply.plan(configs, mine, { prune, purpose });
    // A selection of processes leaves the daemon's settings alone.
    const wanted = whole ? loaded.settings : {};
    const settings = await this.#planSettings(wanted, applied.files, whole, request);
    return { applied, loaded, plan, wanted, settings };
  }

  /** Plans, registers the new processes, and begins to change and start processes. */
  async #begin(request: ConfigRequest) {
    const { applied, loaded, plan, wanted, settings } = await this.#plan(request);
    const { run, notes, variables, unset } = loaded;
    const failed = await settings.carryOut();
    this.#forgetSettings(settings);
    const registered = await this.#parts.supervisor.apply.register(plan, request);
    const names = [...plan.configs.values()]
      .filter((config) => registered.added.get(config)?.length !== 0).map(({ name }) => name);
    this.#remember({ ...applied, variables, unset }, names, wanted, request);
    request.onRegistered?.();
    const changed = this.#parts.supervisor.apply.carryOut(plan, registered, request);
    const result = changed.then(({ outcomes, errors }): ConfigResult => {
      const all = [...failed, ...errors];
      return { plan, outcomes, errors: all, settings: settings.changes, run, notes };
    });
    return { result };
  }

  /**
   * Reads the files. `whole` is false if only some of their processes are selected. What they depend
   * on is applied with them, but not removed: other apps may need it.
   */
  async #load(request: ConfigRequest, applied: Applied, purpose: "apply" | "remove" = "apply") {
    const { loadConfig } = await import("../config/load_config.ts");
    const { matchingProcesses, onlyWords, selectProcesses, singleProcess } = await import(
      "../config/select.ts"
    );
    const { content, inline, inForeground, single } = request;
    const loaded = await loadConfig({
      ...(content === undefined ? { files: applied.files } : { files: [content.file], content }),
      env: { ...Deno.env.toObject(), ...applied.variables },
      variables: variablesOf(request, applied),
      ...{ inline, inForeground, profile: applied.profile },
      assumeVariables: purpose === "remove",
    });
    const select = purpose === "remove" ? matchingProcesses : selectProcesses;
    const names = new Set(loaded.processes.map(({ config }) => config.name));
    const remembered = purpose === "remove" ? undefined : applied.only;
    const only = onlyWords(single?.name ?? request.only) ??
      remembered?.filter((name) => names.has(name));
    const configs = single === undefined
      ? select(loaded.processes, only).map(({ config }) => config)
      : [singleProcess(loaded.processes, single.name, Deno.env.toObject(), single.now)];
    this.#refuseOthers(configs, applied.files);
    const { directory } = this.#parts.supervisor;
    const kept = configs.map((config) =>
      keptInRelease(this.#withShell(config, request), directory.app(config.name)?.wanted.cwd)
    );
    return { loaded, configs: kept, whole: only === undefined };
  }

  /** An app keeps the environment that it was created with, as a file does not name one. */
  #withShell(config: ProcessConfig, { shellEnv, updateEnv }: ConfigRequest): ProcessConfig {
    if (config.shellEnv !== undefined) return config;
    const [there] = this.#parts.supervisor.directory.instancesOf(config.name);
    const own = there === undefined || (updateEnv && shellEnv) ? shellEnv : there.config.shellEnv;
    return own === undefined ? config : { ...config, shellEnv: own };
  }

  async #planSettings(
    wanted: LoadedSettings,
    files: readonly string[],
    whole: boolean,
    { prune = false, dryRun = false }: ConfigRequest,
  ): Promise<SettingsPlan> {
    const { settings } = this.#memory;
    const present = await presentSettings(this.#parts);
    const isOurs = (name: SettingName) => settings[name]?.some((file) => files.includes(file));
    for (const name of SETTING_NAMES) {
      if (wanted[name] === undefined || isOurs(name) || !present.includes(name)) continue;
      const other = settings[name]?.find((file) => lookAt(file) !== undefined);
      if (other === undefined) continue;
      throw new ProcsupError("name_taken", `"${name}" comes from "${other}"`, {
        hint: "Set it in only one of the two files",
      });
    }
    const mine = SETTING_NAMES.filter((name) =>
      whole && comesOnlyFrom(files, settings[name] ?? [])
    );
    return await planSettings(this.#parts, {
      ...{ wanted, mine, prune, purpose: dryRun ? "look" : "start" },
    });
  }

  #applied({ files, inline, content, profile, variables = {} }: ConfigRequest): Applied {
    if (inline ?? content) return { files: [], variables, profile };
    if (files !== undefined) return { files: files.map(absolute), variables, profile };
    const { last } = this.#memory;
    if (last === undefined) {
      throw new ProcsupError("bad_request", "No configuration file is applied", {
        hint: { text: "Name a file", command: { verb: "up", target: "procsup.yaml" } },
      });
    }
    return {
      ...last,
      variables: { ...last.variables, ...variables },
      profile: profile ?? last.profile,
    };
  }

  /** Names of processes that came only from these files and were not replaced since. */
  #mine(files: readonly string[]): string[] {
    const { origins } = this.#memory;
    return Object.entries(origins).filter(([name, origin]) =>
      comesOnlyFrom(files, origin.files) &&
      this.#ids(name).some((id) => origin.ids.includes(id))
    ).map(([name]) => name);
  }

  /**
   * Refuses processes of another file: two files that both set a process would overwrite each
   * other's changes. An app that was started in another folder belongs to another project.
   */
  #refuseOthers(configs: readonly ProcessConfig[], files: readonly string[]): void {
    const origins = new Map(Object.entries(this.#memory.origins));
    const folders = files.map((file) => `${dirname(file)}/`);
    for (const { name, cwd } of configs) {
      const there = this.#parts.supervisor.directory.instancesOf(name);
      const origin = origins.get(name);
      if (origin !== undefined && there.some(({ id }) => origin.ids.includes(id))) {
        if (origin.files.some((file) => files.includes(file))) continue;
        const other = origin.files.find((file) => lookAt(file) !== undefined);
        if (other !== undefined) refuseTaken(name, `comes from "${other}"`);
        continue;
      }
      const isOurs = (folder: string) =>
        folder === cwd || folders.some((ours) => `${folder}/`.startsWith(ours));
      const foreign = there.find(({ config }) => !isOurs(config.cwd));
      if (foreign === undefined || files.length === 0) continue;
      refuseTaken(name, `was started in "${foreign.config.cwd}"`);
    }
  }

  /** What was applied. It is read once: a full disk may delay the writing. */
  get #memory(): ConfigMemory {
    return this.#known ??= this.#read();
  }

  #read(): ConfigMemory {
    const { value = NOTHING, problems } = readState(this.#parts.path, (value) => {
      const memory = value as ConfigMemory;
      if (memory.version === 1) return memory;
      throw new Error(`unknown version ${JSON.stringify(memory.version)}`);
    });
    for (const problem of problems) this.#parts.warn(problem);
    return value;
  }

  #ids(name: string): string[] {
    return this.#parts.supervisor.directory.instancesOf(name).map(({ id }) => id);
  }

  #remember(
    applied: Applied,
    names: readonly string[],
    wanted: LoadedSettings,
    { inline, content, only }: ConfigRequest,
  ): void {
    if (inline ?? content) return;
    const memory = this.#memory;
    const { files } = applied;
    const origins = new Map(
      Object.entries(memory.origins).filter(([name]) => this.#ids(name).length > 0),
    );
    for (const name of names) origins.set(name, { files, ids: this.#ids(name) });
    const settings = { ...memory.settings };
    for (const name of SETTING_NAMES) if (wanted[name] !== undefined) settings[name] = files;
    const last = only === undefined ? applied : withSelection(memory.last, applied, names);
    this.#write({ version: 1, last, origins: Object.fromEntries(origins), settings });
  }

  /** A reload must not start what `down` has deleted: all of the files, or only these processes. */
  #forget(files: readonly string[], names?: readonly string[]): void {
    const memory = this.#memory;
    if (memory.last === undefined || !comesOnlyFrom(files, memory.last.files)) return;
    const only = names && memory.last.only?.filter((name) => !names.includes(name));
    if (names !== undefined && only === undefined) return;
    this.#write({ ...memory, last: only?.length ? { ...memory.last, only } : undefined });
  }

  /** What was removed comes from no file any more: it may be set by hand. */
  #forgetSettings({ changes }: SettingsPlan): void {
    const removed = changes.filter(({ change }) => change === "removed").map(({ name }) => name);
    if (removed.length === 0) return;
    const { settings, ...memory } = this.#memory;
    const left = Object.entries(settings).filter(([name]) => !removed.some((one) => one === name));
    this.#write({ ...memory, settings: Object.fromEntries(left) });
  }

  #write(memory: ConfigMemory): void {
    this.#known = memory;
    const { supervisor, path } = this.#parts;
    // Only the user can read the file.
    const write = () => writeState(path, memory);
    supervisor.writes.attempt("the memory of the configuration files", write);
  }
}

/**
 * What a reload applies after only some processes of files were applied: the same files as before,
 * otherwise these processes.
 */
function withSelection(
  last: Applied | undefined,
  applied: Applied,
  names: readonly string[],
): Applied {
  if (last === undefined) return { ...applied, only: names };
  if (last.only === undefined || `${last.files}` !== `${applied.files}`) return last;
  return { ...applied, only: [...new Set([...last.only, ...names])] };
}

/**
 * The values for `${…}`: those of the command that applies the files, if they were sent. In a reload
 * the daemon's own environment stands only for variables that are new in the files.
 */
function variablesOf(
  { files, inline, content, variables }: ConfigRequest,
  applied: Applied,
): Readonly<Record<string, string>> {
  if (variables !== undefined && (files ?? inline ?? content) !== undefined) return variables;
  const environment = Deno.env.toObject();
  for (const name of applied.unset ?? []) delete environment[name];
  return { ...environment, ...applied.variables };
}

/** Whether something came from some of these files, and no other file that exists may still have it. */
function comesOnlyFrom(files: readonly string[], origin: readonly string[]): boolean {
  return origin.some((file) => files.includes(file)) &&
    origin.every((file) => files.includes(file) || lookAt(file) === undefined);
}

function refuseTaken(name: string, why: string): never {
  throw new ProcsupError("name_taken", `"${name}" ${why}`, {
    hint: {
      text:
        "Use another home for a second checkout (PROCSUP_HOME), choose another name, or delete it",
      command: { verb: "delete", target: name },
    },
  });
}

const SETTING_NAMES: readonly SettingName[] = ["web", "webhooks", "alerts"];

/** Where a process came from. */
interface Origin {
  readonly files: readonly string[];
  /** UUIDs of the instances at that time. A later process of that name has other UUIDs. */
  readonly ids: readonly string[];
}

/** Files that were applied, with their options. */
interface Applied {
  readonly files: readonly string[];
  readonly profile?: string;
  /** Values of `${…}` at that time: the daemon's environment differs from that of its client. */
  readonly variables: Readonly<Record<string, string>>;
  /** Variables of `${…}` that were not set at that time. The daemon's environment may have them. */
  readonly unset?: readonly string[];
  /** Names of the processes that were applied; undefined for all. */
  readonly only?: readonly string[];
}

interface ConfigMemory {
  readonly version: 1;
  readonly last?: Applied | undefined;
  /** Origins by process name. */
  readonly origins: Readonly<Record<string, Origin>>;
  /** Files that set the daemon's settings. */
  readonly settings: { readonly [S in SettingName]?: readonly string[] };
}

const NOTHING: ConfigMemory = { version: 1, origins: {}, settings: {} };
