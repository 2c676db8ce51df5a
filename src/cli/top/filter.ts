/** Which apps a filter shows: words as in targets, or a part of the name. Pure. */

import type { ProcessJson } from "../../protocol/process_json.ts";

/**
 * The test of a filter. All of its words must hold: `ns:…`, `tag:…`, `label:KEY[=VALUE]`,
 * `state:…`, a number, the name of a state, a part of the name, or the start of an id; `!` before a
 * word turns it round.
 */
export function parseFilter(filter: string): (process: ProcessJson) => boolean {
  const tests = filter.toLowerCase().split(/\s+/).filter((word) => word !== "" && word !== "!")
    .map(wordTest);
  return (process) => tests.every((test) => test(process));
}

function wordTest(word: string): (process: ProcessJson) => boolean {
  if (word.startsWith("!")) {
    const test = wordTest(word.slice(1));
    return (process) => !test(process);
  }
  const [, kind, value = ""] = /^(ns|tag|label|state):(.*)$/s.exec(word) ?? [];
  switch (kind) {
    case "ns":
      return ({ namespace }) => namespace.toLowerCase().startsWith(value);
    case "tag":
      return ({ tags }) => tags.some((tag) => tag.toLowerCase().startsWith(value));
    case "label":
      return ({ config }) => hasLabel(config.labels, value);
    case "state":
      return ({ state }) => state.startsWith(value);
  }
  if (word === "all") return () => true;
  return ({ name, id, state, numeric_id }) =>
    name.toLowerCase().includes(word) || state === word || String(numeric_id) === word ||
    (word.length >= 4 && id.startsWith(word));
}

function hasLabel(labels: unknown, wanted: string): boolean {
  const [key = "", value] = wanted.split(/=(.*)/s);
  return Object.entries((labels ?? {}) as Record<string, string>).some(([name, is]) =>
    name.toLowerCase() === key && (value === undefined || is.toLowerCase().startsWith(value))
  );
}
