// deno-lint-ignore-file no-console
/** Writes the files that are bundled ahead. A test compares them with their sources. */

import { build, BUILT } from "./built.ts";

const root = import.meta.dirname!.replace(/\/scripts$/, "");
for (const one of BUILT) {
  const text = await build(root, one);
  Deno.writeTextFileSync(`${root}/${one.path}`, text);
  console.log(`${one.path}: ${(text.length / 1024).toFixed(1)} KB`);
}
