/** Rewrites errors for programs: keys in camelCase, methods in place of commands. */

import { ProcsupError, withCommands } from "../model/errors.ts";
import { StartFailedError } from "../model/start_failed.ts";
import { camelCase, type KeyTable } from "../model/key_table.ts";
import { PROCESS_KEYS } from "../model/process_keys.ts";

/** Commands with a method of a target, those without a target, and methods with another name. */
const ON_TARGET = ["delete", "flush", "logs", "reload", "restart", "scale", "start", "stop"];
const BARE = ["list", "resurrect", "save"];
const OTHER_NAMES: Readonly<Record<string, string>> = { delete: "remove", logs: "lines" };

type Told = { -readonly [K in keyof ProcsupError]: ProcsupError[K] };

/** Rewrites the message, hint and names of an error in place. */
export function inLibraryWords(error: unknown): unknown {
  if (!(error instanceof ProcsupError)) return error;
  const told: Told = error;
  // Keep the app's own output unchanged.
  const own = error instanceof StartFailedError ? error.summary.length : error.message.length;
  told.message = inCamelCase(error.message.slice(0, own)) + error.message.slice(own);
  if (error instanceof StartFailedError) {
    (error as { summary: string }).summary = inCamelCase(error.summary);
  }
  told.hint = error.hint && hintText(error.hint);
  told.field = error.field && inCamelCase(error.field);
  told.near = error.near && inCamelCase(error.near);
  return error;
}

/** Calls `act`, and rewrites what it throws. */
export function withLibraryWords<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw inLibraryWords(error);
  }
}

/** Converts the keys in a text to camelCase, but not parts of file names. */
export function inCamelCase(text: string): string {
  return text.replace(
    /(?<![\w./-])[a-z_]+(?:\[\d+\])?(?:\.[a-z_]+(?:\[\d+\])?)*(?![\w/-])/g,
    (path) => path.split(/[.[]/).every(isKeyOrIndex) ? camelCase(path) : path,
  );
}

function isKeyOrIndex(part: string): boolean {
  return KEYS.has(part) || /^\d+\]$/.test(part);
}

/** Undefined for commands that need a terminal. */
export function hintText(hint: string): string | undefined {
  let forTerminal = false;
  const text = withCommands(hint, ({ verb, target, placeholder, flags }) => {
    if (BARE.includes(verb)) return `${verb}()${target === undefined ? "" : ` ${target}`}`;
    forTerminal ||= !ON_TARGET.includes(verb) || placeholder !== undefined || flags;
    return `${OTHER_NAMES[verb] ?? verb}(${target === undefined ? "" : JSON.stringify(target)})`;
  });
  return forTerminal ? undefined : inCamelCase(text);
}

/** Options that a verb has in two words. */
const OPTIONS = ["allow_empty", "batch_size", "ignore_case", "rollback_on_failure"];
const KEYS: ReadonlySet<string> = new Set([
  ...keysOf(PROCESS_KEYS),
  ...["processes", "defaults"],
  ...OPTIONS,
]);

function keysOf(table: KeyTable): string[] {
  return Object.entries(table).flatMap(([key, row]) => [
    ...[key, ...row.aliases ?? []],
    ...(row.type === "object" ? keysOf(row.keys) : []),
  ]);
}
