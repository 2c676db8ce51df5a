/** Tables without borders, that drop columns on a narrow terminal and never cut a value. */

import type { Output } from "./output.ts";
import { printData } from "./print_data.ts";
import { pad, textWidth } from "./text_width.ts";

/** One column of a table of `Row`s. */
export interface Column<Row> {
  readonly header: string;
  readonly align?: "left" | "right";
  /** The higher, the earlier it is dropped; 0 stays. */
  readonly priority: number;
  readonly value: (row: Row) => string;
  /** Colours the padded value. */
  readonly paint?: (text: string, row: Row) => string;
}

const GAP = "  ";

/** Prints a table, every column of it with `-o wide`. */
export function printTable<Row>(
  output: Output,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): void {
  const width = output.format === "wide" ? undefined : output.width;
  output.data(tableLines(columns, rows, width).join("\n"));
}

/** Prints a list: as data, as a table, or as the note that it is empty. */
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

/** The lines of a table, header first. Without `width` (a pipe) every column is there. */
export function tableLines<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width?: number,
): string[] {
  const sized = columns.map((column) => {
    const cells = rows.map(column.value);
    return { column, cells, width: Math.max(...[column.header, ...cells].map(textWidth)) };
  });
  const shown = width === undefined ? sized : fitting(sized, width);
  const line = (cell: (index: number) => string) =>
    shown.map((_, index) => cell(index)).join(GAP).trimEnd();
  const header = line((i) => pad(shown[i]!.column.header, shown[i]!.width, side(shown[i]!.column)));
  const body = rows.map((row, r) =>
    line((i) => {
      const { column, cells, width } = shown[i]!;
      // The last column is not padded: a colour around the spaces would keep them on the line.
      const last = i === shown.length - 1 && side(column) === "left";
      const text = last ? cells[r]! : pad(cells[r]!, width, side(column));
      return column.paint === undefined ? text : column.paint(text, row);
    })
  );
  return [header, ...body];
}

function side(column: { readonly align?: "left" | "right" }): "left" | "right" {
  return column.align ?? "left";
}

interface Sized {
  readonly column: { readonly priority: number };
  readonly width: number;
}

/** The columns that are left when the least important ones went until the rest fits. */
function fitting<T extends Sized>(sized: readonly T[], width: number): readonly T[] {
  let left = sized;
  const total = () => left.reduce((sum, one) => sum + one.width, GAP.length * (left.length - 1));
  while (total() > width) {
    const worst = Math.max(...left.map((one) => one.column.priority));
    if (worst === 0) break;
    left = left.filter((one) => one.column.priority !== worst);
  }
  return left;
}
