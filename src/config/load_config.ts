/** Loads configuration files: reads, extends, merges and validates them, and their settings. */

import {
  ConfigFieldError,
  jobDefaults,
  parseConfig,
  parseHostAlerts,
  parseWeb,
  parseWebhook,
} from "../model/config_schema.ts";
import { messageOf, ProcsupError } from "../model/errors.ts";
import type { Key, KeyTable } from "../model/key_table.ts";
import { isMap, onlyGiven } from "../model/merge_patch.ts";
import { didYouMean, nearestWord, withNearest } from "../model/nearest_word.ts";
import type { AlertConfig, ProcessConfig } from "../model/process_config.ts";
import { PROCESS_KEYS } from "../model/process_keys.ts";
import { conditionProblem, startWaves } from "../model/start_order.ts";
import { dirname, isAbsolute } from "@std/path";
import { parseSockets } from "../platform/sockets/sockets.ts";
import { type Path, type Place, placeIn, valueAt } from "./document.ts";
import { readDotenv } from "./env_file.ts";
import { type FileParts, FileShape, RUN_KEYS } from "./file_shape.ts";
import {
  checked,
  type Layer,
  type LayerContext,
  located,
  type Lookup,
  preparedKeys,
  type Reference,
} from "./layer.ts";
import { ConfigProblem, type Note, throwProblems } from "./problem.ts";
import { readFiles, type ReadRequest } from "./read_files.ts";
import type { WebSettings } from "../model/listen_address.ts";
import { HOST_ALERT_KEYS, WEB_KEYS, WEBHOOK_KEYS } from "../model/settings_keys.ts";
import type { Webhook } from "../model/webhook.ts";

interface LoadRequest extends ReadRequest {
  readonly profile?: string | undefined;
}

export interface LoadedProcess {
  readonly config: ProcessConfig;
  /** The merged keys as written, without defaults. */
  readonly wire: Readonly<Record<string, unknown>>;
  readonly place: Place | undefined;
  /** Values that contain variables. */
  readonly references: readonly Reference[];
  /** Places of paths that are absolute as written: they name the same file on every machine. */
  readonly absolutePaths: readonly Path[];
}

export interface LoadedConfig {
  /** Every file that was read, with those that it extends. */
  readonly files: readonly string[];
  readonly processes: readonly LoadedProcess[];
  readonly settings: LoadedSettings;
  /** Keys of settings whose values contain variables, such as `webhooks.ops.url`. */
  readonly filledSettings: ReadonlySet<string>;
  readonly run: RunSettings;
  /** Variables of the environment that were used in `${…}`. */
  readonly variables: Readonly<Record<string, string>>;
  /** Variables in `${…}` that the environment does not have. */
  readonly unset: readonly string[];
  /** Parts of another tool's file that procsup does not support. */
  readonly notes: readonly Note[];
}

