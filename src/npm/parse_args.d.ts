// The package ships JavaScript only. What we use of it:

/** Flags by name, and the other words. */
export function parseArgs(args: string[], options: {
  boolean: string[];
  string: string[];
  collect: string[];
  alias: Record<string, readonly string[]>;
  stopEarly: boolean;
  unknown: (arg: string, key?: string) => unknown;
}): { _: (string | number)[]; [flag: string]: unknown };
