/** The services of a compose file, with those that it includes, extends and is overridden by. */

import { isMap, mapOf, mergePatch } from "../model/merge_patch.ts";
import { basename, dirname, isAbsolute, relative, resolve } from "@std/path";
import { lookAt } from "../platform/files/stat.ts";
import { type ConfigDocument, type Path, type Place, placeIn } from "../config/document.ts";
import { readDocument } from "../config/read_document.ts";

export type Service = Readonly<Record<string, unknown>>;

export interface Services {
  readonly services: Readonly<Record<string, unknown>>;
  /** The other keys of the file. */
  readonly rest: Readonly<Record<string, unknown>>;
  readonly placeOf: (path: Path) => Place | undefined;
  /** What could not be read, as `key: why`. */
  readonly lost: readonly string[];
}

/** Reads everything that docker compose would. */
export async function readServices(document: ConfigDocument): Promise<Services> {
  const reader = new ServiceReader(dirname(document.file));
  const override = overrideOf(document.file);
  const own = await reader.add(document, []);
  if (override !== undefined) {
    const over = await reader.read(override, "override");
    if (over !== undefined) await reader.add(over, [document.file], true);
  }
  const { services: _, include: __, ...rest } = own;
  return { services: reader.services, rest, placeOf: reader.placeOf, lost: reader.lost };
}

/** The file that docker compose merges into its default file. */
function overrideOf(file: string): string | undefined {
  if (!/^(docker-)?compose\.ya?ml$/.test(basename(file))) return undefined;
  const names = ["compose.override.yml", "compose.override.yaml"];
  return [...names, ...names.map((name) => `docker-${name}`)]
    .map((name) => resolve(dirname(file), name)).find((path) => lookAt(path)?.isFile);
}

class ServiceReader {
  readonly services: Record<string, unknown> = {};
  readonly lost: string[] = [];
  /** The document that a service is in. */
  readonly #documents = new Map<string, ConfigDocument>();
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  readonly placeOf = (path: Path): Place | undefined => {
    const name = path[0] === "services" ? String(path[1]) : "";
    const document = this.#documents.get(name) ?? this.#documents.get("");
    return document && placeIn(document, path, "key");
  };

