// deno-lint-ignore-file no-console
/** Checks rules that the type checker cannot: imports between folders, and forbidden code. */

import {
  commandViolations,
  cycleViolations,
  layerViolations,
  libraryViolations,
} from "./checks/layers.ts";
import { wordViolations } from "./checks/forbidden_words.ts";
import { importGraph, sourceFiles } from "./checks/import_graph.ts";

const root = import.meta.dirname!.replace(/\/scripts$/, "");
const files = sourceFiles(root);
const edges = await importGraph(root, files);
const violations = [
  ...layerViolations(edges),
  ...libraryViolations(edges),
  ...commandViolations(edges),
  ...cycleViolations(edges),
  ...files.flatMap((file) => wordViolations(file, Deno.readTextFileSync(`${root}/${file}`))),
];

for (const violation of violations) console.error(violation);
console.log(`${files.length} files, ${edges.length} imports, ${violations.length} violations`);
Deno.exit(violations.length === 0 ? 0 : 1);
