/** One level of a process's configuration as one file gives it: values made ready to be merged. */

import { messageOf, type ProcsupError } from "../model/errors.ts";
import { isScript } from "../runtimes/detect_runtime.ts";
import { extensionOf, isBareWord } from "../runtimes/entry.ts";
import { isExecutable, lookAt, within } from "../runtimes/executable.ts";
import { type ConfigDocument, isMap, type Path, placeIn } from "./document.ts";
import { interpolate, type Lookup } from "./interpolate.ts";
import { ConfigProblem } from "./problem.ts";

/** Keys of one file for one process, or for all of them. */
export interface Layer {
  readonly document: ConfigDocument;
  /** Where in the document they stand. */
  readonly path: Path;
  readonly value: Readonly<Record<string, unknown>>;
}

/** What a layer is made with. */
export interface LayerContext {
  readonly lookup: Lookup;
  /** Gets what is wrong. */
  readonly problems: ProcsupError[];
}

/** The layer's keys with variables filled in, numbers of `env` and `args` as text, paths absolute. */
export function preparedKeys(layer: Layer, context: LayerContext): Record<string, unknown> {
  const folder = folderOf(layer.document.file);
  const value = withText(layer, context);
  return { ...value, ...withPaths(value, folder) };
}

/** The folder of a file. */
export function folderOf(file: string): string {
  return file.slice(0, file.lastIndexOf("/")) || "/";
}

function withText(layer: Layer, context: LayerContext): Record<string, unknown> {
  const { env, health_check } = layer.value;
  const filled = (value: unknown, path: Path) => filledText(value, path, layer, context);
  const lists = LISTS.flatMap((key) => {
    const list = layer.value[key];
    if (!Array.isArray(list)) return [];
    return [[key, list.map((value, index) => filled(value, [key, index]))]];
  });
  return {
    ...layer.value,
    ...Object.fromEntries(lists),
    ...(isMap(env) ? { env: mapped(env, (value, key) => filled(value, ["env", key])) } : {}),
    ...(isMap(health_check)
      ? {
        health_check: mapped(health_check, (value, key) =>
          ENDPOINTS.has(key) && typeof value === "string"
            ? filled(value, ["health_check", key])
            : value),
      }
      : {}),
  };
}

/** Lists of texts that may hold variables. */
const LISTS = ["args", "sockets"] as const;

/** Keys of a health check that may; its command is the shell's. */
const ENDPOINTS: ReadonlySet<string> = new Set(["url", "tcp_endpoint", "address"]);

function mapped(map: Record<string, unknown>, change: (value: unknown, key: string) => unknown) {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value, key)]));
}

/** A text of a layer with its variables filled in; what is no text stays as it is. */
export function filledText(
  value: unknown,
  path: Path,
  { document, path: prefix }: Layer,
  { lookup, problems }: LayerContext,
): unknown {
  const full = [...prefix, ...path];
  // As it is written: `1.10` is a version, and no 1.1.
  if (typeof value === "number" || typeof value === "boolean") {
    const span = document.places.value(full);
    const { offset = 0, length = 0 } = span ?? {};
    return document.text.slice(offset, offset + length) || String(value);
  }
  if (typeof value !== "string" || document.literal) return value;
  try {
    return interpolate(value, lookup);
  } catch (error) {
    const place = placeIn(document, full);
    problems.push(new ConfigProblem(document.file, messageOf(error), place && { place }));
    return "";
  }
}

function withPaths(value: Record<string, unknown>, folder: string): Record<string, unknown> {
  const paths: Record<string, unknown> = {};
  const put = (key: string, path: (text: string) => string) => {
    const given = value[key];
    if (typeof given === "string") paths[key] = path(given);
    if (Array.isArray(given)) {
      paths[key] = given.map((item) => typeof item === "string" ? path(item) : item);
    }
  };
  const absolute = (path: string) => normal(folder, path);
  put("cwd", absolute);
  put("env_file", absolute);
  for (const key of ["entrypoint", "script", "binary"]) put(key, (p) => entryPath(folder, p));
  put("interpreter", (path) => path.includes("/") ? absolute(path) : path);
  put("watch", absolute);
  if (isMap(value.watch) && Array.isArray(value.watch.paths)) {
    paths.watch = { ...value.watch, paths: value.watch.paths.map((p) => textOr(p, absolute)) };
  }
  if (isMap(value.secrets)) {
    paths.secrets = Object.fromEntries(
      Object.entries(value.secrets).map(([name, source]) => [
        name,
        isMap(source) ? { ...source, ...someFile(source.file, absolute) } : source,
      ]),
    );
  }
  return paths;
}

function textOr(value: unknown, change: (text: string) => string): unknown {
  return typeof value === "string" ? change(value) : value;
}

function someFile(file: unknown, change: (text: string) => string): object {
  return file === undefined ? {} : { file: textOr(file, change) };
}

/** A path against the file where something is there, else against the working directory, or PATH. */
function entryPath(folder: string, path: string): string {
  if (path === "" || path.startsWith("/")) return path;
  const file = normal(folder, path);
  const info = lookAt(file);
  if (!isBareWord(path)) return info === undefined ? path : file;
  const runs = isExecutable(info) || (info?.isFile === true && isScript(extensionOf(path)));
  return runs ? file : path;
}

/** An absolute path without `.`, `..` and a `/` at its end. */
export function normal(folder: string, path: string): string {
  const parts: string[] = [];
  for (const part of within(folder, path).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}
