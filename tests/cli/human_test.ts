import { assertEquals } from "@std/assert";
import { humanBytes, parseSize } from "../../src/model/size.ts";
import { humanDuration } from "../../src/cli/human.ts";
import { yaml } from "../../src/model/yaml.ts";

Deno.test("humanDuration() shows the two largest units", () => {
  const cases: readonly (readonly [number, string])[] = [
    [0, "0s"],
    [999, "0s"],
    [59_000, "59s"],
    [60_000, "1m"],
    [192_000, "3m12s"],
    [7_980_000, "2h13m"],
    [86_400_000 * 5 + 3_600_000 * 4, "5d4h"],
    [86_400_000 + 60_000, "1d"],
  ];
  for (const [ms, text] of cases) assertEquals(humanDuration(ms), text);
});

Deno.test("humanBytes() shows at most three digits, in the units of a configuration", () => {
  const cases: readonly (readonly [number, string])[] = [
    [0, "0 B"],
    [999, "999 B"],
    [1000, "1.0 KB"],
    [10_150, "9.9 KB"],
    [10_200, "10 KB"],
    [parseSize("48MB"), "48 MB"],
    [parseSize("999.6MB"), "1.0 GB"],
  ];
  for (const [bytes, text] of cases) assertEquals(humanBytes(bytes), text);
});

Deno.test("yaml() writes blocks and quotes ambiguous values", () => {
  const value = {
    name: "api",
    text: "no",
    number: "12",
    path: "/a b",
    list: [1, { a: true, b: [] }],
    empty: {},
    nothing: null,
    "odd key": "x: y\n",
  };
  assertEquals(yaml(value).split("\n"), [
    "name: api",
    'text: "no"',
    'number: "12"',
    'path: "/a b"',
    "list:",
    "  - 1",
    "  - a: true",
    "    b: []",
    "empty: {}",
    "nothing: null",
    '"odd key": "x: y\\n"',
  ]);
});
