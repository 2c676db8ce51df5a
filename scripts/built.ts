/** The files that are bundled ahead and committed, so that running from source needs no build. */

/** One bundled file. */
export interface Built {
  /** Where it is, from the root of the repository. */
  readonly path: string;
  /** The module it is made from. */
  readonly entry: string;
  /** Its first lines. */
  readonly header: string;
}

const AHEAD = "Bundled by deno run -A scripts/build.ts";

/** Every one. */
export const BUILT: readonly Built[] = [
  {
    // The name ends in .txt, so that neither the formatter nor the linter reads it.
    path: "src/web/dashboard/built/app.js.txt",
    entry: "src/web/dashboard/app/main.tsx",
    header: `// ${AHEAD}`,
  },
  {
    // Deno loads the CommonJS build of this package, which takes 30 ms more than the other one.
    path: "src/npm/yaml.js",
    entry: "scripts/compile/yaml_entry.ts",
    header: `// ${AHEAD} from yaml, ISC License, Copyright Eemeli Aro <eemeli@gmail.com>`,
  },
  {
    // A program that imports no package from npm starts 3 ms sooner.
    path: "src/npm/parse_args.js",
    entry: "npm:deno-std@1.4.0/cli/parse_args.js",
    header: `// @ts-self-types="./parse_args.d.ts"\n// ${AHEAD} from @std/cli, MIT License, ` +
      "Copyright the Deno authors",
  },
];

/** The text of one, made anew. */
export async function build(root: string, { entry, header }: Built): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--quiet", "--minify", "--platform", "browser", entry],
    cwd: root,
  }).output();
  if (!success) throw new Error(`deno bundle failed: ${new TextDecoder().decode(stderr)}`);
  return `${header}\n${new TextDecoder().decode(stdout)}`;
}
