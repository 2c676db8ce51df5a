// The package ships JavaScript only. What we use of it:

/** The one of `types` that the `Accept` header prefers; undefined if it accepts none. */
export function accepts(request: Pick<Request, "headers">, ...types: string[]): string | undefined;
/** Like `accepts()`, for `Accept-Encoding`; without that header the first one. */
export function acceptsEncodings(
  request: Pick<Request, "headers">,
  ...encodings: string[]
): string | undefined;
/** The entity tag of a text, in quotes. A weak tag is the same for every encoding. */
export function eTag(text: string, options?: { weak: boolean }): Promise<string>;
/** False if an `If-None-Match` header names the tag, or any by `*`. */
export function ifNoneMatch(value: string | null, tag: string): boolean;
/** Status codes → reason phrases. */
export const STATUS_TEXT: Readonly<Record<number, string>>;
