// deno-lint-ignore-file no-console
/**
 * Makes dist/npm-client: the client for Node.js 22, Bun and Deno, with its types. `deno run -A
 * scripts/npm_client.ts`, then `npm publish dist/npm-client`. The types come from TypeScript, from npm.
 */

import { VERSION } from "../src/protocol/version.ts";
import { bundle } from "./compile/bundle.ts";

const ROOT = import.meta.dirname!.replace(/\/scripts$/, "");
const OUT = `${ROOT}/dist/npm-client`;
const ENTRY = "client.ts";

const MANIFEST = {
  name: "@procsup/client",
  version: VERSION,
  description: "A client of the process supervisor procsup",
  license: "MIT",
  repository: { type: "git", url: "git+https://github.com/procsup/procsup.git" },
  type: "module",
  exports: { ".": { types: "./types/client.d.ts", default: "./lib/client.js" } },
  files: ["lib", "types"],
  engines: { node: ">=22" },
};

const TYPES = [
  ...["-y", "-p", "typescript@5.9", "tsc", "--declaration", "--emitDeclarationOnly", "--noCheck"],
  ...["--allowImportingTsExtensions", "--module", "nodenext", "--target", "esnext"],
  ...["--rootDir", "src"],
];

/** Writes the declarations that the entry reaches, with the names that modules have in a package. */
async function writeTypes(): Promise<void> {
  const all = Deno.makeTempDirSync();
  const args = [...TYPES, "--outDir", all, `src/${ENTRY}`];
  const { success, stdout } = await new Deno.Command("npx", { args, cwd: ROOT }).output();
  if (!success) throw new Error(`tsc failed: ${new TextDecoder().decode(stdout)}`);
  const reached = new Set([`/${ENTRY}`]);
  for (const path of reached) {
    const declared = path.replace(/\.ts$/, ".d.ts");
    const text = Deno.readTextFileSync(`${all}${declared}`);
    for (const [, to = ""] of text.matchAll(/from "(\.[^"]+)"/g)) {
      reached.add(new URL(to, `file://${path}`).pathname);
    }
    Deno.mkdirSync(`${OUT}/types${path.replace(/\/[^/]*$/, "")}`, { recursive: true });
    const renamed = text.replace(/(from "\.[^"]+)\.ts"/g, '$1.js"');
    Deno.writeTextFileSync(`${OUT}/types${declared}`, renamed);
  }
  Deno.removeSync(all, { recursive: true });
}

await Deno.remove(OUT, { recursive: true }).catch(() => {});
Deno.mkdirSync(OUT, { recursive: true });
await bundle(ROOT, `${ROOT}/src/${ENTRY}`, `${OUT}/lib`);
await writeTypes();
Deno.copyFileSync(`${ROOT}/LICENSE`, `${OUT}/LICENSE`);
const page = Deno.readTextFileSync(`${ROOT}/src/docs/client.md`);
Deno.writeTextFileSync(
  `${OUT}/README.md`,
  page.replaceAll("@procsup/procsup/client", MANIFEST.name).replace(/\[([^\]]+)\]\([^)]+\)/g, "$1"),
);
Deno.writeTextFileSync(`${OUT}/package.json`, `${JSON.stringify(MANIFEST, null, 2)}\n`);
console.log(`dist/npm-client: @procsup/client ${VERSION}`);
