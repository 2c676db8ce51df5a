import { assertEquals } from "@std/assert";
import { type Column, tableLines } from "../../src/cli/columns.ts";
import { textWidth } from "../../src/cli/terminal_text.ts";

interface Row {
  readonly name: string;
  readonly size: number;
  readonly note: string;
}

const COLUMNS: readonly Column<Row>[] = [
  { header: "NAME", priority: 0, value: (row) => row.name },
  { header: "SIZE", align: "right", priority: 1, value: (row) => String(row.size) },
  { header: "NOTE", priority: 2, value: (row) => row.note },
];

const ROWS: readonly Row[] = [
  { name: "api", size: 5, note: "" },
  { name: "worker", size: 12345, note: "a long note" },
];

Deno.test("tableLines() aligns columns, two spaces apart, without trailing spaces", () => {
  assertEquals(tableLines(COLUMNS, ROWS), [
    "NAME     SIZE  NOTE",
    "api         5",
    "worker  12345  a long note",
  ]);
});

Deno.test("tableLines() drops the least important columns when the terminal is narrow", () => {
  assertEquals(tableLines(COLUMNS, ROWS, 26)[2], "worker  12345  a long note");
  assertEquals(tableLines(COLUMNS, ROWS, 25)[2], "worker  12345");
  assertEquals(tableLines(COLUMNS, ROWS, 12), ["NAME", "api", "worker"]);
});

Deno.test("tableLines() never cuts required columns", () => {
  assertEquals(tableLines(COLUMNS, ROWS, 1), ["NAME", "api", "worker"]);
});

Deno.test("tableLines() aligns by the width on the screen", () => {
  const rows = [{ name: "日本", size: 1, note: "" }, {
    name: "\x1b[31mred\x1b[0m",
    size: 2,
    note: "",
  }];
  const widths = tableLines(COLUMNS, rows).slice(1).map(textWidth);
  assertEquals(widths[0], widths[1]);
});

Deno.test("tableLines() colors a padded cell without moving the next", () => {
  const painted = COLUMNS.map((column) => ({
    ...column,
    paint: (text: string) => `\x1b[1m${text}\x1b[0m`,
  }));
  // deno-lint-ignore no-control-regex
  const bare = tableLines(painted, ROWS).map((line) => line.replace(/\x1b\[\d*m/g, "").trimEnd());
  assertEquals(bare, tableLines(COLUMNS, ROWS));
});
