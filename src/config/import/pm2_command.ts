/** The command line of a PM2 app. */

import { nameFromPath } from "../../model/name.ts";
import { lookAt } from "../../runtimes/executable.ts";
import { normal } from "../layer.ts";
import type { Keys } from "./imported.ts";
import { shellCommand, splitWords } from "./shell_line.ts";

type App = Readonly<Record<string, unknown>>;

/** Interpreters that PM2 uses by extension where nothing is said. */
const BY_EXTENSION: readonly (readonly [RegExp, Keys])[] = [
  [/\.[cm]?js$/, { runtime: "node" }],
  [/\.(sh|bash)$/, { interpreter: "bash" }],
];

/** What an app is called. */
export function pm2Name({ name, script }: App): string {
  return name === undefined || name === "" ? nameFromPath(String(script ?? "app")) : String(name);
}

/** Entrypoint, arguments and working directory. */
export function pm2Command(app: App, folder: string): Keys {
  const script = String(app.script ?? "");
  const cwd = app.cwd === undefined ? {} : { cwd: String(app.cwd) };
  const at = app.cwd === undefined ? folder : normal(folder, String(app.cwd));
  const args = words(app.args);
  const path = seenFrom(script, at, folder);
  const isFile = lookAt(normal(folder, path))?.isFile === true;
  if (/\s/.test(script) && !isFile) {
    return { ...cwd, ...shellCommand([script, ...args].join(" ")) };
  }
  const interpreter = String(app.interpreter ?? app.exec_interpreter ?? "");
  const options = words(app.node_args ?? app.interpreter_args ?? app.interpreterArgs);
  if (options.length > 0 && interpreter !== "none") {
    const program = interpreter || "node";
    return { ...cwd, entrypoint: program, args: [...options, normal(folder, path), ...args] };
  }
  if (interpreter === "none") return { ...cwd, entrypoint: path, args };
  if (interpreter !== "") return { ...cwd, entrypoint: path, args, ...interpreted(interpreter) };
  const known = isFile ? BY_EXTENSION.find(([pattern]) => pattern.test(script))?.[1] : undefined;
  return { ...cwd, entrypoint: path, args, ...known };
}

/** PM2 looks in the working directory of the app. */
function seenFrom(script: string, at: string, folder: string): string {
  if (script.startsWith("/") || at === folder) return script;
  const there = normal(at, script);
  return lookAt(there)?.isFile ? there : script;
}

function interpreted(interpreter: string): Keys {
  return interpreter === "node" ? { runtime: "node" } : { interpreter };
}

function words(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(String);
  return typeof value === "string"
    ? splitWords(value)
    : value === undefined || value === null
    ? []
    : [String(value)];
}
