/** The types of a key table, and its lookups. Imports nothing: the command line loads it. */

/** Text formats that a function checks: see `key_formats.ts`. */
export type Format =
  | "http_url"
  | "webhook_url"
  | "listen"
  | "address_range"
  | "regex"
  | "name"
  | "failure_action"
  | "watch_action"
  | "glob"
  | "user"
  | "endpoint"
  | "alert"
  | "host_alert";

export interface TextType {
  readonly type: "text";
  readonly format?: Format;
  /** A regular expression, and the words for it in a message. */
  readonly pattern?: readonly [source: string, expected: string];
  readonly mayBeEmpty?: true;
}

export interface NumberType {
  readonly type: "int" | "number";
  readonly min?: number;
  readonly max?: number;
  /** A word accepted in place of a number. */
  readonly word?: string;
}

/** An amount with a unit. */
export interface UnitType {
  /**
   * On the wire a duration is text or nanoseconds and a size is text or bytes; in memory they are
   * milliseconds and bytes.
   */
  readonly type: "duration" | "size";
  /** Minimum, in wire form. */
  readonly least?: string;
}

interface ChoiceType {
  readonly type: "choice";
  readonly choices: readonly string[];
  /** Name of its TypeScript type; without one the type is written out in place. */
  readonly named?: string;
}

export interface ListType {
  readonly type: "list";
  readonly of: ValueType;
  readonly minItems?: number;
  readonly maxItems?: number;
  /** Accepts a single item without the list. */
  readonly single?: true;
}

/** A map of the user's own keys. */
export interface MapType {
  readonly type: "map";
  readonly of: ValueType;
  /** Keys must be names of environment variables. */
  readonly variableNames?: true;
  /** Accepts a list of names too: each gets this value. */
  readonly listMeans?: string;
}

/** An object with fixed keys. */
export interface ObjectType {
  readonly type: "object";
  readonly keys: KeyTable;
  /** Name of its TypeScript type. */
  readonly named: string;
  /** Short forms: a value of type `of` stands for an object with the single key `into`. */
  readonly short?: readonly { readonly of: ValueType; readonly into: string }[];
  /** Maps keys to others of which each of them needs one. */
  readonly beside?: Readonly<Record<string, readonly string[]>>;
  /** Exactly one of its keys must be given. */
  readonly exactlyOne?: true;
  /**
   * Maps the values of the key `by` to the key that each of them requires. `only` maps keys to the
   * value that they belong to.
   */
  readonly needs?: {
    readonly by: string;
    readonly keys: Readonly<Record<string, string>>;
    readonly only?: Readonly<Record<string, string>>;
  };
}

/** The type of a value. `path`, `program` and `entrypoint` are relative to the file that holds them. */
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

/** A flag of `start`, `restart` and `run`, or of `webhook set`. */
interface KeyFlag {
  /** Defaults to the key with dashes, after `no-` if the key defaults to true. */
  readonly name?: string;
  readonly short?: string;
  readonly aliases?: readonly string[];
  /** Placeholder for the value in the help. */
  readonly value?: string;
  readonly help?: string;
  /** The default for a new app, in words; defaults to that of the row. */
  readonly usual?: string;
  /** The path stays relative to the app's working directory. */
  readonly relative?: true;
  /** Only for a new app: `restart` refuses it. */
  readonly onlyNew?: true;
  /** Among the flags that `procsup help start` shows; `--all` shows the others too. */
  readonly isCommon?: true;
}

