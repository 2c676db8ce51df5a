/** How parts of the screen stand out. Without colours only the cursor does, by its own attribute. */

/** Gives a text a look, and takes it back behind it. */
export interface Style {
  readonly color: boolean;
  /** The row under the cursor; colours within would break it. */
  cursor(text: string): string;
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
  /** A match of a search. */
  match(text: string): string;
}

/** The looks, with colours or without. */
export function styleOf(color: boolean): Style {
  const sgr = (code: number) => (text: string) =>
    color && text !== "" ? `\x1b[${code}m${text}\x1b[0m` : text;
  const reverse = (text: string) => `\x1b[7m${text}\x1b[0m`;
  return {
    color,
    cursor: reverse,
    match: reverse,
    bold: sgr(1),
    dim: sgr(2),
    good: sgr(32),
    bad: sgr(31),
  };
}
