/** `${VAR}`, `${VAR:-default}` and `$$` in texts of configuration files. */

const REFERENCE = /\$\$|\$\{([^}]*)\}/g;
const INSIDE = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([^]*))?$/;

/** Variables as they are looked up; `undefined` is not set. */
export type Lookup = (name: string) => string | undefined;

/**
 * The text with its variables filled in. A default stands for a variable that is not set or empty;
 * `$$` is a `$`. Throws an `Error` saying what is wrong, never a value.
 */
export function interpolate(text: string, lookup: Lookup): string {
  return text.replace(REFERENCE, (whole, inside: string | undefined) => {
    if (inside === undefined) return "$";
    const [, name, fallback] = INSIDE.exec(inside) ?? [];
    if (name === undefined) {
      throw new Error(`${whole} is no variable: expected \${NAME} or \${NAME:-default}`);
    }
    const value = lookup(name);
    if (fallback !== undefined) return value || fallback;
    if (value === undefined) {
      throw new Error(`the variable ${name} is not set: set it, or write \${${name}:-default}`);
    }
    return value;
  });
}
