// The package ships JavaScript only. What we use of it:

/** The last part of a path, less `suffix`. */
export function basename(path: string, suffix?: string): string;
/** The folder that holds a path: `/` for one in the root, `.` for a bare name. */
export function dirname(path: string): string;
/** The extension with its dot, `""` without one. */
export function extname(path: string): string;
/** The path of a `file:` URL. */
export function fromFileUrl(url: URL | string): string;
/** Whether a path starts at the root. */
export function isAbsolute(path: string): boolean;
/** The parts as one path, without `.`, `..` and double slashes. */
export function join(...parts: string[]): string;
/** The way from one absolute path to another. */
export function relative(from: string, to: string): string;
/**
 * The absolute path that `parts`, seen from `folder`, lead to. One of them must be absolute: without
 * one the package asks node:process for the working directory, which takes 14 ms to load.
 */
export function resolve(folder: string, ...parts: string[]): string;
/** The `file:` URL of an absolute path. */
export function toFileUrl(path: string): URL;
