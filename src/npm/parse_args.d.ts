// The package ships JavaScript only. What we use of it:

/** Flags by name, and the other words. */
export function parseArgs(args: string[], options: {
  boolean: string[];
  string: string[];
  collect: string[];
  stopEarly: boolean;
}): { _: (string | number)[]; [flag: string]: unknown };
