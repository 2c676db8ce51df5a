/** The runtimes, one row each: what gives them away, and their command line. */

import type { RuntimeName } from "../model/process_config.ts";
import { resolve } from "../npm/path.js";
import { lookAt } from "../platform/stat.ts";
import type { Entry } from "./entry.ts";
import { findExecutable, isExecutable } from "./executable.ts";
import { goPackage } from "./go_package.ts";
import { type TypeScriptSupport, typeScriptSupport } from "./node_typescript.ts";
import type { Tools } from "./tools.ts";

/** One runtime. */
export interface Runtime {
  readonly name: Exclude<RuntimeName, "auto">;
  /** Files in the working directory that give it away; `*.py` is any file of that extension. */
  readonly files: readonly string[];
  /** Whether a folder can be run. */
  readonly folders: boolean;
  /** The command that runs an entrypoint, the app's arguments not included. */
  command(entry: Entry, tools: Tools): string[];
}

const TYPESCRIPT = new Set(["ts", "mts", "cts", "tsx"]);

/** Whether a file extension is TypeScript's. */
export function isTypeScript(extension: string): boolean {
  return TYPESCRIPT.has(extension);
}

/** Every runtime, in the order in which `auto` detects them. */
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
    // A supervised app gets every permission (-A): nobody is there to answer deno's questions, and
    // the other runtimes ask none. For fewer, start `deno` itself with its flags as arguments.
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

/** The Python of a virtual environment: one that is activated, or the folder's own. */
function python(tools: Tools): string {
  const onPath = findExecutable("python3", tools.cwd, tools.path);
  if (onPath !== undefined && lookAt(resolve(onPath, "../../pyvenv.cfg"))?.isFile) return onPath;
  const own = [".venv", "venv"].map((name) => `${tools.cwd}/${name}/bin/python`);
  return own.find((path) => isExecutable(lookAt(path))) ?? tools.need("python3");
}

/** `go run` for source, a built program as it is. */
function goCommand(entry: Entry, tools: Tools): string[] {
  const folder = entry.isFolder ? entry.path : goPackage(entry.path, tools.cwd);
  if (folder !== undefined) {
    const here = folder === resolve(tools.cwd, ".");
    return [tools.need("go"), "run", here ? "." : folder];
  }
  return entry.extension === "go" ? [tools.need("go"), "run", entry.path] : [entry.path];
}

/** Node.js runs TypeScript by itself, by a flag or through tsx, according to its version. */
function nodeCommand(entry: Entry, tools: Tools): string[] {
  const node = tools.need("node");
  if (!isTypeScript(entry.extension)) return [node, entry.path];
  const support = supportFor(entry, node, tools);
  if (support === "native") return [node, entry.path];
  if (support === "flag") return [node, "--experimental-strip-types", entry.path];
  // Without it npx would ask whether to install it, or do so.
  return hasTsx(tools) ? [tools.need("npx"), "tsx", entry.path] : tools.refuseTypeScript();
}

/** Whether the node at hand runs that file of TypeScript. */
export function runsTypeScript(entry: Entry, tools: Tools): boolean {
  const node = findExecutable("node", tools.cwd, tools.path);
  return node !== undefined && (supportFor(entry, node, tools) !== "none" || hasTsx(tools));
}

function supportFor(entry: Entry, node: string, tools: Tools): TypeScriptSupport {
  // Stripping types leaves JSX standing.
  return entry.extension === "tsx" ? "none" : typeScriptSupport(node, tools);
}

/** Whether npx finds a tsx that is installed: in the folder or above it, or on PATH. */
function hasTsx({ cwd, path }: Tools): boolean {
  for (let at = cwd; at !== ""; at = at.slice(0, at.lastIndexOf("/"))) {
    if (lookAt(`${at}/node_modules/.bin/tsx`)?.isFile) return true;
  }
  return findExecutable("tsx", cwd, path) !== undefined;
}
