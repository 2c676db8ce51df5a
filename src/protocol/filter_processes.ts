/** The filter that is typed into `procsup top` and the dashboard. Pure. */

import type { ProcessJson } from "./wire.ts";

/** The fields of a process that a filter can match. */
export type Filterable = Pick<
  ProcessJson,
  "id" | "numeric_id" | "name" | "namespace" | "tags" | "config" | "state"
>;

type Test = (process: Filterable) => boolean;

/**
 * Parses a filter. Its words are separated by spaces, and all must hold: `all`, `ns:…`, `tag:…`,
 * `label:KEY[=VALUE]`, `state:…`, a state, a number, a part of the name, or the start of an id. A `!` or
 * `-` before a word negates it. Values match by their beginning, so that typing narrows the list.
 */
export function parseFilter(filter: string): Test {
  const tests = filter.toLowerCase().split(/\s+/).filter((word) => !/^[!-]?$/.test(word))
    .map(wordTest);
  return (process) => tests.every((test) => test(process));
}

function wordTest(word: string): Test {
  if (/^[!-]/.test(word)) {
    const test = wordTest(word.slice(1));
    return (process) => !test(process);
  }
  if (word === "all") return () => true;
  const [, kind, value = ""] = /^(ns|tag|label|state):(.*)$/s.exec(word) ?? [];
  const begins = (text: string) => text.toLowerCase().startsWith(value);
  switch (kind) {
    case "ns":
      return ({ namespace }) => begins(namespace);
    case "tag":
      return ({ tags }) => tags.some(begins);
    case "label":
      return ({ config }) => hasLabel(config.labels, value);
    case "state":
      return ({ state }) => begins(state);
  }
  return ({ name, id, state, numeric_id }) =>
    name.toLowerCase().includes(word) || state === word || String(numeric_id) === word ||
    (word.length >= 4 && id.startsWith(word));
}

function hasLabel(labels: unknown, wanted: string): boolean {
  const [key = "", value] = wanted.split(/=(.*)/s);
  return Object.entries((labels ?? {}) as Record<string, unknown>).some(([name, text]) =>
    value === undefined
      ? name.toLowerCase().startsWith(key)
      : name.toLowerCase() === key && String(text).toLowerCase().startsWith(value)
  );
}
