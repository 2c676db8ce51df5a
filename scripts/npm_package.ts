// deno-lint-ignore-file no-console
/**
 * Creates dist/npm: a package with `procsup` that depends on Deno, built from the same tree as the
 * executable. Run `deno run -A scripts/npm_package.ts`, then `npm publish dist/npm`.
 */

import { VERSION } from "../src/protocol/version.ts";
import { PAGES } from "../src/docs/pages.ts";
import { bundle } from "./compile/bundle.ts";

const ROOT = import.meta.dirname!.replace(/\/scripts$/, "");
const OUT = `${ROOT}/dist/npm`;

const MANIFEST = {
  name: "procsup",
  version: VERSION,
  description: "Keeps apps running: a process supervisor",
  license: "MIT",
  repository: { type: "git", url: "git+https://github.com/procsup/procsup.git" },
  type: "module",
  bin: { procsup: "bin/procsup" },
  files: ["bin", "lib", "src/docs/*.md"],
  os: ["linux", "darwin"],
  // The tested major and minor version: a newer Deno may have other flags.
  dependencies: { deno: `~${Deno.version.deno}` },
};

/** Writes the id of the build, which distinguishes daemons of different builds. */
async function writeBuildId(folder: string): Promise<void> {
  const names = [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
  const texts = names.map((name) => `${name}\n${Deno.readTextFileSync(`${folder}/${name}`)}`);
  const bytes = new TextEncoder().encode(texts.join(""));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
  Deno.writeTextFileSync(`${folder}/build_id`, `${hash.slice(0, 16)}\n`);
}

await Deno.remove(OUT, { recursive: true }).catch(() => {});
Deno.mkdirSync(`${OUT}/bin`, { recursive: true });
await bundle(ROOT, `${ROOT}/scripts/compile/npm_entry.ts`, `${OUT}/lib`);
await writeBuildId(`${OUT}/lib`);
Deno.copyFileSync(`${ROOT}/scripts/compile/npm_launcher.sh`, `${OUT}/bin/procsup`);
Deno.chmodSync(`${OUT}/bin/procsup`, 0o755);
Deno.mkdirSync(`${OUT}/src/docs`, { recursive: true });
const pages = Object.keys(PAGES).map((topic) => `src/docs/${topic}.md`);
for (const name of ["README.md", "LICENSE", ...pages]) {
  Deno.copyFileSync(`${ROOT}/${name}`, `${OUT}/${name}`);
}
Deno.writeTextFileSync(`${OUT}/package.json`, `${JSON.stringify(MANIFEST, null, 2)}\n`);
console.log(`dist/npm: procsup ${VERSION}`);