/** Loads files. Throws `ConfigProblems` with all mistakes. */
export async function loadConfig(request: LoadRequest): Promise<LoadedConfig> {
  const { documents, notes, uses } = await readFiles(request);
  const { profile } = request;
  const problems: ProcsupError[] = [];
  const shapes = documents.map((document) => new FileShape(document, problems));
  const parts = shapes.map((shape) => shape.parts());
  if (profile !== undefined) {
    const profiles = shapes.map((shape) => shape.profiles());
    const known = profiles.flat();
    if (known.length === 0 && documents.some(({ origins }) => origins)) {
      // PM2 only warns of an environment that no app has.
      notes.push({ process: undefined, text: `profile "${profile}": the file has no profiles` });
    } else if (!known.includes(profile)) {
      const advice = known.length === 0
        ? "the file has no profiles"
        : `expected one of ${known.join(", ")}`;
      const what = `unknown profile "${profile}"`;
      problems.push(new ConfigProblem(documents.at(-1)!.file, what, { advice }));
    }
    const having = shapes.filter((_, index) => profiles[index]!.includes(profile));
    parts.push(...having.map((shape) => shape.profile(profile)));
  }
  const files = documents.filter(({ file }) => isAbsolute(file));
  const folders = new Set(files.map(({ file }) => dirname(file)));
  const { lookup, used, unset } = variablesOf(request.variables ?? request.env, [...folders]);
  for (const name of uses) lookup(name);
  // A number is valid for every key.
  const context = { lookup, problems, ...(request.assumeVariables ? { assumed: "1" } : {}) };
  const defaults = parts.flatMap((part) => part.defaults);
  const names = new Set(parts.flatMap(({ processes }) => [...processes.keys()]));
  const processes = [...names].flatMap((name) => {
    const own = parts.flatMap((part) => part.processes.get(name) ?? []);
    return loadProcess(name, defaults, own, context) ?? [];
  });
  // Content sent instead of a file may depend on existing processes: planApply() checks that.
  if (request.inline === undefined) {
    checkDependencies(processes, names, problems, documents[0]!.file);
  }
  await checkSyntax(processes, problems, request.assumeVariables === true);
  const { settings, filledSettings } = loadSettings(parts, context);
  const run = loadRun(parts, names, problems);
  throwProblems(distinct(problems));
  return {
    ...{ processes: processes.map(({ loaded }) => loaded), settings, filledSettings, run, notes },
    files: files.map(({ file }) => file),
    ...{ variables: used, unset: [...unset] },
  };
}

interface Loading {
  readonly loaded: LoadedProcess;
  readonly layers: readonly Layer[];
}

function loadProcess(
  name: string,
  defaults: readonly Layer[],
  own: readonly Layer[],
  context: LayerContext,
): Loading | undefined {
  const layers = [...defaults, ...own];
  const { document, path } = own[0]!;
  const prepared = layers.map((layer) => {
    const found = { references: [] as Reference[], absolutePaths: [] as Path[] };
    return { ...found, keys: preparedKeys(layer, { ...context, ...found }) };
  });
  const merged = (all: readonly Keys[]) => {
    const common = all.slice(0, defaults.length).reduce(mergeKeys, {});
    const keys = all.slice(defaults.length).reduce(mergeKeys, {});
    return mergeKeys(keys.cron === undefined ? common : jobDefaults(common), keys);
  };
  const keys = merged(prepared.map(({ keys }) => keys));
  const wire: Record<string, unknown> = { cwd: dirname(document.file), ...keys, name };
  // The same merge over the numbers of the layers tells which layer each value comes from.
  const origin = merged(prepared.map(({ keys }, layer) => numbered(keys, layer) as Keys));
  const isKept = (path: Path, layer: number) => valueAt(origin, path) === layer;
  const config = checked(() => parseConfig(wire), layers, context.problems, name);
  if (config === undefined) return undefined;
  const loaded = {
    ...{ config, wire, place: placeIn(document, path, "key") },
    references: prepared.flatMap(({ references }, layer) =>
      references.filter(({ path }) => isKept(path, layer))
    ),
    absolutePaths: prepared.flatMap(({ absolutePaths }, layer) =>
      absolutePaths.filter((path) => isKept(path, layer))
    ),
  };
  return { loaded, layers };
}

/** The keys with a number in place of each value. */
function numbered(value: unknown, number: number): unknown {
  if (value === null || value === undefined) return value;
  if (Array.isArray(value)) return value.map((item) => numbered(item, number));
  if (!isMap(value)) return number;
  const entries = Object.entries(value).map(([key, inner]) => [key, numbered(inner, number)]);
  return Object.fromEntries(entries);
}

function checkDependencies(
  processes: readonly Loading[],
  names: ReadonlySet<string>,
  problems: ProcsupError[],
  file: string,
): void {
  const byName = new Map(processes.map(({ loaded: { config } }) => [config.name, config]));
  for (const { loaded: { config }, layers } of processes) {
    for (const [dependency, condition] of Object.entries(config.dependsOn)) {
      const other = byName.get(dependency);
      const never = other && conditionProblem(condition, other);
      if (names.has(dependency) && never === undefined) continue;
      const what = `"depends_on" names "${dependency}", which is not in the file`;
      const message = never === undefined
        ? withNearest(what, nearestWord(dependency, names))
        : `Invalid "depends_on": ${never}`;
      const error = new ConfigFieldError(message, ["depends_on", dependency]);
      problems.push(located(error, layers, config.name));
    }
  }
  try {
    startWaves(processes, ({ loaded: { config: { name, dependsOn } } }) => (
      { name, dependsOn: Object.keys(dependsOn), priority: 0 }
    ));
  } catch (error) {
    problems.push(new ConfigProblem(file, messageOf(error)));
  }
}

