/** What a file of variables sets. */

import { parseDotenv } from "../model/dotenv.ts";
import { ifPossible, messageOf, ProcsupError } from "../model/errors.ts";
import { resolve } from "@std/path";
import { readForeignFile } from "../platform/files/foreign_file.ts";
import { ConfigProblem } from "./problem.ts";

/** A note on a file that cannot be read. */
export const UNREAD =
  "it cannot be read now: remove from env what it sets, because env overrides it";

/** The names that a file sets; undefined if it cannot be read. */
export function namesInEnvFile(path: string): readonly string[] | undefined {
  return ifPossible(() => Object.keys(parseDotenv(readForeignFile(path), path)));
}

/** The variables of a `.env`; none if it does not exist. Throws an error that names the file. */
export function readDotenv(path: string): Record<string, string> {
  try {
    return parseDotenv(readForeignFile(path), path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.IsADirectory) {
      return {};
    }
    if (error instanceof ProcsupError) throw error;
    throw new ConfigProblem(path, `cannot be read: ${messageOf(error)}`);
  }
}

/** A variable that systemd reads in the same way. */
const COMMON =
  /^[ \t]*(\w+)[ \t]*=[ \t]*(?:'[^']*'|"[^"\\]*"|(?!["'])(?:(?!\s#)[^\n\\])*)[ \t]*$/gm;

/** The names in a file whose values systemd reads differently; none if it cannot be read. */
export function unlikeSystemd(path: string): readonly string[] {
  const names = namesInEnvFile(path);
  if (names === undefined || names.length === 0) return [];
  const text = readForeignFile(path).replaceAll("\r\n", "\n");
  const common = new Set([...text.matchAll(COMMON)].map(([, name]) => name));
  return names.filter((name) => !common.has(name));
}

/**
 * Variables of a tool whose files win over them, without those that a file sets: in procsup `env`
 * wins over `env_file`. `unread` are the files that cannot be read now.
 */
export function underFiles(
  env: Readonly<Record<string, string>>,
  files: readonly string[],
  folder: string,
): { readonly env: Record<string, string>; readonly unread: readonly string[] } {
  if (Object.keys(env).length === 0) return { env: {}, unread: [] };
  const read = files.map((path) => ({ path, names: namesInEnvFile(resolve(folder, path)) }));
  const set = new Set(read.flatMap(({ names = [] }) => names));
  return {
    env: Object.fromEntries(Object.entries(env).filter(([name]) => !set.has(name))),
    unread: read.filter(({ names }) => names === undefined).map(({ path }) => path),
  };
}
