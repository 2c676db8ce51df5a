/** References in place of the values that a program reads from its environment. */

import { isMap, mapOf } from "../model/merge_patch.ts";
import type { Note } from "../config/problem.ts";
import { type ModuleRun, runModule } from "../config/read_module.ts";
import { reference } from "./references.ts";
import { valueAt } from "../config/document.ts";

type Env = Readonly<Record<string, string>>;

/** A name that is read: `env.NAME`, `env["NAME"]` and `env.get("NAME")`. */
const READ = /\benv(?:\.get\(\s*|\?*\.|(?:\?\.)?\[\s*)["'`]?([A-Za-z_]\w*)/g;

/** Names that are read at once: `{ NAME, OTHER = "x" } = process.env`. */
const READ_AT_ONCE = /\{([^{}]*)\}\s*=\s*(?:\w+\.)?env\b/g;

/** Up to this length, a text may be the same as a variable's value by chance. */
const SHORT = 3;

const FAILS = "values of the environment: the program fails with others, so they are written here";

/** A program after its first run. */
interface Program {
  readonly source: string;
  /** The environment at its end. */
  readonly env: Env;
  /** The variables that it set by itself, from a `.env` for example. */
  readonly set: Env;
  /** Marks → names of the variables that had them as values in the second run. */
  readonly names: ReadonlyMap<string, string>;
}

/**
 * The value of a program, with references in place of the environment's values. To find them, the
 * program runs once more with marks for values. dotenv leaves variables alone that are set.
 */
export async function withoutEnvironment(
  { value, set }: ModuleRun,
  file: string,
  source: string,
  env: Env,
): Promise<{ readonly value: unknown; readonly notes: readonly Note[] }> {
  // Words of the source are looked up in it, such as `toString`.
  const after: Env = Object.assign(Object.create(null), env, set);
  const names = new Map(
    [...namesIn(source, after, set)].map((name) => [
      `${after[name]?.startsWith("/") ? "/" : ""}procsup-${crypto.randomUUID()}`,
      name,
    ]),
  );
  const run = async (values: Env) =>
    await runModule(file, { ...env, ...values }).catch(() => undefined);
  const marked = Object.fromEntries([...names].map(([mark, name]) => [name, mark]));
  const other = await run(marked);
  // What parses a number takes no mark.
  const numbers = await run(
    Object.fromEntries([...names.values()].map((name, at) => [name, `${7919 + at}`])),
  );
  const program = { source, env: after, set, names };
  const result = referring(value, other?.value, program, []);
  const failed = other === undefined ? [{ process: undefined, text: FAILS }] : [];
  const others = [other, numbers].flatMap((one) => one === undefined ? [] : [one.value]);
  return { value: result, notes: [...failed, ...fixedValues(result, value, others, [])] };
}

type Path = readonly (string | number)[];

/** Notes on values that would be others in another environment, and have no reference. */
function fixedValues(
  result: unknown,
  value: unknown,
  others: readonly unknown[],
  path: Path,
): Note[] {
  if (Array.isArray(value)) {
    return value.flatMap((item, at) =>
      fixedValues(
        (result as unknown[])[at],
        item,
        others.map((other) => pairOf(item, at, other)),
        [...path, at],
      ).map((note) =>
        note.process === undefined && isMap(item) && typeof item.name === "string"
          ? { ...note, process: item.name }
          : note
      )
    );
  }
  if (isMap(value)) {
    return Object.entries(value).flatMap(([key, item]) =>
      fixedValues(valueAt(result, [key]), item, others.map((other) => valueAt(other, [key])), [
        ...path,
        key,
      ])
    );
  }
  // A value that is missing elsewhere belongs to something that is missing there.
  const isFixed = result === value &&
    others.some((other) => other !== undefined && !isMap(other) && other !== value);
  if (!isFixed) return [];
  const keys = path.slice(path.findIndex((part) => typeof part === "number") + 1);
  // The value of a variable may be a secret.
  const shown = /^env(_|$)/.test(String(keys[0])) ? "as it is" : `as ${JSON.stringify(value)}`;
  const text = `${keys.join(".")}: written ${shown}; the program takes it from its environment`;
  return [{ process: undefined, text }];
}

function namesIn(source: string, env: Env, set: Env): Set<string> {
  const words = (text: string) => text.match(/[A-Za-z_]\w*/g) ?? [];
  // `const e = process.env`
  const aliases = [...source.matchAll(/(\w+)\s*=\s*(?:process|Deno)\.env\b(?!\s*[.[?])/g)];
  const byAlias = aliases.flatMap((
    [, alias],
  ) => [...source.matchAll(new RegExp(`\\b${alias}\\??\\.([A-Za-z_]\\w*)`, "g"))]);
  return new Set([
    ...[...source.matchAll(READ), ...byAlias].map(([, name]) => name!),
    ...[...source.matchAll(READ_AT_ONCE)].flatMap(([, list]) => words(list!)),
    // A set variable may be read in many more ways.
    ...words(source).filter((word) => env[word]),
    ...Object.keys(set),
  ]);
}

/** A value of the first run, with references wherever that of the second has a mark. */
function referring(value: unknown, other: unknown, program: Program, path: Path): unknown {
  if (Array.isArray(value)) {
    return value.map((item, index) =>
      referring(item, pairOf(item, index, other), program, [...path, index])
    );
  }
  const inEnv = path.some((part) => /^env(_|$)/.test(String(part)));
  if (!isMap(value)) {
    const text = textOf(value, typeof other === "string" ? other : "", program, mayRefer(path));
    return typeof text === "string" ? withoutCopies(text, program) : text;
  }
  const there = mapOf(other);
  // JSON has no key for a variable that is not set.
  const unset = inEnv ? Object.keys(there).filter((key) => !(key in value)) : [];
  return Object.fromEntries([
    ...Object.entries(value).map(([key, item]) => [
      key,
      referring(item, there[key], program, [...path, key]),
    ]),
    ...unset.map((key) => [key, referring(undefined, there[key], program, [...path, key])]),
  ]);
}

/** The counterpart of an item. Lists of apps may have fewer or more in the second run. */
function pairOf(item: unknown, index: number, other: unknown): unknown {
  if (!Array.isArray(other)) return undefined;
  return isMap(item) && item.name !== undefined
    ? other.find((one) => isMap(one) && one.name === item.name) ?? other[index]
    : other[index];
}

/** A text with references in place of values that a program read from a file of variables. */
function withoutCopies(text: string, { set, source }: Program): string {
  return Object.entries(set)
    .filter(([, value]) => value.length > SHORT && !source.includes(value))
    .reduce((all, [name, value]) => all.replaceAll(value, reference(name)), text);
}

/** Whether a value at this path may have references. In PM2's other keys procsup has none. */
function mayRefer(path: Path): boolean {
  return path.some((part) =>
    /^(env(_.*)?|args|cwd|script|(out|error|err|log)(_file)?|output|port)$/.test(String(part))
  );
}

function textOf(value: unknown, other: string, program: Program, canRefer: boolean): unknown {
  const marks = [...program.names].filter(([mark]) => other.includes(mark));
  const filled = (by: (name: string) => string) =>
    marks.reduce((text, [mark, name]) => text.replaceAll(mark, by(name)), other);
  const first = String(value);
  // A number may stand where there are no references.
  if (marks.length === 0 || (!canRefer && /^\d+$|^(true|false)$/.test(first))) return value;
  const referred = filled((name) => reference(name));
  if ((value ?? undefined) === undefined) return referred;
  if (filled((name) => program.env[name] || "undefined") === first) return referred;
  if (marks.some(([, name]) => program.env[name])) {
    // The other branch of a condition is read in the second run.
    return isLiteral(first, program.source) ? value : referred;
  }
  const [mark] = canRefer && marks.length === 1 ? marks : [];
  return mark === undefined ? value : withDefault(first, other, mark) ?? value;
}

function isLiteral(text: string, source: string): boolean {
  return ['"', "'", "`"].some((quote) => source.includes(`${quote}${text}${quote}`));
}

/** `${NAME:-default}`, where the first run shows the default: `env.NAME || "default"`. */
function withDefault(
  first: string,
  other: string,
  [mark, name]: readonly [string, string],
): string | undefined {
  const [before = "", after = "", ...more] = other.split(mark);
  if (more.length > 0 || !first.startsWith(before) || !first.endsWith(after)) return undefined;
  const usual = first.slice(before.length, first.length - after.length);
  return /[{}$]/.test(usual) ? undefined : before + reference(name, usual) + after;
}
