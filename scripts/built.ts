/** The generated files that are committed, so that running from source needs no build. */

import { configFileSchema } from "../src/config/json_schema.ts";
import { configTypes, keyReference } from "./key_types.ts";
import {
  commandReference,
  engineReference,
  errorReference,
  eventReference,
  routeReference,
} from "./references.ts";
import { clientTypes } from "./client_types.ts";

interface Bundle {
  /** The module to bundle. */
  readonly entry: string;
  /** First lines of the bundle. */
  readonly header: string;
}

/** A generated file. */
export interface Built {
  /** Path from the root of the repository. */
  readonly path: string;
  readonly from: Bundle | (() => string);
}

const AHEAD = "Bundled by deno run -A scripts/build.ts";

/** All generated files. */
export const BUILT: readonly Built[] = [
  {
    // The name ends in .txt to hide it from the formatter and the linter.
    path: "src/web/dashboard/built/app.js.txt",
    from: { entry: "src/web/dashboard/app/main.tsx", header: `// ${AHEAD}` },
  },
  {
    path: "src/web/dashboard/built/terminal.js.txt",
    from: { entry: "src/web/dashboard/app/terminal/xterm.ts", header: `// ${AHEAD}` },
  },
  {
    path: "src/web/dashboard/built/editor.js.txt",
    from: { entry: "src/web/dashboard/app/config/editor.ts", header: `// ${AHEAD}` },
  },
  {
    path: "src/web/dashboard/built/schema.json.txt",
    from: () => JSON.stringify(configFileSchema()),
  },
  { path: "src/model/process_config.ts", from: configTypes },
  { path: "src/docs/keys.md", from: keyReference },
  { path: "src/docs/commands.md", from: commandReference },
  { path: "src/docs/errors.md", from: errorReference },
  { path: "src/docs/journal.md", from: eventReference },
  { path: "src/docs/routes.md", from: routeReference },
  { path: "src/docs/engines.md", from: engineReference },
  { path: "src/client/answers.ts", from: clientTypes },
];

/** Builds the text of a generated file. */
export async function build(root: string, { path, from }: Built): Promise<string> {
  if (typeof from === "function") {
    const text = from();
    if (path.endsWith(".txt")) return text;
    return await deno(root, ["fmt", `--ext=${path.split(".").at(-1)}`, "-"], text);
  }
  const args = ["bundle", "--quiet", "--minify", "--platform", "browser", from.entry];
  return `${from.header}\n${await deno(root, args)}`;
}

async function deno(root: string, args: readonly string[], input = ""): Promise<string> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd: root,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  await new Blob([input]).stream().pipeTo(child.stdin);
  const { success, stdout, stderr } = await child.output();
  if (success) return new TextDecoder().decode(stdout);
  throw new Error(`deno ${args[0]} failed: ${new TextDecoder().decode(stderr)}`);
}
