/** Errors for programs: keys in camelCase, and the methods of hints. */

import { ProcsupError } from "../model/errors.ts";
import { type Hint, type HintCommand, isPlaceholder } from "../model/hint.ts";
import { StartFailedError } from "../model/start_failed.ts";
import { camelCase, type KeyTable } from "../model/key_table.ts";
import { PROCESS_KEYS } from "../model/process_keys.ts";

/** The methods of commands, and their options by flag. */
const METHODS: Readonly<
  Record<string, { readonly name: string; readonly options?: Readonly<Record<string, string>> }>
> = {
  ...Object.fromEntries(
    ["flush", "list", "reload", "restart", "resurrect", "save", "start", "stop"]
      .map((name) => [name, { name }]),
  ),
  delete: { name: "remove" },
  logs: { name: "lines", options: { lines: "tail", follow: "follow" } },
};

type Told = { -readonly [K in keyof ProcsupError]: ProcsupError[K] };

/** Rewrites the keys in an error in place. A second time changes nothing. */
export function inLibraryWords(error: unknown): unknown {
  if (!(error instanceof ProcsupError)) return error;
  const told: Told = error;
  // Keep the app's own output unchanged.
  const own = error instanceof StartFailedError ? error.summary.length : error.message.length;
  told.message = inCamelCase(error.message.slice(0, own)) + error.message.slice(own);
  if (error instanceof StartFailedError) {
    (error as { summary: string }).summary = inCamelCase(error.summary);
  }
  const { text } = error.hint ?? {};
  told.hint = text === undefined ? error.hint : { ...error.hint, text: inCamelCase(text) };
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

/**
 * The hint for a program, with the method of the command: `Choose another name, or restart it:
 * restart("api")`. Undefined if only a terminal has the command, and it has no text.
 */
export function hintText({ text, command }: Hint): string | undefined {
  const parts = [text, command && methodText(command)].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join(": ");
}

function methodText({ verb, target, args = [], flags = {} }: HintCommand): string | undefined {
  const { name, options = {} } = Object.hasOwn(METHODS, verb) ? METHODS[verb]! : {};
  const given = Object.entries(flags);
  const isForTerminal = given.some(([flag]) => !Object.hasOwn(options, flag)) ||
    args.length > 0 || (target !== undefined && isPlaceholder(target));
  if (name === undefined || isForTerminal) return undefined;
  const object = given.map(([flag, value]) => `${options[flag]}: ${JSON.stringify(value)}`);
  const shown = [
    ...(target === undefined ? [] : [JSON.stringify(target)]),
    ...(object.length === 0 ? [] : [`{ ${object.join(", ")} }`]),
  ];
  return `${name}(${shown.join(", ")})`;
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
