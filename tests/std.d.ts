// Types of exactly what is used from the standard library while its names are bound to the npm
// repack, which ships JavaScript only. Bound to `jsr:@std/…`, this file is not needed.

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

declare module "@std/cli/parse-args" {
  export function parseArgs(args: string[], options: {
    boolean?: string[];
    string?: string[];
    collect?: string[];
    stopEarly?: boolean;
    // deno-lint-ignore no-explicit-any
  }): { _: (string | number)[]; [flag: string]: any };
}

declare module "@std/http/etag" {
  export function eTag(text: string, options?: { weak: boolean }): Promise<string>;
  export function ifNoneMatch(value: string | null, tag: string): boolean;
}

declare module "@std/http/negotiation" {
  export function accepts(
    request: Pick<Request, "headers">,
    ...types: string[]
  ): string | undefined;
  export function acceptsEncodings(
    request: Pick<Request, "headers">,
    ...encodings: string[]
  ): string | undefined;
}

declare module "@std/http/status" {
  export const STATUS_TEXT: Readonly<Record<number, string>>;
}

declare module "@std/path" {
  export function basename(path: string, suffix?: string): string;
  export function dirname(path: string): string;
  export function extname(path: string): string;
  export function fromFileUrl(url: URL | string): string;
  export function isAbsolute(path: string): boolean;
  export function join(...parts: string[]): string;
  export function relative(from: string, to: string): string;
  /** With one absolute part at least: without, the package loads `node:process`, 14 ms. */
  export function resolve(folder: string, ...parts: string[]): string;
  export function toFileUrl(path: string): URL;
}
