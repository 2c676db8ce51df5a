/** Where the rows of a long list are, and which of them are in view. Pure. */

/** The visible part of a scrolling element, in pixels. */
export interface View {
  readonly top: number;
  readonly height: number;
  readonly width: number;
}

/** Where the rows of a list are. */
export interface RowLayout {
  readonly count: number;
  /** Total height in pixels. */
  readonly height: number;
  /** The row at a position in pixels. */
  at(px: number): number;
  /** Position of a row in pixels. */
  top(index: number): number;
}

/** Rows of the same height. */
export function equalRows(count: number, px: number): RowLayout {
  return {
    count,
    height: count * px,
    at: (position) => Math.max(0, Math.min(count - 1, Math.floor(position / px))),
    top: (index) => index * px,
  };
}

const OVERSCAN = 10;

/** The first row to render, and the one after the last. */
export function rowsInView(
  rows: RowLayout,
  { top, height }: Pick<View, "top" | "height">,
): readonly [first: number, end: number] {
  return [
    Math.max(0, rows.at(top) - OVERSCAN),
    Math.min(rows.count, rows.at(top + height) + OVERSCAN),
  ];
}
