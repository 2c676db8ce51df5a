/** Flags: how a command declares them, and those of one command line, read by type. */

export interface Flag {
  /** Long name, without the dashes. */
  readonly name: string;
  /** One letter. */
  readonly short?: string;
  /** Other long names. */
  readonly aliases?: readonly string[];
  /** `list` may be given several times. */
  readonly type: "bool" | "text" | "int" | "list";
  /** Placeholder of the value in the help. */
  readonly value?: string;
  /** The allowed values. */
  readonly choices?: readonly string[];
  readonly help: string;
}

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