  /** Adds the services of a document. Returns its value. */
  async add(document: ConfigDocument, trail: readonly string[], isOver = false) {
    const value = mapOf(document.value);
    if (!this.#documents.has("")) this.#documents.set("", document);
    for (const entry of [value.include ?? []].flat()) {
      const { path, project_directory } = isMap(entry) ? entry : { path: entry };
      for (const name of [path ?? []].flat()) {
        const file = resolve(dirname(document.file), String(name));
        if (trail.includes(file) || file === document.file) continue;
        const included = await this.read(file, "include");
        if (included === undefined) continue;
        const folder = project_directory === undefined
          ? dirname(file)
          : resolve(dirname(document.file), String(project_directory));
        await this.#addAll(included, [...trail, document.file], folder);
        await this.add({ ...included, value: { include: mapOf(included.value).include } }, [
          ...trail,
          document.file,
        ]);
      }
    }
    await this.#addAll(document, trail, dirname(document.file), isOver);
    return value;
  }

  async #addAll(
    document: ConfigDocument,
    trail: readonly string[],
    folder: string,
    isOver = false,
  ): Promise<void> {
    for (const [name, given] of Object.entries(mapOf(mapOf(document.value).services))) {
      const before = this.services[name];
      if (!this.#documents.has(name) || !isOver) this.#documents.set(name, document);
      const service = isMap(given) ? await this.#whole(given, document, [name, ...trail]) : given;
      const placed = isMap(service) ? moved(service, folder, this.#folder) : service;
      this.services[name] = isOver && isMap(before) && isMap(placed)
        ? mergedServices(before, placed)
        : placed;
    }
  }

  /** A service with the keys of the one that it extends. */
  async #whole(
    service: Service,
    document: ConfigDocument,
    trail: readonly string[],
  ): Promise<Service> {
    const { extends: given, ...own } = service;
    if (given === undefined) return own;
    const { service: name, file } = isMap(given) ? given : { service: given, file: undefined };
    const path = file === undefined ? document.file : resolve(dirname(document.file), String(file));
    const key = `${path}#${name}`;
    const other = file === undefined ? document : await this.read(path, "extends");
    const base = mapOf(mapOf(other?.value).services)[String(name)];
    if (other === undefined || !isMap(base) || trail.includes(key)) {
      if (other !== undefined) {
        this.lost.push(`extends ${name}: no such service in ${basename(path)}`);
      }
      return own;
    }
    const whole = await this.#whole(base, other, [key, ...trail]);
    return mergedServices(moved(whole, dirname(path), dirname(document.file)), own);
  }

  /** Reads another file; undefined, with a note, if that fails. */
  async read(file: string, key: string): Promise<ConfigDocument | undefined> {
    try {
      return await readDocument(file, {}, { kind: "compose" });
    } catch (error) {
      this.lost.push(`${key} ${relative(this.#folder, file)}: ${(error as Error).message}`);
      return undefined;
    }
  }
}

/** Lists that replace those below. */
const REPLACED = new Set(["command", "entrypoint", "profiles"]);

/** The keys of `over` over those of `base`, as docker compose merges them. */
function mergedServices(base: Service, over: Service): Service {
  const merged = { ...mapOf(mergePatch(base, over)) } as Record<string, unknown>;
  for (const [key, value] of Object.entries(over)) {
    const before = base[key];
    if (before === undefined || before === null || REPLACED.has(key)) {
      merged[key] = value;
    } else if (key === "environment" || key === "labels") {
      merged[key] = { ...plainMap(before), ...plainMap(value) };
    } else if (key === "depends_on") {
      merged[key] = { ...dependencies(before), ...dependencies(value) };
    } else if (key === "env_file" || (Array.isArray(value) && Array.isArray(before))) {
      merged[key] = [before, value].flat();
    }
  }
  return merged;
}

/** The map of a list of `NAME=value`. A name alone has the value null. */
function plainMap(value: unknown): Record<string, unknown> {
  if (!Array.isArray(value)) return mapOf(value) as Record<string, unknown>;
  return Object.fromEntries(
    value.map((pair) => {
      const [name, text] = String(pair).split(/=(.*)/s);
      return [name!, text ?? null];
    }),
  );
}

function dependencies(value: unknown): Record<string, unknown> {
  if (!Array.isArray(value)) return mapOf(value) as Record<string, unknown>;
  return Object.fromEntries(value.map((name) => [name, { condition: "service_started" }]));
}

/** A service of a file in one folder, for a file in another: relative paths are adapted. */
function moved(service: Service, from: string, to: string): Service {
  if (from === to) return service;
  const path = (text: unknown) =>
    isAbsolute(String(text)) || /^[~$]/.test(String(text))
      ? text
      : `./${relative(to, resolve(from, String(text)))}`;
  const isRelative = (text: unknown) => /^\.{1,2}(\/|$)/.test(String(text));
  const { build, env_file, volumes } = service;
  return {
    ...service,
    ...(typeof build === "string" ? { build: path(build) } : {}),
    ...(isMap(build) && build.context !== undefined
      ? { build: { ...build, context: path(build.context) } }
      : {}),
    ...(env_file === undefined ? {} : {
      env_file: [env_file].flat().map((one) =>
        isMap(one) ? { ...one, path: path(one.path) } : path(one)
      ),
    }),
    ...(Array.isArray(volumes)
      ? {
        volumes: volumes.map((one) => {
          if (isMap(one)) {
            return isRelative(one.source) ? { ...one, source: path(one.source) } : one;
          }
          const [source, ...rest] = String(one).split(":");
          return isRelative(source) ? [path(source), ...rest].join(":") : one;
        }),
      }
      : {}),
  };
}
