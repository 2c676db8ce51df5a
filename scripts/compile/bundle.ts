/** Bundles the program to a folder of JavaScript, for the portable executable and the npm package. */

import config from "../../deno.json" with { type: "json" };

/**
 * The packages as in deno.json, but yaml in its build of modules: Deno takes the CommonJS one, which
 * adds 25 ms to each command that reads YAML.
 */
const PACKAGES = {
  ...config.imports,
  yaml: import.meta.resolve("yaml").replace("/dist/index.js", "/browser/index.js"),
};

/**
 * Bundles `entry` into `outdir`, with separate chunks for lazy imports. Throws if the bundler fails, or
 * produces code that would not run.
 *
 * It does not use --minify: the esbuild in Deno drops every `using` whose variable is used once, and
 * leaves its resource open forever (evanw/esbuild#4482). Minified code would not start faster either.
 */
export async function bundle(root: string, entry: string, outdir: string): Promise<void> {
  const packages = `${outdir}.packages.json`;
  Deno.writeTextFileSync(packages, JSON.stringify({ imports: PACKAGES }));
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "bundle",
      "--quiet",
      "--code-splitting",
      "--platform",
      "deno",
      "--import-map",
      packages,
      "--outdir",
      outdir,
      entry,
    ],
    cwd: root,
    env: { NO_COLOR: "1" },
  }).output();
  Deno.removeSync(packages);
  if (!success) throw new Error(`deno bundle failed: ${new TextDecoder().decode(stderr)}`);
  const chunks = [...Deno.readDirSync(outdir)].filter(({ name }) => name.endsWith(".js"));
  for (const { name } of chunks) mend(`${outdir}/${name}`);
}

function mend(path: string): void {
  const text = Deno.readTextFileSync(path);
  if (UNNAMED.test(text)) {
    throw new Error(
      `${path} is a CommonJS package that is loaded by import(): it has lost its names. ` +
        "Export what is needed of it from a module of ours, and import() that (as src/config/yaml_package.ts)",
    );
  }
  const lazy = text.replace(
    REQUIRE,
    (_all, _name, variable) =>
      `var ${variable} = (...words) => process.getBuiltinModule("node:module")` +
      `.createRequire(import.meta.url)(...words);`,
  );
  if (lazy !== text) Deno.writeTextFileSync(path, lazy);
}

/** A chunk that consists of one CommonJS module. */
const UNNAMED = /^export default \w+\(\);\s*$/m;

/**
 * The code that the bundler adds to programs with a CommonJS module, to define `require`. Loading
 * `node:module` takes 20 ms in each command, so it is delayed to the first call.
 */
const REQUIRE =
  /import\s*\{\s*createRequire as (\w+)\s*\}\s*from\s*"node:module";\s*var (\w+)\s*=\s*\1\(import\.meta\.url\);/g;
