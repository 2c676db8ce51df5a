/** The runtimes: the files that identify them, and their command lines. */

import type { RuntimeName } from "../model/process_config.ts";
import { resolve } from "../npm/path.js";
import { lookAt } from "../platform/stat.ts";
import type { Entry } from "./entry.ts";
import { findExecutable, isExecutable } from "./executable.ts";
import { goPackage } from "./go_package.ts";
import { type TypeScriptSupport, typeScriptSupport } from "./node_typescript.ts";
import type { Tools } from "./tools.ts";

export interface Runtime {
  readonly name: Exclude<RuntimeName, "auto">;
  /** Files in the working directory that identify it; `*.py` is any file of that extension. */
  readonly files: readonly string[];
  readonly folders: boolean;
  /** The command that runs an entrypoint, without the app's arguments. */
  command(entry: Entry, tools: Tools): string[];
}

const TYPESCRIPT = new Set(["ts", "mts", "cts", "tsx"]);

export function isTypeScript(extension: string): boolean {
  return TYPESCRIPT.has(extension);
}

/** All runtimes, in the order of detection. */
export const RUNTIMES: readonly Runtime[] = [
  {
    name: "go",
    files: ["go.mod"],
    folders: true,
    command: goCommand,
  },
  {
    name: "python",
    files: ["requirements.txt", "pyproject.toml", "*.py"],
    folders: true,
    command: (entry, tools) => [python(tools), entry.path],
  },
  {
    name: "node",
    files: ["package.json"],
    folders: true,
    command: nodeCommand,
  },
  {
    name: "bun",
    files: ["bun.lockb", "bun.lock", "bunfig.toml"],
    folders: true,
    command: (entry, tools) => [tools.need("bun"), "run", entry.path],
  },
  {
    name: "deno",
    files: ["deno.json", "deno.jsonc"],
    folders: false,
    // Supervised apps get all permissions (-A): no one can answer prompts, and other runtimes
    // have none. To restrict an app, start `deno` itself with its flags as arguments.
    command: (entry, tools) => [tools.deno() ?? tools.need("deno"), "run", "-A", entry.path],
  },
  {
    name: "ruby",
    files: ["Gemfile"],
    folders: false,
    command: (entry, tools) => [tools.need("ruby"), entry.path],
  },
  {
    name: "php",
    files: ["composer.json", "*.php"],
    folders: false,
    command: (entry, tools) => [tools.need("php"), entry.path],
  },
];

/** The Python of a virtual environment, activated or in the folder; otherwise the one on PATH. */
function python(tools: Tools): string {
  const onPath = findExecutable("python3", tools.cwd, tools.path);
  if (onPath !== undefined && lookAt(resolve(onPath, "../../pyvenv.cfg"))?.isFile) return onPath;
  const own = [".venv", "venv"].map((name) => `${tools.cwd}/${name}/bin/python`);
  return own.find((path) => isExecutable(lookAt(path))) ?? tools.need("python3");
}

/** `go run` for source files; a built program is executed directly. */
function goCommand(entry: Entry, tools: Tools): string[] {
  const folder = entry.isFolder ? entry.path : goPackage(entry.path, tools.cwd);
  if (folder !== undefined) {
    const here = folder === resolve(tools.cwd, ".");
    return [tools.need("go"), "run", here ? "." : folder];
  }
  return entry.extension === "go" ? [tools.need("go"), "run", entry.path] : [entry.path];
}

/** Node.js runs TypeScript natively, with a flag, or through tsx, depending on its version. */
function nodeCommand(entry: Entry, tools: Tools): string[] {
  const node = tools.need("node");
  if (!isTypeScript(entry.extension)) return [node, entry.path];
  const support = supportFor(entry, node, tools);
  if (support === "native") return [node, entry.path];
  if (support === "flag") return [node, "--experimental-strip-types", entry.path];
  // Without an installed tsx, npx would ask to install it, or do so.
  return hasTsx(tools) ? [tools.need("npx"), "tsx", entry.path] : tools.refuseTypeScript();
}

/** Whether the available node can run a TypeScript file. */
export function runsTypeScript(entry: Entry, tools: Tools): boolean {
  const node = findExecutable("node", tools.cwd, tools.path);
  return node !== undefined && (supportFor(entry, node, tools) !== "none" || hasTsx(tools));
}

function supportFor(entry: Entry, node: string, tools: Tools): TypeScriptSupport {
  // Stripping types does not transform JSX.
  return entry.extension === "tsx" ? "none" : typeScriptSupport(node, tools);
}

/** Whether npx finds an installed tsx in the folder, above it, or on PATH. */
function hasTsx({ cwd, path }: Tools): boolean {
  for (let at = cwd; at !== ""; at = at.slice(0, at.lastIndexOf("/"))) {
    if (lookAt(`${at}/node_modules/.bin/tsx`)?.isFile) return true;
  }
  return findExecutable("tsx", cwd, path) !== undefined;
}
