// Types of exactly what tests and scripts use from the standard library while its names are bound to
// the npm repack, which ships JavaScript only. Bound to `jsr:@std/…`, this file is not needed.

declare module "@std/assert" {
  export function assert(value: unknown, message?: string): asserts value;
  export function assertEquals<T>(actual: T, expected: T, message?: string): void;
  export function assertNotEquals<T>(actual: T, expected: T, message?: string): void;
  export function assertMatch(actual: string, expected: RegExp, message?: string): void;
  export function assertStringIncludes(actual: string, expected: string, message?: string): void;
  export function assertThrows<E extends Error = Error>(
    fn: () => unknown,
    // deno-lint-ignore no-explicit-any
    errorClass?: new (...args: any[]) => E,
    includes?: string,
  ): E;
  export function assertRejects<E extends Error = Error>(
    fn: () => PromiseLike<unknown>,
    // deno-lint-ignore no-explicit-any
    errorClass?: new (...args: any[]) => E,
    includes?: string,
  ): Promise<E>;
}

declare module "@std/fs/walk" {
  export function walkSync(
    root: string,
    options?: {
      readonly includeDirs?: boolean;
      readonly exts?: readonly string[];
      readonly skip?: readonly RegExp[];
    },
  ): Iterable<{ readonly path: string; readonly isFile: boolean }>;
}
