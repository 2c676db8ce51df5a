/** The program as a folder of JavaScript: what the portable executable and the npm package carry. */

/**
 * Bundles `entry` into `outdir`, a chunk for what is loaded lazily. Throws when the bundler fails or
 * makes what would not run.
 *
 * Without --minify: the esbuild in Deno drops every `using` whose variable is used once, and leaves
 * what it holds open for ever (evanw/esbuild#4482). Minified code starts no faster either.
 */
export async function bundle(root: string, entry: string, outdir: string): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "bundle",
      "--quiet",
      "--code-splitting",
      "--platform",
      "deno",
      "--outdir",
      outdir,
      entry,
    ],
    cwd: root,
    env: { NO_COLOR: "1" },
  }).output();
  if (!success) throw new Error(`deno bundle failed: ${new TextDecoder().decode(stderr)}`);
  const chunks = [...Deno.readDirSync(outdir)].filter(({ name }) => name.endsWith(".js"));
  for (const { name } of chunks) mend(`${outdir}/${name}`);
}

function mend(path: string): void {
  const text = Deno.readTextFileSync(path);
  if (UNNAMED.test(text)) {
    throw new Error(
      `${path} is a CommonJS package that is loaded by import(): it has lost its names. ` +
        "Export what is needed of it from a module of ours, and import() that (see scripts/built.ts)",
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

/** A chunk that is one CommonJS module and nothing else. */
const UNNAMED = /^export default \w+\(\);\s*$/m;

/**
 * What the bundler writes to have a `require`, in every program that has one CommonJS module.
 * `node:module` costs each command 20 ms: it is loaded when the first `require` is called.
 */
const REQUIRE =
  /import\s*\{\s*createRequire as (\w+)\s*\}\s*from\s*"node:module";\s*var (\w+)\s*=\s*\1\(import\.meta\.url\);/g;
