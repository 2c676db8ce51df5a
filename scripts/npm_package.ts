// deno-lint-ignore-file no-console
/**
 * Makes dist/npm: a package that brings `procsup` with its Deno, from the same tree as the
 * executable. `deno run -A scripts/npm_package.ts`, then `npm publish dist/npm`.
 */

import { VERSION } from "../src/protocol/actions.ts";

const ROOT = import.meta.dirname!.replace(/\/scripts$/, "");
const OUT = `${ROOT}/dist/npm`;

/** Finds the deno that npm put beside it, hoisted or not, without its install script. */
const LAUNCHER = `#!/bin/sh
# Starts procsup on the Deno that npm installed with it.
self=$(readlink -f "$0" 2>/dev/null || realpath "$0")
package=\${self%/*/*}
for deno in "$package"/node_modules/@deno/*/deno "$package"/../@deno/*/deno \\
  "$package"/node_modules/deno/deno "$package"/../deno/deno; do
  [ -x "$deno" ] && exec "$deno" run -q -A --no-prompt --no-config --no-lock \\
    --v8-flags=--max-semi-space-size=1 "$package/lib/main.js" "$@"
done
command -v deno >/dev/null 2>&1 && exec deno run -q -A --no-prompt --no-config --no-lock \\
  --v8-flags=--max-semi-space-size=1 "$package/lib/main.js" "$@"
echo "error: procsup found no deno; npm install -g deno" >&2
exit 1
`;

await Deno.remove(OUT, { recursive: true }).catch(() => {});
Deno.mkdirSync(`${OUT}/bin`, { recursive: true });
const { success, stderr } = await new Deno.Command(Deno.execPath(), {
  args: ["bundle", "--quiet", "--minify", "--code-splitting", "--platform", "deno"]
    .concat("--outdir", `${OUT}/lib`, "main.ts"),
  cwd: ROOT,
}).output();
if (!success) throw new Error(new TextDecoder().decode(stderr));
Deno.writeTextFileSync(`${OUT}/bin/procsup`, LAUNCHER);
Deno.chmodSync(`${OUT}/bin/procsup`, 0o755);
for (const name of ["README.md", "LICENSE"]) Deno.copyFileSync(`${ROOT}/${name}`, `${OUT}/${name}`);
const manifest = {
  name: "procsup",
  version: VERSION,
  description: "Keeps apps running: a process supervisor",
  license: "MIT",
  type: "module",
  bin: { procsup: "bin/procsup" },
  files: ["bin", "lib"],
  os: ["linux", "darwin"],
  dependencies: { deno: `^${Deno.version.deno}` },
};
Deno.writeTextFileSync(`${OUT}/package.json`, `${JSON.stringify(manifest, null, 2)}\n`);
console.log(`dist/npm: procsup ${VERSION}`);
