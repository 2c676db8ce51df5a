/** The flags of one command line, read by type. */

/** What a flag can hold once it is read. */
export type FlagValue = boolean | string | number | readonly string[];

/** The flags that were given. Asking for one that the command does not have is a mistake of ours. */
export class Flags {
  readonly #values: ReadonlyMap<string, FlagValue>;

  constructor(values: ReadonlyMap<string, FlagValue>) {
    this.#values = values;
  }

  /** Whether a flag without a value was given. */
  on(name: string): boolean {
    return this.#values.get(name) === true;
  }

  /** The value of a flag, undefined when it was not given. */
  text(name: string): string | undefined {
    return this.#values.get(name) as string | undefined;
  }

  /** The value of a flag that counts something. */
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
