/** Where `${…}` of configuration files is looked up. */

import { parseDotenv } from "../model/dotenv.ts";
import { readForeignFile } from "../platform/foreign_file.ts";
import type { Lookup } from "./interpolate.ts";

/** Where to look. */
export interface VariableSources {
  /** The environment, which comes first. */
  readonly env: Readonly<Record<string, string>>;
  /** Folders whose `.env` is read when the environment has no such variable; the last comes first. */
  readonly folders: readonly string[];
}

/** A lookup, and what it has found in the environment. */
export interface Variables {
  /** Throws when a `.env` that is needed cannot be read. */
  readonly lookup: Lookup;
  /** Those of the environment that were asked for. What a `.env` says can be read again. */
  readonly used: Readonly<Record<string, string>>;
}

/** Looks up variables. No `.env` is touched before one is needed. */
export function variablesOf({ env, folders }: VariableSources): Variables {
  const used: Record<string, string> = {};
  let fromFiles: Record<string, string> | undefined;
  const lookup = (name: string) => {
    if (Object.hasOwn(env, name)) return used[name] = env[name]!;
    fromFiles ??= Object.assign({}, ...folders.map(dotenvIn));
    return Object.hasOwn(fromFiles!, name) ? fromFiles![name] : undefined;
  };
  return { lookup, used };
}

function dotenvIn(folder: string): Record<string, string> {
  const file = `${folder}/.env`;
  try {
    return parseDotenv(readForeignFile(file), file);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.IsADirectory) {
      return {};
    }
    throw error;
  }
}