/** Properties of a key besides its type. */
interface KeyFacts {
  /** One phrase, without a period. */
  readonly help: string;
  /** Whole sentences for the reference and for editors. */
  readonly note?: string;
  /** Default value in wire form. */
  readonly default?: unknown;
  readonly required?: true;
  /** Only in the input: other keys replace it before validation. */
  readonly input?: true;
  /** The key of the same object that replaces it, with this text before its value. */
  readonly becomes?: { readonly key: string; readonly prefix: string };
  /** A change takes effect while the process runs; any other key restarts it. */
  readonly live?: true;
  /**
   * `always`: its value is never shown. `in url`: it is shown without the secret parts of a URL. `in
   * changes`: lists of changes omit it.
   */
  readonly masked?: "always" | "in url" | "in changes";
  /** The files at these paths hold secrets: no image takes them along. */
  readonly secretFile?: true;
  /** In files `${VAR}` and `${VAR:-default}` are filled in, and `$$` is a `$`. */
  readonly variables?: true;
  readonly aliases?: readonly string[];
  /** Name in memory, if it is not the key in camelCase with its unit. */
  readonly memory?: string;
  readonly flag?: KeyFlag;
  /** Label in the dashboard's form; defaults to the key in words. */
  readonly label?: string;
  /** Heading in the reference and in the dashboard's form. */
  readonly group?: string;
}

export type Key = ValueType & KeyFacts;

/** Keys by their names on the wire and in files. */
export type KeyTable = { readonly [key: string]: Key };

/** The row of a key or alias. */
export function rowOf(table: KeyTable, name: string): Key | undefined {
  if (Object.hasOwn(table, name)) return table[name];
  return Object.values(table).find(({ aliases }) => aliases?.includes(name));
}

/** The keys that may be given in place of a key. */
export function standIns(table: KeyTable, key: string): string[] {
  return Object.keys(table).filter((other) => table[other]!.becomes?.key === key);
}

/** All keys of a table, with their aliases. */
export function keyNames(table: KeyTable): string[] {
  const aliases = Object.values(table).flatMap((key) => key.aliases ?? []);
  return [...Object.keys(table), ...aliases];
}

/** The rows along a path into a value, up to where the path leaves the table. */
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

/** Whether a value may be a secret: it is masked, or is where the source of a secret belongs. */
export function mayBeSecret(
  table: KeyTable,
  path: readonly PropertyKey[],
  value: unknown,
): boolean {
  return rowsAt(table, path).some((row) => {
    const masked = "masked" in row ? row.masked : undefined;
    return masked === "always" || isSource(row) ||
      (masked === "in url" && /[@?]/.test(String(value)));
  });
}

function isSource(type: ValueType): boolean {
  return type.type === "map"
    ? isSource(type.of)
    : type.type === "object" && type.exactlyOne === true;
}

/** Pattern of the names of environment variables. */
export const VARIABLE_NAME = "^[^=\\s\\0]+$";

/** `restartDelay` → `restart_delay`. */
export function snakeCase(key: string): string {
  return key.replace(/^(pre|post)HealthCheck$/, "$1Healthcheck")
    .replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** `restart_delay` → `restartDelay`. */
export function camelCase(key: string): string {
  return key.replace(/^(pre|post)_healthcheck$/, "$1HealthCheck")
    .replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

const UNITS: Readonly<Record<string, string>> = { duration: "Ms", size: "Bytes" };

/** The name of a key in memory: `restart_delay`, a duration → `restartDelayMs`. */
export function memoryName(key: string, { type, memory }: Key): string {
  return memory ?? camelCase(key) + (UNITS[type] ?? "");
}

/**
 * Whether the flag of a boolean key sets it to false: the key defaults to true and the flag has no
 * name of its own.
 */
export function turnsOff({ type, default: value, flag }: Key): boolean {
  return type === "boolean" && value === true && flag?.name === undefined;
}

/** The long name of a key's flag; undefined without one. */
export function flagName(key: string, row: Key): string | undefined {
  if (row.flag === undefined) return undefined;
  return row.flag.name ?? `${turnsOff(row) ? "no-" : ""}${key.replaceAll("_", "-")}`;
}

/** The form of a type that a value has: one of several, or a single item in place of a list. */
export function formOf(type: ValueType, value: unknown): ValueType {
  if (type.type === "list" && type.single && !Array.isArray(value)) return formOf(type.of, value);
  if (type.type !== "either") return type;
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return type.of.find((one) => (one.type === "object") === isObject) ?? type.of[0]!;
}
