/** The table of processes without a browser: groups, totals, growth, and which rows are rendered. */

import { assertEquals } from "@std/assert";
import { equalRows, rowsInView } from "../controls/row_layout.ts";
import { grouped, growthOf, rowsOf, sorted } from "../process/table_layout.ts";
import { fakeProcess } from "../../../../../tests/cli/fake_daemon.ts";

const NONE = { ports: new Map(), errors: new Map() };

const LIST = [
  ["api", "shop", 30, 200],
  ["cart:0", "shop", 5, 100],
  ["cart:1", "shop", 5, 150],
  ["db", "data", 20, 900],
].map(([name, namespace, cpu_percent, memory_bytes], numeric_id) =>
  fakeProcess({ name, namespace, cpu_percent, memory_bytes, numeric_id, id: name } as never)
);

Deno.test("groups follow the figure that processes are sorted by, by their totals", () => {
  const rows = (by: string, order: Parameters<typeof grouped>[2]) =>
    rowsOf(grouped(sorted(LIST, order, NONE), by, order)).map((row) =>
      "group" in row ? `${row.group.title}(${row.group.members.length})` : row.process.name
    );
  assertEquals(rows("namespace", { sort: "memory", descending: true }), [
    ...["data(1)", "db", "shop(3)", "api", "cart:1", "cart:0"],
  ]);
  assertEquals(rows("namespace", { sort: "cpu", descending: true })[0], "shop(3)");
  assertEquals(rows("app", { sort: "name", descending: false }), [
    ...["api(1)", "api", "cart(2)", "cart:0", "cart:1", "db(1)", "db"],
  ]);
  assertEquals(rows("", { sort: "id", descending: false }), ["api", "cart:0", "cart:1", "db"]);
});

Deno.test("processes are sorted by figures that are asked for apart: ports and errors", () => {
  const figures = {
    ports: new Map([["db", [5432]], ["api", [80, 443]]]),
    errors: new Map([["cart:1", { error: 7 }]]),
  };
  const names = (sort: "ports" | "errors", descending: boolean) =>
    sorted(LIST, { sort, descending }, figures).map(({ name }) => name);
  assertEquals(names("ports", false).slice(0, 2), ["api", "db"]);
  assertEquals(names("errors", true)[0], "cart:1");
});

Deno.test("growthOf() is the slope in an hour, and unknown before ten minutes", () => {
  const samples = (minutes: number) =>
    Array.from({ length: minutes }, (_, minute) => ({ at: minute * 60_000, memory: minute * 2 }));
  assertEquals(growthOf(samples(31)), 120);
  assertEquals(growthOf(samples(9)), undefined);
  assertEquals(growthOf([]), undefined);
  assertEquals(growthOf(samples(31).map(({ at }) => ({ at }))), undefined);
});

Deno.test("rowsInView() renders what is in view and some around it", () => {
  const rows = equalRows(500, 26);
  assertEquals(rowsInView(rows, { top: 0, height: 520 }), [0, 30]);
  assertEquals(rowsInView(rows, { top: 2600, height: 520 }), [90, 130]);
  assertEquals(rowsInView(rows, { top: 12_480, height: 520 }), [470, 500]);
  assertEquals(rowsInView(equalRows(0, 26), { top: 0, height: 520 }), [0, 0]);
  assertEquals([rows.height, rows.top(10), rows.at(265)], [13_000, 260, 10]);
});
