// deno-lint-ignore-file no-console
/**
 * Bundles the dashboard into src/web/dashboard/built/app.js.txt, which is committed: whoever has the
 * sources needs no build. `--check` only tells whether it fits the sources.
 */

import { BUILT, builtFrom, sourcesHash } from "./checks/dashboard_sources.ts";

const root = import.meta.dirname!.replace(/\/scripts$/, "");

async function bundle(): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--minify", "--platform", "browser", `${root}/src/web/dashboard/app/main.tsx`],
    cwd: root,
  }).output();
  if (!success) throw new Error(`deno bundle failed: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}

async function main(args: readonly string[]): Promise<number> {
  const hash = await sourcesHash(root);
  if (args.includes("--check")) {
    const fits = builtFrom(root) === hash;
    console.log(fits ? "The built dashboard fits its sources" : "Run scripts/build_dashboard.ts");
    return fits ? 0 : 1;
  }
  const code = await bundle();
  // The name of the text is .txt, so that neither the formatter nor the linter takes it for ours.
  Deno.writeTextFileSync(`${root}/${BUILT}`, `// Built from ${hash}\n${code}`);
  console.log(`${BUILT}: ${(code.length / 1024).toFixed(1)} KB`);
  return 0;
}

Deno.exit(await main(Deno.args));
