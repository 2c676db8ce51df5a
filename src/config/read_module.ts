/** Runs a configuration that is a program, in a child process with read access only. */

import { ifPossible } from "../model/errors.ts";
import { dirname, fromFileUrl, toFileUrl } from "@std/path";
import { readForeignFile } from "../platform/files/foreign_file.ts";
import { lookAt } from "../platform/files/stat.ts";
import { findExecutable } from "../runtimes/programs.ts";
import type { Place } from "./document.ts";
import { isOwnName } from "./file_kind.ts";
import { ConfigProblem } from "./problem.ts";
import { readJson } from "./read_json.ts";

const TIMEOUT_MS = 10_000;
/** Limits of what a module prints, and of its heap in MiB. */
const MAX_PRINTED = 16 * 1024 * 1024;
const MAX_HEAP = 512;

const MARK = "\n#procsup-config#";

/** Errors of Deno about forbidden imports. */
const FROM_ELSEWHERE = /--no-remote|--no-npm|import access|not a dependency/;
const IMPORTABLE =
  "a configuration may import only your own files and, in the file itself, @procsup/procsup/config";

/**
 * Prints the value after a mark that separates it from the module's own output. Calls a function, and
 * wraps CommonJS.
 */
const RUNNER = `
const [file, folder, url] = Deno.args;
const before = Deno.env.toObject();
const text = Deno.readTextFileSync(file);
// PM2 reads its JSON as an expression: comments and bare keys are possible.
const source = /\\.json5?$/.test(file) ? "module.exports = (" + text + "\\n)" : text;
const isCommon = /\\.(cjs|json5?)$/.test(file) ||
  (/\\.js$/.test(file) && /\\bmodule\\.exports\\b|\\bexports\\.\\w+\\s*=/.test(source) &&
    !/^\\s*export\\s/m.test(source));
let value;
if (isCommon) {
  const { createRequire } = await import("node:module");
  globalThis.process ??= (await import("node:process")).default;
  const module = { exports: {} };
  new Function("module", "exports", "require", "__filename", "__dirname", source)(
    module, module.exports, createRequire(url), file, folder);
  value = module.exports;
} else {
  const module = await import(url);
  value = "default" in module ? module.default : { ...module };
}
if (typeof value === "function") value = value();
value = await value;
const set = Object.entries(Deno.env.toObject()).filter(([name, text]) => before[name] !== text);
console.log(${
  JSON.stringify(MARK)
} + JSON.stringify({ value: value ?? null, set: Object.fromEntries(set) }));
`;

export interface ModuleRun {
  /** The value that it exports. */
  readonly value: unknown;
  /** The variables that it set in its own environment, as dotenv does. */
  readonly set: Readonly<Record<string, string>>;
}

/** Runs a module. Throws `ConfigProblem`, also when the time limit passes. */
export async function runModule(
  file: string,
  env: Readonly<Record<string, string>>,
  timeoutMs = TIMEOUT_MS,
): Promise<ModuleRun> {
  const child = new Deno.Command(denoProgram(file, env), {
    // Read access only: no network, writing, programs or remote code.
    args: [
      ...["run", "--quiet", "--no-prompt", "--no-remote", "--no-lock", "--no-check"],
      ...["--allow-read", "--allow-env", "--allow-sys"],
      `--v8-flags=--max-old-space-size=${MAX_HEAP}`,
      // Another tool's file may import what is installed beside it. Nothing is downloaded.
      ...(isOwnName(file) ? ["--no-npm"] : ["--node-modules-dir=manual", "--cached-only"]),
      ...importFlags(file),
      ...["--ext=js", "-", file, dirname(file), toFileUrl(file).href],
    ],
    cwd: dirname(file),
    clearEnv: true,
    env: { ...env, NO_COLOR: "1" },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let killed: string | undefined;
  const kill = (why: string) => {
    killed ??= why;
    // It may have ended.
    ifPossible(() => child.kill("SIGKILL"));
  };
  const timer = setTimeout(() => kill(`timed out: killed after ${timeoutMs} ms`), timeoutMs);
  const tooMuch = () => kill(`printed more than ${MAX_PRINTED} bytes`);
  const written = new Blob([RUNNER]).stream().pipeTo(child.stdin).catch(() => {});
  const [{ code }, stdout, stderr] = await Promise.all([
    child.status,
    textOf(child.stdout, tooMuch),
    textOf(child.stderr, tooMuch),
  ]);
  clearTimeout(timer);
  await written;
  if (killed !== undefined) throw new ConfigProblem(file, killed);
  const [, json] = stdout.split(MARK);
  if (code !== 0 || json === undefined) {
    const [why, place] = [firstLine(stderr), placeOfFailure(stderr)];
    // Files that it imports fail too.
    const which = place === undefined || place.file === file ? "it" : `"${file}"`;
    throw new ConfigProblem(file, `${which} failed: ${why}`, {
      advice: FROM_ELSEWHERE.test(why) ? IMPORTABLE : undefined,
      place,
    });
  }
  return JSON.parse(json);
}

/** The text of a stream, at most `MAX_PRINTED` bytes of it. */
async function textOf(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  onMore: () => void,
): Promise<string> {
  const decoder = new TextDecoder();
  let [text, bytes] = ["", 0];
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes <= MAX_PRINTED) text += decoder.decode(chunk, { stream: true });
    else onMore();
  }
  return text + decoder.decode();
}

