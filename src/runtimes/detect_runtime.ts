/** `runtime: auto`: detects the runtime of an entrypoint. */

import { lookAt } from "../platform/stat.ts";
import { type Entry, extensionOf } from "./entry.ts";
import { isTypeScript, runsTypeScript, type Runtime, RUNTIMES } from "./runtime_table.ts";
import type { Tools } from "./tools.ts";

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
  try {
    for (const entry of Deno.readDirSync(folder)) {
      if (!entry.isDirectory && extensionOf(entry.name) === extension) return true;
    }
  } catch {
    // The folder cannot be listed.
  }
  return false;
}
