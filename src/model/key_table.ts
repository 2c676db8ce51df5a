/** What a row of a key table says, and how rows are found and named. Pure data: the command line loads it. */

/** Texts that are checked by a function: see `key_formats.ts`. */
export type Format =
  | "http_url"
  | "webhook_url"
  | "listen"
  | "regex"
  | "name"
  | "failure_action"
  | "glob"
  | "endpoint";

/** Text. */
export interface TextType {
  readonly type: "text";
  readonly format?: Format;
  /** A regular expression, and what it stands for in a message. */
  readonly pattern?: readonly [source: string, expected: string];
  /** Text has at least one character unless this is set. */
  readonly mayBeEmpty?: true;
}

/** A number. */
export interface NumberType {
  readonly type: "int" | "number";
  readonly min?: number;
  readonly max?: number;
  /** A word that stands for a number. */
  readonly word?: string;
}

/** An amount with a unit. */
export interface UnitType {
  /** On the wire a duration is text or nanoseconds, a size text or bytes; in memory milliseconds or bytes. */
  readonly type: "duration" | "size";
  /** The least value, in wire form. */
  readonly least?: string;
}

interface ChoiceType {
  readonly type: "choice";
  readonly choices: readonly string[];
  /** Name of its TypeScript type, which is written out in place without one. */
  readonly named?: string;
}

/** A list. */
export interface ListType {
  readonly type: "list";
  readonly of: ValueType;
  readonly minItems?: number;
  readonly maxItems?: number;
  /** One item may stand without the list. */
  readonly single?: true;
}

/** A map of the user's own keys. */
export interface MapType {
  readonly type: "map";
  readonly of: ValueType;
  /** Keys must be names of environment variables. */
  readonly variableNames?: true;
  /** A list of names may stand for the map: each gets this value. */
  readonly listMeans?: string;
}

/** An object with keys of its own. */
export interface ObjectType {
  readonly type: "object";
  readonly keys: KeyTable;
  /** Name of its TypeScript type. */
  readonly named: string;
  /** Shorter forms: a value of that type stands for an object with this one key. */
  readonly short?: readonly { readonly of: ValueType; readonly into: string }[];
  /** Exactly one of its keys must be given. */
  readonly exactlyOne?: true;
  /** The value of a key → the key that must be given with it. */
  readonly needs?: { readonly by: string; readonly keys: Readonly<Record<string, string>> };
}

/** What a value may be. `path`, `program` and `entrypoint` are paths against the file they are in. */
export type ValueType =
  | TextType
  | NumberType
  | UnitType
  | ChoiceType
  | ListType
  | MapType
  | ObjectType
  | { readonly type: "boolean" | "signal" | "program" | "entrypoint" }
  | { readonly type: "path"; readonly absolute?: true }
  | { readonly type: "either"; readonly of: readonly ValueType[] };

/** A flag of `start`, `restart` and `run`. What is not given comes from the row. */
export interface KeyFlag {
  /** Default: the key with dashes; with `no-` in front where the default is true. */
  readonly name?: string;
  readonly short?: string;
  readonly aliases?: readonly string[];
  /** How the help calls the value. */
  readonly value?: string;
  readonly help?: string;
  /** A path stays relative to the working directory of the app. */
  readonly relative?: true;
  /** Only for a new app: `restart` does not take it. */
  readonly onlyNew?: true;
}

/** What a row says beside the type. */
interface KeyFacts {
  /** One phrase, without a period. */
  readonly help: string;
  /** More for the reference and for editors: whole sentences. */
  readonly note?: string;
  /** In wire form. */
  readonly default?: unknown;
  readonly required?: true;
  /** Only in what is given: other keys replace it before the check. */
  readonly input?: true;
  /** A change takes effect while the process runs; any other key restarts it. */
  readonly live?: true;
  /** `always`: its values are never shown. `in changes`: a list of changes leaves them out. */
  readonly masked?: "always" | "in changes";
  /** In files `${VAR}` and `${VAR:-default}` are filled in, and `$$` is a `$`. */
  readonly variables?: true;
  /** Other names of the key. */
  readonly aliases?: readonly string[];
  /** Name in memory, where it is not the key in camelCase with its unit. */
  readonly memory?: string;
  readonly flag?: KeyFlag;
  /** In the dashboard's form; default: the key in words. */
  readonly label?: string;
  /** Heading in the reference and in the dashboard's form. */
  readonly group?: string;
}

/** One key. */
export type Key = ValueType & KeyFacts;

/** Keys by the name that they have on the wire and in files. */
export type KeyTable = { readonly [key: string]: Key };

/** The row of a key or of another name of it. */
export function rowOf(table: KeyTable, name: string): Key | undefined {
  if (Object.hasOwn(table, name)) return table[name];
  return Object.values(table).find(({ aliases }) => aliases?.includes(name));
}

/** Every key of a table, other names included. */
export function keyNames(table: KeyTable): string[] {
  const aliases = Object.values(table).flatMap((key) => key.aliases ?? []);
  return [...Object.keys(table), ...aliases];
}

/** The rows along a path into a value; shorter than the path where it leaves the table. */
export function rowsAt(table: KeyTable, path: readonly PropertyKey[]): ValueType[] {
  const [name, ...rest] = path;
  const row = typeof name === "string" ? rowOf(table, name) : undefined;
  return row === undefined ? [] : [row, ...typesIn(row, rest)];
}

function typesIn(type: ValueType, path: readonly PropertyKey[]): ValueType[] {
  if (type.type === "object") return rowsAt(type.keys, path);
  if ((type.type !== "list" && type.type !== "map") || path.length === 0) return [];
  return [type.of, ...typesIn(type.of, path.slice(1))];
}

/** Whether the value at a path is never shown. */
function isMasked(table: KeyTable, path: readonly PropertyKey[]): boolean {
  return rowsAt(table, path).some((row) => "masked" in row && row.masked === "always");
}

/** Whether what stands at a path may be a secret: a masked value, or one in place of a source of secrets. */
export function mayBeSecret(table: KeyTable, path: readonly PropertyKey[]): boolean {
  return isMasked(table, path) || rowsAt(table, path).some(isSource);
}

function isSource(type: ValueType): boolean {
  return type.type === "map"
    ? isSource(type.of)
    : type.type === "object" && type.exactlyOne === true;
}

/** Names of environment variables. */
export const VARIABLE_NAME = "^[^=\\s\\0]+$";

/** `restartDelay` → `restart_delay`. */
export function snakeCase(key: string): string {
  return key.replace(/^(pre|post)HealthCheck$/, "$1Healthcheck")
    .replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

const UNITS: Readonly<Record<string, string>> = { duration: "Ms", size: "Bytes" };

/** The name of a key in memory: `restart_delay`, a duration → `restartDelayMs`. */
export function memoryName(key: string, { type, memory }: Key): string {
  const camel = key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  return memory ?? camel + (UNITS[type] ?? "");
}

/** Whether the flag of a boolean key sets it to false: without a name of its own it is the default's opposite. */
export function turnsOff({ type, default: value, flag }: Key): boolean {
  return type === "boolean" && value === true && flag?.name === undefined;
}

/** The long name of a key's flag; undefined without one. */
export function flagName(key: string, row: Key): string | undefined {
  if (row.flag === undefined) return undefined;
  return row.flag.name ?? `${turnsOff(row) ? "no-" : ""}${key.replaceAll("_", "-")}`;
}
