/** References in place of the values that a program reads from its environment. */

import { isMap, mapOf } from "../../model/merge_patch.ts";
import type { Note } from "../problem.ts";
import { type ModuleRun, runModule } from "../read_module.ts";
import { reference } from "./imported.ts";

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
  const marked = Object.fromEntries([...names].map(([mark, name]) => [name, mark]));
  const other = await runModule(file, { ...env, ...marked }).catch(() => undefined);
  const program = { source, env: after, set, names };
  return {
    value: referring(value, other?.value, program, false),
    notes: other === undefined ? [{ process: undefined, text: FAILS }] : [],
  };
}

function namesIn(source: string, env: Env, set: Env): Set<string> {
  const words = (text: string) => text.match(/[A-Za-z_]\w*/g) ?? [];
  return new Set([
    ...[...source.matchAll(READ)].map(([, name]) => name!),
    ...[...source.matchAll(READ_AT_ONCE)].flatMap(([, list]) => words(list!)),
    // A set variable may be read in many more ways.
    ...words(source).filter((word) => env[word]),
    ...Object.keys(set),
  ]);
}

/** A value of the first run, with references wherever that of the second has a mark. */
function referring(value: unknown, other: unknown, program: Program, inEnv: boolean): unknown {
  if (Array.isArray(value)) {
    return value.map((item, index) => referring(item, pairOf(item, index, other), program, false));
  }
  if (!isMap(value)) {
    const text = textOf(value, typeof other === "string" ? other : "", program, inEnv);
    return typeof text === "string" ? withoutCopies(text, program) : text;
  }
  const there = mapOf(other);
  // JSON has no key for a variable that is not set.
  const unset = inEnv ? Object.keys(there).filter((key) => !(key in value)) : [];
  return Object.fromEntries([
    ...Object.entries(value).map(([key, item]) => [
      key,
      referring(item, there[key], program, inEnv || /^env(_|$)/.test(key)),
    ]),
    ...unset.map((key) => [key, referring(undefined, there[key], program, true)]),
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

function textOf(value: unknown, other: string, program: Program, inEnv: boolean): unknown {
  const marks = [...program.names].filter(([mark]) => other.includes(mark));
  const filled = (by: (name: string) => string) =>
    marks.reduce((text, [mark, name]) => text.replaceAll(mark, by(name)), other);
  const first = String(value);
  // A number may stand where there are no references.
  if (marks.length === 0 || (!inEnv && /^\d+$|^(true|false)$/.test(first))) return value;
  const referred = filled((name) => reference(name));
  if ((value ?? undefined) === undefined) return referred;
  if (filled((name) => program.env[name] || "undefined") === first) return referred;
  if (marks.some(([, name]) => program.env[name])) {
    // The other branch of a condition is read in the second run.
    return isLiteral(first, program.source) ? value : referred;
  }
  const [mark] = inEnv && marks.length === 1 ? marks : [];
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
