/** Mistakes that a validation finds, with their places in the files. */

import { ConfigFieldError } from "../model/config_schema.ts";
import { messageOf, type ProcsupError } from "../model/errors.ts";
import { type Path, type Place, placeIn, valueAt } from "./document.ts";
import type { Layer } from "./layer.ts";
import { ConfigProblem } from "./problem.ts";

/** The result of `parse`; undefined if it throws, after adding its mistakes to `problems`. */
export function checked<T>(
  parse: () => T,
  layers: readonly Layer[],
  problems: ProcsupError[],
  process?: string,
): T | undefined {
  try {
    return parse();
  } catch (error) {
    const each = error instanceof ConfigFieldError ? error.each : [error];
    problems.push(...each.map((one) => located(one, layers, process)));
    return undefined;
  }
}

/** A mistake with its place in the layers, and the name of the process that has it. */
export function located(error: unknown, layers: readonly Layer[], process?: string): ConfigProblem {
  const last = layers.at(-1)!;
  const field = error instanceof ConfigFieldError ? error : undefined;
  const place = field === undefined
    ? placeIn(last.document, last.path, "key")
    : placeOfField(field, layers);
  const message = messageOf(error).replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
  const misplaced = field?.onKey && field.path[0] === "critical" && field.path.length === 1;
  return new ConfigProblem(
    place?.file ?? last.document.file,
    process === undefined ? message : `"${process}": ${message}`,
    {
      place,
      advice: process !== undefined && misplaced
        ? `write it under "run": run: { critical: [${process}] }`
        : undefined,
    },
  );
}

function placeOfField(
  { path, onKey }: ConfigFieldError,
  layers: readonly Layer[],
): Place | undefined {
  const own = path.filter((part) => typeof part !== "symbol");
  // In a cron job the schedule is not under "cron".
  const ways = own[0] === "cron"
    ? [own, own.slice(1)]
    : own[0] === "entrypoint"
    ? [own, ["command"]]
    : [own];
  for (const layer of layers.toReversed()) {
    for (const way of ways) {
      const full = [...layer.path, ...asWritten(way, layer)];
      if (way.length === 0 || valueAt(layer.document.value, full) === undefined) continue;
      return placeIn(layer.document, full, onKey ? "key" : "value");
    }
  }
  const { document, path: at } = layers.at(-1)!;
  return placeIn(document, at, "key");
}

/** The path of a dependency in a list, which stands for a map. */
function asWritten(path: Path, layer: Layer): Path {
  if (path[0] !== "depends_on" || path.length !== 2) return path;
  const given = valueAt(layer.document.value, [...layer.path, "depends_on"]);
  return Array.isArray(given) ? ["depends_on", given.indexOf(path[1])] : path;
}