/** Checks values that have a syntax of their own: sockets and schedules. */
async function checkSyntax(
  processes: readonly Loading[],
  problems: ProcsupError[],
  assumesVariables: boolean,
): Promise<void> {
  for (const { loaded: { config, wire }, layers } of processes) {
    const check = (key: string, act: () => unknown) => {
      try {
        act();
      } catch (error) {
        if (!(error instanceof ProcsupError)) throw error;
        // The short form of a schedule is a text.
        const path = typeof wire[key] === "string" ? [key] : error.field?.split(".") ?? [key];
        problems.push(located(new ConfigFieldError(error.message, path), layers, config.name));
      }
    };
    // A variable without a value stands for any.
    if (!assumesVariables) check("sockets", () => parseSockets(config.sockets));
    const schedule = config.cron ?? config.cronRestart;
    if (schedule === undefined) continue;
    if (assumesVariables && schedule.schedule.includes("${")) continue;
    const { parseSchedule } = await import("../model/cron.ts");
    const key = config.cron === undefined ? "cron_restart" : "cron";
    check(key, () => parseSchedule(key, schedule));
  }
}

/** Reports a mistake in the defaults only once. */
function distinct(problems: readonly ProcsupError[]): ProcsupError[] {
  const byPlace = Map.groupBy(problems, (problem) => {
    const { place } = problem as ConfigProblem;
    return place ? `${place.file}:${place.line}:${place.column}` : problem.message;
  });
  return [...byPlace.values()].map(([first]) => first!);
}

type Keys = Readonly<Record<string, unknown>>;

/**
 * Merges `over` into `base`; null values of `over` are ignored. Maps, and objects without a short form,
 * are merged by key; other values are replaced.
 */
function mergeKeys(base: Keys, over: Keys): Record<string, unknown> {
  const merged = withoutRenamed(base, over, PROCESS_KEYS);
  for (const [key, value] of Object.entries(over)) {
    if (value === null || value === undefined) continue;
    merged[key] = mergedValue(merged[key], value, PROCESS_KEYS[key]);
  }
  return merged;
}

function mergedValue(before: unknown, value: unknown, row: Key | undefined): unknown {
  if (!isMap(before) || !isMap(value)) return value;
  if (row?.type === "map") return { ...before, ...value };
  const isMerged = row?.type === "object" && row.short === undefined;
  return isMerged ? { ...withoutRenamed(before, value, row.keys), ...value } : value;
}

/** Removes from `base` the keys that `over` gives under any of their names: the newer value wins. */
function withoutRenamed(base: Keys, over: Keys, table: KeyTable): Record<string, unknown> {
  const kept: Record<string, unknown> = { ...base };
  for (const [key, { aliases = [] }] of Object.entries(table)) {
    const names = [key, ...aliases];
    if (aliases.length === 0 || names.every((name) => over[name] === undefined)) continue;
    for (const name of names) delete kept[name];
  }
  return kept;
}

/**
 * Looks up variables in the environment, then in the `.env` files of folders, of which the last one
 * wins. These are read only when needed; `lookup` throws if one cannot be read. `used` are the
 * variables of the environment that were used, and `unset` those that it does not have.
 */
function variablesOf(env: Readonly<Record<string, string>>, folders: readonly string[]) {
  const used: Record<string, string> = {};
  const unset = new Set<string>();
  let fromFiles: Record<string, string> | undefined;
  const lookup: Lookup = (name) => {
    if (Object.hasOwn(env, name)) return used[name] = env[name]!;
    unset.add(name);
    fromFiles ??= Object.assign({}, ...folders.map((folder) => readDotenv(`${folder}/.env`)));
    return Object.hasOwn(fromFiles!, name) ? fromFiles![name] : undefined;
  };
  return { lookup, used, unset };
}

