/** From configuration files to checked configurations: read, extended, merged, checked. */

import { ConfigFieldError, parseConfig } from "../model/config_schema.ts";
import { didYouMean } from "../model/did_you_mean.ts";
import { parseDotenv } from "../model/dotenv.ts";
import { messageOf, ProcsupError } from "../model/errors.ts";
import type { ProcessConfig } from "../model/process_config.ts";
import { PROCESS_KEYS } from "../model/process_keys.ts";
import { startWaves } from "../model/start_order.ts";
import { readForeignFile } from "../platform/foreign_file.ts";
import { isMap, type Place, placeIn, valueAt } from "./document.ts";
import { FileShape } from "./file_shape.ts";
import { folderOf, type Layer, type LayerContext, type Lookup, preparedKeys } from "./layer.ts";
import { loadCritical, type LoadedSettings, loadSettings } from "./load_settings.ts";
import { ConfigProblem, throwProblems } from "./problem.ts";
import { type Note, readFiles } from "./read_files.ts";

/** What is loaded. */
export interface LoadRequest {
  /** What a file would hold, instead of files. Its relative paths are against `/`. */
  readonly inline?: object;
  /** Taken instead of what that one of the files holds. */
  readonly content?: { readonly file: string; readonly text: string };
  /** Absolute paths; the later ones are laid over the earlier ones. */
  readonly files: readonly string[];
  /** Where `${…}` is looked up, before the `.env` beside a file. */
  readonly env: Readonly<Record<string, string>>;
  readonly profile?: string;
}

/** One process of the files. */
export interface LoadedProcess {
  readonly config: ProcessConfig;
  /** The same as it was written, merged: what is sent to the daemon. */
  readonly wire: Readonly<Record<string, unknown>>;
  readonly place: Place | undefined;
}

/** What the files say. */
export interface LoadedConfig {
  readonly processes: readonly LoadedProcess[];
  /** What concerns the daemon itself. */
  readonly settings: LoadedSettings;
  /** Names of the processes whose end is the end of `procsup run`. */
  readonly critical: readonly string[];
  /** The variables that `${…}` named, as far as they are set in the environment. */
  readonly variables: Readonly<Record<string, string>>;
  /** What another tool's file says and procsup has nothing for. */
  readonly notes: readonly Note[];
}

