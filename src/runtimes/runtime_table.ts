/** The runtimes: the files that identify them, and their command lines; how `auto` detects one. */

import { ifPossible } from "../model/errors.ts";
import type { RuntimeName } from "../model/process_config.ts";
import { dirname, join, resolve } from "@std/path";
import { askProgram } from "../platform/users/as_user.ts";
import { lookAt } from "../platform/files/stat.ts";
import { type Entry, extensionOf, findExecutable, isExecutable, type Tools } from "./programs.ts";

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
  { name: "go", files: ["go.mod"], folders: true, command: goCommand },
  {
    name: "python",
    files: ["requirements.txt", "pyproject.toml", "*.py"],
    folders: true,
    command: (entry, tools) => [python(tools), entry.path],
  },
  { name: "node", files: ["package.json"], folders: true, command: nodeCommand },
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
  if (entry.extension === "tsx") return "none";
  return tools.versions === "assumed" ? "native" : typeScriptSupport(node, tools);
}

/** Whether npx finds an installed tsx in the folder, above it, or on PATH. */
function hasTsx({ cwd, path }: Tools): boolean {
  for (let at = cwd; at !== ""; at = at.slice(0, at.lastIndexOf("/"))) {
    if (lookAt(`${at}/node_modules/.bin/tsx`)?.isFile) return true;
  }
  return findExecutable("tsx", cwd, path) !== undefined;
}

/**
 * The folder of a `main.go` that must be run as a package: there are other Go files beside it, and it
 * is in the same module as `cwd`, as `go run` requires. Undefined for other files.
 */
function goPackage(file: string, cwd: string): string | undefined {
  const folder = dirname(file);
  if (!file.endsWith("/main.go") || !hasOthers(folder)) return undefined;
  const module = moduleOf(folder);
  return module !== undefined && module === moduleOf(cwd) ? folder : undefined;
}

function hasOthers(folder: string): boolean {
  return entriesOf(folder).some(({ name }) =>
    name !== "main.go" && name.endsWith(".go") && !name.endsWith("_test.go")
  );
}

/** The nearest folder upward that has a go.mod. */
function moduleOf(folder: string): string | undefined {
  if (lookAt(join(folder, "go.mod"))?.isFile) return folder;
  return folder === "/" ? undefined : moduleOf(dirname(folder));
}

/** Natively, with a flag, or not at all. */
type TypeScriptSupport = "native" | "flag" | "none";

/** Versions, each with the steady milliseconds until which it is known. */
const versions = new Map<string, { readonly version: string; readonly until: number }>();

/** One that failed may soon work; but one that hangs is asked only in this part of the time. */
const PATIENCE = 1 / 30;

/**
 * How this `node` supports TypeScript. Runs it once, for about 30 ms. The shim of a version manager may
 * differ by folder and user, so its answer is cached for both.
 */
function typeScriptSupport(node: string, tools: Tools): TypeScriptSupport {
  const { cwd, path, user } = tools;
  const { mtime, ctime, size } = Deno.statSync(node);
  const file = [node, mtime?.getTime(), ctime?.getTime(), size];
  const key = [...file, cwd, path, user?.uid].join("\0");
  const begunAt = performance.now();
  const known = versions.get(key);
  if (known !== undefined && begunAt < known.until) return supportOf(known.version);
  const version = versionOf(node, tools);
  const endedAt = performance.now();
  const until = version === "" ? endedAt + (endedAt - begunAt) / PATIENCE : Infinity;
  versions.set(key, { version, until });
  return supportOf(version);
}

/** Support by version: `v22.18.0` strips types by default, `v22.6.0` with a flag. */
export function supportOf(version: string): TypeScriptSupport {
  const match = /^v?(\d+)\.(\d+)/.exec(version);
  const major = Number(match?.[1] ?? 0);
  const minor = Number(match?.[2] ?? 0);
  if (major >= 24 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18)) return "native";
  return major === 23 || (major === 22 && minor >= 6) ? "flag" : "none";
}

/** Empty if it fails: the app will report the reason when it starts. */
function versionOf(node: string, { cwd, path, user }: Tools): string {
  const env: Record<string, string> = { PATH: path };
  if (user?.home !== undefined) env.HOME = user.home;
  return askProgram(user, { argv: [node, "--version"], env, cwd });
}

type Name = Runtime["name"];

/** Extensions of a single runtime. */
const ONE_RUNTIME: Readonly<Record<string, Name>> = {
  go: "go",
  py: "python",
  rb: "ruby",
  php: "php",
};

const JAVASCRIPT = new Set(["js", "mjs", "cjs"]);

/** Whether a runtime runs files of this extension, with or without x bit. */
export function isScript(extension: string): boolean {
  return Object.hasOwn(ONE_RUNTIME, extension) || JAVASCRIPT.has(extension) ||
    isTypeScript(extension);
}

export function runtimeNamed(name: Name): Runtime {
  return RUNTIMES.find((row) => row.name === name)!;
}

/**
 * The runtime of an entrypoint; undefined for a plain program. The entrypoint decides first: a `.py`
 * next to a package.json is Python. Otherwise the files in the working directory decide. For
 * TypeScript, files of Bun and Deno count before package.json, which their projects often have too.
 */
export function detectRuntime(entry: Entry, tools: Tools): Runtime | undefined {
  if (entry.isFolder) return detectFolder(entry, tools.cwd);
  const one = Object.hasOwn(ONE_RUNTIME, entry.extension) && ONE_RUNTIME[entry.extension];
  if (one) return runtimeNamed(one);
  if (JAVASCRIPT.has(entry.extension)) {
    return detectAmong(["node", "bun", "deno"], tools.cwd) ?? runtimeNamed("node");
  }
  if (isTypeScript(entry.extension)) {
    const found = detectAmong(["bun", "deno", "node"], tools.cwd);
    // Prefer Deno if this Node.js cannot run the file.
    const runs = found?.name !== "node" || tools.deno() === undefined ||
      runsTypeScript(entry, tools);
    if (found !== undefined && runs) return found;
    return runtimeNamed(tools.deno() === undefined ? "node" : "deno");
  }
  if (entry.isExecutable || entry.extension !== "") return undefined;
  // Without extension and x bit, only the files in the folder identify the runtime.
  return RUNTIMES.find((row) => isDetected(row, tools.cwd));
}

function detectAmong(names: readonly Name[], folder: string): Runtime | undefined {
  return names.map(runtimeNamed).find((row) => isDetected(row, folder));
}

function detectFolder(entry: Entry, cwd: string): Runtime | undefined {
  return RUNTIMES.find((row) =>
    row.folders && (isDetected(row, entry.path) || isDetected(row, cwd))
  );
}

function isDetected(row: Runtime, folder: string): boolean {
  return row.files.some((file) =>
    file.startsWith("*.")
      ? hasExtension(folder, file.slice(2))
      : lookAt(`${folder}/${file}`)?.isFile === true
  );
}

function hasExtension(folder: string, extension: string): boolean {
  return entriesOf(folder).some((entry) =>
    !entry.isDirectory && extensionOf(entry.name) === extension
  );
}

/** None if the folder cannot be listed. */
function entriesOf(folder: string): Deno.DirEntry[] {
  return ifPossible(() => [...Deno.readDirSync(folder)]) ?? [];
}
