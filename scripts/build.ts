// deno-lint-ignore-file no-console
/** Writes all generated files; with `--watch`, again after each change of a source. */

import { build, BUILT } from "./built.ts";

const root = import.meta.dirname!.replace(/\/scripts$/, "");

async function buildAll(): Promise<void> {
  for (const one of BUILT) {
    const text = await build(root, one);
    if (text === await Deno.readTextFile(`${root}/${one.path}`).catch(() => "")) continue;
    Deno.writeTextFileSync(`${root}/${one.path}`, text);
    console.log(`${one.path}: ${(text.length / 1024).toFixed(1)} KB`);
  }
}

await buildAll();
if (Deno.args.includes("--watch")) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  for await (const _ of Deno.watchFs([`${root}/src/web/dashboard/app`, `${root}/src/model`])) {
    clearTimeout(timer);
    timer = setTimeout(() => void buildAll().catch((error) => console.error(error.message)), 100);
  }
}
