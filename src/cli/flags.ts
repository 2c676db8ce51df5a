/** The flags of one command line, read by type. */

/** The value of a parsed flag. */
export type FlagValue = boolean | string | number | readonly string[];

/** The given flags. Reading a flag that the command does not have is a bug. */
export class Flags {
  readonly #values: ReadonlyMap<string, FlagValue>;

  constructor(values: ReadonlyMap<string, FlagValue>) {
    this.#values = values;
  }

  /** True if a flag without a value was given. */
  on(name: string): boolean {
    return this.#values.get(name) === true;
  }

  /** The value of a flag; undefined if it was not given. */
  text(name: string): string | undefined {
    return this.#values.get(name) as string | undefined;
  }

  /** The value of a numeric flag. */
  int(name: string): number | undefined {
    return this.#values.get(name) as number | undefined;
  }

  /** Every value of a flag that may be repeated. */
  list(name: string): readonly string[] {
    return (this.#values.get(name) ?? []) as readonly string[];
  }

  /** Names of the flags that were given. */
  names(): string[] {
    return [...this.#values.keys()];
  }
}
