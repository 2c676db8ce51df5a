/** The import graph of this repository from `deno info`, including types and `import()`. */

import { walkSync } from "@std/fs/walk";

/** An import between two files of the repository, or of a package. */
export interface Edge {
  /** Path of the importing file from the root of the repository. */
  readonly from: string;
  /** Path of the imported file from the root, or a specifier such as `npm:/hono@4`. */
  readonly to: string;
  /** The specifier as written, such as `zod` or `../model/name.ts`. */
  readonly says: string;
  /** True for an `import()`. */
  readonly dynamic: boolean;
  /** True if only types are imported, so that nothing is loaded. */
  readonly typeOnly: boolean;
}

interface Resolved {
  readonly specifier?: string;
}

interface Module {
  readonly specifier: string;
  readonly dependencies?: readonly {
    readonly specifier: string;
    readonly code?: Resolved;
    readonly type?: Resolved;
    readonly isDynamic?: boolean;
  }[];
}

/** The source files of the program, main.ts and everything in src/ but tests, as paths from `root`. */
export function sourceFiles(root: string): string[] {
  const options = { includeDirs: false, exts: [".ts", ".tsx"], skip: [/\.d\.ts$|\/tests\//] };
  const files = [...walkSync(`${root}/src`, options)];
  return ["main.ts", ...files.map(({ path }) => path.slice(root.length + 1))].sort();
}

/** All imports of `files` (paths from `root`), in one `deno info`. */
export async function importGraph(root: string, files: readonly string[]): Promise<Edge[]> {
  const entry = await Deno.makeTempFile({ prefix: "procsup-layers-", suffix: ".ts" });
  try {
    const urls = files.map((file) => `import ${JSON.stringify(fileUrl(root, file))};\n`);
    await Deno.writeTextFile(entry, urls.join(""));
    const modules = await modulesOf(root, entry);
    const own = new Set(files.map((file) => fileUrl(root, file)));
    return modules.filter(({ specifier }) => own.has(specifier))
      .flatMap((module) => edgesOf(root, module));
  } finally {
    await Deno.remove(entry);
  }
}

async function modulesOf(root: string, entry: string): Promise<readonly Module[]> {
  const info = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "--config", `${root}/deno.json`, entry],
    cwd: root,
  }).output();
  if (!info.success) throw new Error(`deno info failed: ${new TextDecoder().decode(info.stderr)}`);
  return JSON.parse(new TextDecoder().decode(info.stdout)).modules;
}

function edgesOf(root: string, module: Module): Edge[] {
  return (module.dependencies ?? []).flatMap(({ specifier, code, type, isDynamic }) => {
    const targets = [code?.specifier, type?.specifier].filter((to) => to !== undefined);
    return [...new Set(targets)].map((to) => ({
      from: pathOf(root, module.specifier),
      to: pathOf(root, to),
      says: specifier,
      dynamic: isDynamic ?? false,
      typeOnly: to !== code?.specifier,
    }));
  });
}

function fileUrl(root: string, file: string): string {
  return new URL(file, `file://${root}/`).href;
}

function pathOf(root: string, specifier: string): string {
  const base = fileUrl(root, "");
  return specifier.startsWith(base) ? decodeURI(specifier.slice(base.length)) : specifier;
}

/** The files that `start` reaches, including itself. */
export function reachedFrom(start: string, edges: readonly Edge[]): Set<string> {
  const reached = new Set([start]);
  for (const file of reached) {
    for (const edge of edges) if (edge.from === file) reached.add(edge.to);
  }
  return reached;
}