/** Loads. Throws `ConfigProblems` with every mistake that was found. */
export async function loadConfig(request: LoadRequest): Promise<LoadedConfig> {
  const { documents, notes } = await readFiles(request);
  const problems: ProcsupError[] = [];
  const shapes = documents.map((document) => new FileShape(document, problems));
  const parts = shapes.map((shape) => shape.parts());
  if (request.profile !== undefined) {
    const { profile } = request;
    const having = shapes.filter((shape) => shape.profiles().includes(profile));
    const foreign = documents.some(({ literal }) => literal);
    if (having.length === 0 && !foreign) {
      problems.push(unknownProfile(profile, shapes, documents.at(-1)!.file));
    }
    parts.push(...having.map((shape) => shape.profile(profile)));
  }
  const files = documents.filter(({ literal, file }) => !literal && file.startsWith("/"));
  const folders = new Set(files.map(({ file }) => folderOf(file)));
  const { lookup, used } = variablesOf({ env: request.env, folders: [...folders] });
  const context = { lookup, problems };
  const defaults = parts.flatMap((part) => part.defaults);
  const names = new Set(parts.flatMap(({ processes }) => [...processes.keys()]));
  const processes = [...names].flatMap((name) => {
    const own = parts.flatMap((part) => part.processes.get(name) ?? []);
    return loadProcess(name, defaults, own, context) ?? [];
  });
  checkDependencies(processes, names, problems, documents[0]!.file);
  const settings = loadSettings(parts, context);
  const critical = loadCritical(parts, names, problems);
  throwProblems(distinct(problems));
  return {
    ...{ processes: processes.map(({ loaded }) => loaded), settings, critical, notes },
    variables: used,
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
  const base: Record<string, unknown> = { cwd: folderOf(document.file) };
  const wire = layers.map((layer) => preparedKeys(layer, context))
    .reduce((merged, keys) => mergeKeys(merged, keys), base);
  wire.name = name;
  try {
    const place = placeIn(document, path, "key");
    return { loaded: { config: parseConfig(wire), wire, place }, layers };
  } catch (error) {
    context.problems.push(located(error, name, layers));
    return undefined;
  }
}

/** The failure of a check, with the place of the layer that brought the value in. */
function located(error: unknown, name: string, layers: readonly Layer[]): ProcsupError {
  const last = layers.at(-1)!;
  const what = `"${name}": ${messageOf(error).replace(/^[A-Z](?=[a-z])/, (c) => c.toLowerCase())}`;
  const field = error instanceof ConfigFieldError ? error : undefined;
  const place = field === undefined
    ? placeIn(last.document, last.path, "key")
    : placeOfField(field, layers);
  const file = place?.file ?? last.document.file;
  const misplaced = field?.onKey && field.path[0] === "critical" && field.path.length === 1;
  return new ConfigProblem(file, what, {
    ...(place && { place }),
    ...(misplaced ? { advice: `it stands under "run": run: { critical: [${name}] }` } : {}),
  });
}

function placeOfField({ path, onKey }: ConfigFieldError, layers: readonly Layer[]) {
  const own = path.filter((part) => typeof part !== "symbol");
  // A schedule stands in a job itself, not under a key of its own.
  const ways = own[0] === "cron" ? [own, own.slice(1)] : [own];
  for (const layer of layers.toReversed()) {
    for (const way of ways) {
      const full = [...layer.path, ...way];
      if (way.length === 0 || valueAt(layer.document.value, full) === undefined) continue;
      return placeIn(layer.document, full, onKey ? "key" : "value");
    }
  }
  const { document, path: at } = layers.at(-1)!;
  return placeIn(document, at, "key");
}

function checkDependencies(
  processes: readonly Loading[],
  names: ReadonlySet<string>,
  problems: ProcsupError[],
  file: string,
): void {
  for (const { loaded: { config }, layers } of processes) {
    for (const dependency of Object.keys(config.dependsOn)) {
      if (names.has(dependency)) continue;
      const near = didYouMean(dependency, names);
      const message = `"depends_on" names "${dependency}", which is not in the file` +
        (near === undefined ? "" : `: did you mean "${near}"?`);
      problems.push(
        located(new ConfigFieldError(message, ["depends_on", dependency]), config.name, layers),
      );
    }
  }
  try {
    startWaves(processes, ({ loaded: { config } }) => ({
      name: config.name,
      dependsOn: Object.keys(config.dependsOn),
      priority: 0,
    }));
  } catch (error) {
    problems.push(new ConfigProblem(file, messageOf(error)));
  }
}

function unknownProfile(
  profile: string,
  shapes: readonly FileShape[],
  file: string,
): ProcsupError {
  const names = shapes.flatMap((shape) => shape.profiles());
  const known = names.length === 0 ? "the file has none" : `there are ${names.join(", ")}`;
  return new ConfigProblem(file, `there is no profile "${profile}"`, { advice: known });
}

/** A mistake in the defaults is one mistake, however many processes have it. */
function distinct(problems: readonly ProcsupError[]): ProcsupError[] {
  const seen = new Set<string>();
  return problems.filter((problem) => {
    const { place } = problem as ConfigProblem;
    const id = place === undefined
      ? problem.message
      : `${place.file}:${place.line}:${place.column}`;
    return !seen.has(id) && seen.add(id);
  });
}

type Keys = Readonly<Record<string, unknown>>;

/**
 * `over` laid over `base`; a key that is null in it is left out. Maps, and objects without a shorter
 * form, are merged entry by entry; any other value is replaced.
 */
export function mergeKeys(base: Keys, over: Keys): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, { aliases = [] }] of Object.entries(PROCESS_KEYS)) {
    // Several names for one key: the newer one wins.
    const names = [key, ...aliases];
    if (aliases.length === 0 || names.every((name) => over[name] === undefined)) continue;
    for (const name of names) delete merged[name];
  }
  for (const [key, value] of Object.entries(over)) {
    if (value === null || value === undefined) continue;
    const before = merged[key];
    merged[key] = isMerged(key) && isMap(before) && isMap(value) ? { ...before, ...value } : value;
  }
  return merged;
}

function isMerged(key: string): boolean {
  const row = PROCESS_KEYS[key];
  return row?.type === "map" || (row?.type === "object" && row.short === undefined);
}

/** Where to look. */
export interface VariableSources {
  /** The environment, which comes first. */
  readonly env: Readonly<Record<string, string>>;
  /** Folders whose `.env` is read when the environment has no such variable; the last comes first. */
  readonly folders: readonly string[];
}

/** A lookup, and what it has found in the environment. */
export interface Variables {
  /** Throws when a `.env` that is needed cannot be read. */
  readonly lookup: Lookup;
  /** Those of the environment that were asked for. What a `.env` says can be read again. */
  readonly used: Readonly<Record<string, string>>;
}

/** Looks up variables. No `.env` is touched before one is needed. */
export function variablesOf({ env, folders }: VariableSources): Variables {
  const used: Record<string, string> = {};
  let fromFiles: Record<string, string> | undefined;
  const lookup = (name: string) => {
    if (Object.hasOwn(env, name)) return used[name] = env[name]!;
    fromFiles ??= Object.assign({}, ...folders.map(dotenvIn));
    return Object.hasOwn(fromFiles!, name) ? fromFiles![name] : undefined;
  };
  return { lookup, used };
}

function dotenvIn(folder: string): Record<string, string> {
  const file = `${folder}/.env`;
  try {
    return parseDotenv(readForeignFile(file), file);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.IsADirectory) {
      return {};
    }
    throw error;
  }
}
