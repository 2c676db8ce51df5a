/** `runtime: auto`: which runtime an entrypoint is for. */

import { lookAt } from "../platform/stat.ts";
import type { Entry } from "./entry.ts";
import { extensionOf } from "./entry.ts";
import { isTypeScript, runsTypeScript, type Runtime, RUNTIMES } from "./runtime_table.ts";
import type { Tools } from "./tools.ts";

type Name = Runtime["name"];

/** Extensions that leave no choice. */
const ONE_RUNTIME: Readonly<Record<string, Name>> = {
  go: "go",
  py: "python",
  rb: "ruby",
  php: "php",
};

const JAVASCRIPT = new Set(["js", "mjs", "cjs"]);

/** Whether files of this extension are run by a runtime, x bit or not. */
export function isScript(extension: string): boolean {
  return Object.hasOwn(ONE_RUNTIME, extension) || JAVASCRIPT.has(extension) ||
    isTypeScript(extension);
}

/** The row of a runtime. */
export function runtimeNamed(name: Name): Runtime {
  return RUNTIMES.find((row) => row.name === name)!;
}

/**
 * The runtime for an entrypoint, or undefined for a plain program. The entrypoint itself decides
 * first, and the working directory's files where it leaves a choice: a `.py` beside a package.json
 * is Python's. A project of Bun or Deno has a package.json too, as often as not, so for TypeScript
 * their files count before it.
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
    // Deno runs what this Node.js cannot.
    const runs = found?.name !== "node" || tools.deno() === undefined ||
      runsTypeScript(entry, tools);
    if (found !== undefined && runs) return found;
    return runtimeNamed(tools.deno() === undefined ? "node" : "deno");
  }
  if (entry.isExecutable || entry.extension !== "") return undefined;
  // A script without extension and x bit: only the folder can tell.
  return RUNTIMES.find((row) => isGivenAway(row, tools.cwd));
}

function detectAmong(names: readonly Name[], folder: string): Runtime | undefined {
  return names.map(runtimeNamed).find((row) => isGivenAway(row, folder));
}

function detectFolder(entry: Entry, cwd: string): Runtime | undefined {
  return RUNTIMES.find((row) =>
    row.folders && (isGivenAway(row, entry.path) || isGivenAway(row, cwd))
  );
}

function isGivenAway(row: Runtime, folder: string): boolean {
  return row.files.some((file) =>
    file.startsWith("*.")
      ? hasExtension(folder, file.slice(2))
      : lookAt(`${folder}/${file}`)?.isFile === true
  );
}

function hasExtension(folder: string, extension: string): boolean {
  try {
    for (const entry of Deno.readDirSync(folder)) {
      if (!entry.isDirectory && extensionOf(entry.name) === extension) return true;
    }
  } catch {
    // A folder we may enter but not list gives nothing away.
  }
  return false;
}
