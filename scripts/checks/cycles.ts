/** Finds files that import each other in a cycle, including types and `import()`. */

import type { Edge } from "./import_graph.ts";

/** One message for each cycle found by following the imports in order. */
export function cycleViolations(edges: readonly Edge[]): string[] {
  const imports = Map.groupBy(edges, (edge) => edge.from);
  const done = new Set<string>();
  const found: string[] = [];

  function follow(file: string, path: readonly string[]) {
    const start = path.indexOf(file);
    if (start >= 0) found.push(`${[...path.slice(start), file].join(" → ")}: import cycle`);
    if (start >= 0 || done.has(file)) return;
    for (const { to } of imports.get(file) ?? []) follow(to, [...path, file]);
    done.add(file);
  }

  for (const file of imports.keys()) follow(file, []);
  return found;
}
