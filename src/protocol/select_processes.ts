/** Matches targets, and filters that are typed, against a list from the daemon. Pure. */

import { hasCode } from "../model/errors.ts";
import { conditionOf } from "../model/process_info.ts";
import { type Addressable, resolveTarget } from "../model/target.ts";
import type { ProcessJson } from "./wire.ts";

/**
 * The processes that match any of the targets, each once, in list order; all of them without targets.
 * Throws `process_not_found` and `ambiguous_target` like the daemon.
 */
export function selectProcesses(
  processes: readonly ProcessJson[],
  targets: readonly string[],
): readonly ProcessJson[] {
  if (targets.length === 0) return processes;
  const all = processes.map(addressable);
  const found = new Set(
    targets.flatMap((target) => resolveTarget(shownId(target), all)).map(({ process }) => process),
  );
  return processes.filter((process) => found.has(process));
}

/** A list has only the beginning of a UUID, of which hooks know the whole. */
function shownId(target: string): string {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(target) ? target.slice(0, 8) : target;
}

/**
 * Like `selectProcesses()`, but ignores targets that match nothing at present: a list that is watched
 * may get such a process later. Throws `ambiguous_target`.
 */
export function selectPresent(
  processes: readonly ProcessJson[],
  targets: readonly string[],
): readonly ProcessJson[] {
  if (targets.length === 0) return processes;
  const found = new Set(targets.flatMap((target) => present(processes, target)));
  return processes.filter((process) => found.has(process));
}

function present(processes: readonly ProcessJson[], target: string): readonly ProcessJson[] {
  try {
    return selectProcesses(processes, [target]);
  } catch (error) {
    if (hasCode(error, "process_not_found")) return [];
    throw error;
  }
}

function addressable(process: ProcessJson): Addressable & { readonly process: ProcessJson } {
  const { id, numeric_id, name, namespace, tags, config } = process;
  const labels = (config.labels ?? {}) as Readonly<Record<string, string>>;
  return { id, numericId: numeric_id, name, namespace, tags, labels, process };
}

/**
 * The answer about a target. If it matches several processes (instances of an app, a namespace, a
 * tag), requests the list and returns one answer for each. Throws other errors of `ask`.
 */
export async function askEachMatch<T>(
  target: string,
  ask: (target: string) => Promise<T>,
  list: () => Promise<readonly ProcessJson[]>,
): Promise<T[]> {
  try {
    return [await ask(target)];
  } catch (error) {
    if (!hasCode(error, "ambiguous_target")) throw error;
    const found = selectProcesses(await list(), [target]);
    return await Promise.all(found.map(({ name }) => ask(name)));
  }
}

/** The fields of a process that a filter can match. */
export type Filterable = Pick<
  ProcessJson,
  "id" | "numeric_id" | "name" | "namespace" | "tags" | "config" | "state" | "health"
>;

/** Listening ports by the id of a process. */
export type PortsById = ReadonlyMap<string, readonly number[]>;

type Test = (process: Filterable) => boolean;

/**
 * Parses a filter. Its words are separated by spaces, and all must hold: `all`, `ns:…`, `tag:…`,
 * `label:KEY[=VALUE]`, `state:…`, a state or `unhealthy`, `:PORT`, a number, a part of the name, or the
 * start of an id. A `!` or `-` before a word negates it. Values match by their beginning, so that typing
 * narrows the list.
 */
export function parseFilter(filter: string, ports: PortsById = new Map()): Test {
  const tests = filter.toLowerCase().split(/\s+/).filter((word) => !/^[!-]?$/.test(word))
    .map((word) => wordTest(word, ports));
  return (process) => tests.every((test) => test(process));
}

function wordTest(word: string, ports: PortsById): Test {
  if (/^[!-]/.test(word)) {
    const test = wordTest(word.slice(1), ports);
    return (process) => !test(process);
  }
  if (word === "all") return () => true;
  const [, kind, value = ""] = /^(ns|tag|label|state|port):(.*)$/s.exec(word) ?? [];
  const begins = (text: string) => text.toLowerCase().startsWith(value);
  switch (kind) {
    case "ns":
      return ({ namespace }) => begins(namespace);
    case "tag":
      return ({ tags }) => tags.some(begins);
    case "label":
      return ({ config }) => hasLabel(config.labels, value);
    case "state":
      return (process) => begins(process.state) || begins(conditionOf(process));
    case "port":
      return ({ id }) => ports.get(id)?.some((port) => begins(String(port))) === true;
  }
  return (process) => {
    const { name, id, state, numeric_id } = process;
    return name.toLowerCase().includes(word) || state === word || conditionOf(process) === word ||
      String(numeric_id) === word ||
      ports.get(id)?.includes(Number(word.replace(/^:/, ""))) === true ||
      (word.length >= 4 && id.startsWith(word));
  };
}

function hasLabel(labels: unknown, wanted: string): boolean {
  const [key = "", value] = wanted.split(/=(.*)/s);
  return Object.entries((labels ?? {}) as Record<string, unknown>).some(([name, text]) =>
    value === undefined
      ? name.toLowerCase().startsWith(key)
      : name.toLowerCase() === key && String(text).toLowerCase().startsWith(value)
  );
}