/** The daemon's settings in the files; undefined if no file has them. */
export interface LoadedSettings {
  readonly web?: WebSettings;
  readonly webhooks?: readonly Webhook[];
  /** Those of the host. */
  readonly alerts?: readonly AlertConfig[];
}

/** Loads the settings. Later parts override earlier ones. Adds mistakes to `context.problems`. */
function loadSettings(
  parts: readonly FileParts[],
  context: LayerContext,
): Pick<LoadedConfig, "settings" | "filledSettings"> {
  const web = parts.flatMap((part) => part.web ?? []);
  const lists = parts.flatMap((part) => part.webhooks ?? []);
  const names = new Set(lists.flatMap((list) => [...list.keys()]));
  const filledSettings = new Set<string>();
  const webhooks = [...names].flatMap((name) => {
    const layers = lists.flatMap((list) => list.get(name) ?? []);
    const cwd = dirname(layers.at(-1)!.document.file);
    const references: Reference[] = [];
    const wire = { ...overlaid(layers, { ...context, references }, WEBHOOK_KEYS), name };
    for (const { path } of references) filledSettings.add(`webhooks.${name}.${path.join(".")}`);
    return checked(() => parseWebhook(wire, cwd), layers, context.problems) ?? [];
  });
  const alerts = parts.flatMap((part) => part.alerts ?? []);
  const settings = onlyGiven({
    web: web.length === 0
      ? undefined
      : checked(() => parseWeb(overlaid(web, context, WEB_KEYS)), web, context.problems),
    webhooks: lists.length === 0 ? undefined : webhooks,
    alerts: alerts.length === 0 ? undefined : checked(
      () => parseHostAlerts(overlaid(alerts, context, HOST_ALERT_KEYS)),
      alerts,
      context.problems,
    ),
  });
  return { settings, filledSettings };
}

/** The keys of layers. Those that are null are as if they were missing. */
function overlaid(layers: readonly Layer[], context: LayerContext, table: KeyTable): Keys {
  const all = layers.map((layer) => {
    const keys = Object.entries(preparedKeys(layer, context, table));
    return Object.fromEntries(keys.filter(([, value]) => value !== null));
  });
  return Object.assign({}, ...all);
}

/** Names of processes that end `procsup run` before all processes have ended. */
export interface RunSettings {
  /** Processes whose final exit ends it. */
  readonly critical: readonly string[];
  /** Processes whose failure ends it. */
  readonly exitOnFailure: readonly string[];
}

/**
 * The names under each key of `run`, from the last part that has the key. Adds mistakes, such as names
 * that are not in `names`, to `problems`.
 */
function loadRun(
  parts: readonly FileParts[],
  names: ReadonlySet<string>,
  problems: ProcsupError[],
): RunSettings {
  const layers = parts.flatMap(({ run }) => run ?? []);
  const [critical, exitOnFailure] = RUN_KEYS.map((key) => {
    const layer = layers.findLast(({ value }) => (value[key] ?? null) !== null);
    if (layer === undefined) return [];
    const given = layer.value[key];
    const list: readonly unknown[] = Array.isArray(given) ? given : [given];
    for (const [index, name] of list.entries()) {
      if (names.has(name as string)) continue;
      const path = [...layer.path, key, ...Array.isArray(given) ? [index] : []];
      const place = placeIn(layer.document, path);
      const near = typeof name === "string" ? nearestWord(name, names) : undefined;
      const what = `"run.${key}" names ${JSON.stringify(name)}, which is not in the file`;
      const advice = near && didYouMean(near);
      problems.push(new ConfigProblem(layer.document.file, what, { place, advice }));
    }
    return list as readonly string[];
  });
  return { critical: critical!, exitOnFailure: exitOnFailure! };
}
