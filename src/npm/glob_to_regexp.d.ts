// The package ships JavaScript only. What we use of it:

/** A glob as a regular expression that holds for whole paths. */
export function globToRegExp(
  glob: string,
  options?: { extended?: boolean; globstar?: boolean; caseInsensitive?: boolean },
): RegExp;