function firstLine(stderr: string): string {
  const lines = stderr.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  const error = lines.find((line) => /error|denied|not found/i.test(line)) ?? lines[0];
  return error?.replace(/^error: (Uncaught )?(\(in promise\) )?|\.$/g, "") ?? "it exported nothing";
}

/** Where a module failed; undefined if that is in no file, but in the text that runs it. */
function placeOfFailure(stderr: string): Place | undefined {
  const [, url, line, column] = /^ +at (?:.*\()?(file:\S+?):(\d+):(\d+)\)?$/m.exec(stderr) ?? [];
  const file = url && fromFileUrl(url);
  if (!file || !lookAt(file)?.isFile) return undefined;
  return { file, line: Number(line), column: Number(column) };
}

/** The deno that runs this program; for a compiled program, the one on PATH. */
function denoProgram(file: string, env: Readonly<Record<string, string>>): string {
  const own = Deno.execPath();
  if (/\/deno$/.test(own)) return own;
  const found = findExecutable("deno", "/", env.PATH ?? "");
  if (found !== undefined) return found;
  throw new ConfigProblem(file, "needs deno on PATH", {
    advice: "install deno, or write the configuration as YAML",
  });
}

/**
 * Import specifiers of our helper. Its text is inlined: a single executable has no file of it, and
 * nothing is downloaded for a configuration.
 */
const HELPER = /(?:(?:jsr|npm):)?@procsup\/procsup(?:@[^/"'`\s]+)?\/config(?=["'`])/g;
const HELPER_TEXT = "data:text/javascript,export const defineConfig = (config) => config;";

interface ImportMap {
  readonly imports?: Readonly<Record<string, string>>;
  readonly scopes?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** Flags that make Deno resolve `defineConfig` by the name of our package. */
function importFlags(file: string): string[] {
  const names = new Set(readForeignFile(file).match(HELPER));
  if (names.size === 0) return [];
  // An import map on the command line replaces the one that Deno would find, so it must include it.
  const { imports, scopes } = foundMap(dirname(file));
  const own = Object.fromEntries([...names].map((name) => [name, HELPER_TEXT]));
  const map = { imports: { ...imports, ...own }, ...(scopes === undefined ? {} : { scopes }) };
  // With `links` in the configuration of the folder, Deno panics at such a map.
  return [
    "--no-config",
    `--import-map=data:application/json,${encodeURIComponent(JSON.stringify(map))}`,
  ];
}

/** The import map of the nearest deno.json, with absolute addresses. */
function foundMap(folder: string): ImportMap {
  for (const name of ["deno.json", "deno.jsonc"]) {
    const config = readIfAny(`${folder}/${name}`);
    if (config === undefined) continue;
    const { importMap } = config as { importMap?: string };
    if (importMap === undefined) return resolved(config, `${folder}/${name}`);
    const path = fromFileUrl(new URL(importMap, toFileUrl(`${folder}/`)));
    return resolved(readIfAny(path) ?? {}, path);
  }
  return folder === "/" ? {} : foundMap(dirname(folder));
}

function readIfAny(path: string): ImportMap | undefined {
  // Missing or invalid: Deno reports it.
  return ifPossible(() => readJson(path, readForeignFile(path), true).value as ImportMap);
}

function resolved({ imports, scopes }: ImportMap, path: string): ImportMap {
  const absolute = (text: string) =>
    /^\.{0,2}\//.test(text) ? new URL(text, toFileUrl(path)).href : text;
  const entries = (map: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(Object.entries(map).map(([key, to]) => [absolute(key), absolute(to)]));
  const inScopes = Object.entries(scopes ?? {}).map(([key, map]) =>
    [absolute(key), entries(map)] as const
  );
  return { imports: entries(imports), scopes: Object.fromEntries(inScopes) };
}
