/** `run` of configuration files: what `procsup run` makes of them. A daemon has no use for it. */

import { didYouMean } from "../model/did_you_mean.ts";
import type { ProcsupError } from "../model/errors.ts";
import { placeIn } from "./document.ts";
import type { FileParts } from "./file_shape.ts";
import type { Layer } from "./layer.ts";
import { ConfigProblem } from "./problem.ts";

/**
 * The names under `run.critical` of the last part that has any: processes whose end for good is the end
 * of all. What is wrong, and what is none of `names`, goes to `problems`.
 */
export function loadCritical(
  parts: readonly FileParts[],
  names: ReadonlySet<string>,
  problems: ProcsupError[],
): readonly string[] {
  const layers = parts.flatMap(({ run }) => run ?? []);
  for (const layer of layers) refuseOtherKeys(layer, problems);
  const layer = layers.findLast(({ value }) => (value.critical ?? null) !== null);
  if (layer === undefined) return [];
  const { critical } = layer.value;
  const list: readonly unknown[] = Array.isArray(critical) ? critical : [critical];
  list.forEach((name, index) => {
    if (names.has(name as string)) return;
    const path = Array.isArray(critical) ? ["critical", index] : ["critical"];
    problems.push(unknownName(layer, path, name, names));
  });
  return list as readonly string[];
}

function refuseOtherKeys(layer: Layer, problems: ProcsupError[]): void {
  const { document, path, value } = layer;
  for (const key of Object.keys(value)) {
    if (key === "critical") continue;
    const place = placeIn(document, [...path, key], "key");
    const what = `unknown key "${[...path, key].join(".")}"`;
    const advice = '"critical" is expected';
    problems.push(new ConfigProblem(document.file, what, { advice, ...(place && { place }) }));
  }
}

function unknownName(
  { document, path }: Layer,
  at: readonly (string | number)[],
  name: unknown,
  names: ReadonlySet<string>,
): ConfigProblem {
  const place = placeIn(document, [...path, ...at]);
  const near = typeof name === "string" ? didYouMean(name, names) : undefined;
  const what = `"run.critical" names ${JSON.stringify(name)}, which is not in the file`;
  const advice = near === undefined ? undefined : `did you mean "${near}"?`;
  return new ConfigProblem(document.file, what, {
    ...(place && { place }),
    ...(advice && { advice }),
  });
}
