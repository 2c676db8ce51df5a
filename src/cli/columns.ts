/** Tables without borders. A narrow terminal gets fewer columns; values are never cut. */

import { type Output, printData } from "./output.ts";
import { pad, textWidth } from "./terminal_text.ts";

/** One column of a table of `Row`s. */
export interface Column<Row> {
  readonly header: string;
  readonly align?: "left" | "right";
  /** Columns with higher numbers are dropped first; 0 is never dropped. */
  readonly priority: number;
  readonly value: (row: Row) => string;
  /** Whether the column has a value for any of the rows; default: true. */
  readonly isShown?: (rows: readonly Row[]) => boolean;
  /** Colours the padded value. */
  readonly paint?: (text: string, row: Row) => string;
}

/** A column of figures. */
export function right<Row>(
  header: string,
  priority: number,
  value: (row: Row) => string,
): Column<Row> {
  return { header, align: "right", priority, value };
}

/** Space between two columns. */
export const GAP = "  ";

/** Prints a table; with `-o wide`, all of its columns. */
export function printTable<Row>(
  output: Output,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): void {
  const width = output.format === "wide" ? undefined : output.width;
  output.data(tableLines(columns, rows, width).join("\n"));
}

/** Prints a list as data or as a table, or a note if it is empty. */
export async function printList<Row extends { readonly name: string }>(
  output: Output,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  none: string,
): Promise<void> {
  if (await printData(output, rows, [...new Set(rows.map(({ name }) => name))])) return;
  if (rows.length === 0) output.note(none);
  else printTable(output, columns, rows);
}

/** The lines of a table, header first. Without `width` (a pipe), all columns are included. */
export function tableLines<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width?: number,
): string[] {
  const sized = columns.filter(({ isShown }) => isShown?.(rows) ?? true).map(
    ({ align = "left", ...column }) => {
      const cells = rows.map(column.value);
      return {
        ...column,
        align,
        cells,
        width: Math.max(...[column.header, ...cells].map(textWidth)),
      };
    },
  );
  const shown = width === undefined ? sized : fitting(sized, width);
  const joined = (cells: readonly string[]) => cells.join(GAP).trimEnd();
  const header = joined(shown.map(({ header, width, align }) => pad(header, width, align)));
  const body = rows.map((row, r) =>
    joined(shown.map(({ cells, width, align, paint }, i) => {
      // The last column is not padded: colour codes would keep its spaces from being trimmed.
      const isLast = i === shown.length - 1 && align === "left";
      const text = isLast ? cells[r]! : pad(cells[r]!, width, align);
      return paint === undefined ? text : paint(text, row);
    }))
  );
  return [header, ...body];
}

interface Sized {
  readonly priority: number;
  readonly width: number;
}

/** Total width of the columns with the gaps between them. */
export function widthOf(columns: readonly Sized[]): number {
  return columns.reduce((sum, { width }) => sum + width + GAP.length, -GAP.length);
}

/** Drops the least important columns until the rest fits. */
export function fitting<T extends Sized>(columns: readonly T[], room: number): readonly T[] {
  let left = columns;
  while (widthOf(left) > room) {
    const worst = Math.max(...left.map(({ priority }) => priority));
    if (worst === 0) break;
    left = left.filter(({ priority }) => priority !== worst);
  }
  return left;
}
