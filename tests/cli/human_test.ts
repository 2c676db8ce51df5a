import { assertEquals } from "@std/assert";
import { humanBytes, humanDuration } from "../../src/cli/human.ts";
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

Deno.test("humanBytes() shows at most three digits", () => {
  const cases: readonly (readonly [number, string])[] = [
    [0, "0 B"],
    [999, "999 B"],
    [1000, "1.0 kB"],
    [9_949, "9.9 kB"],
    [9_960, "10 kB"],
    [48_000_000, "48 MB"],
    [999_600_000, "1.0 GB"],
  ];
  for (const [bytes, text] of cases) assertEquals(humanBytes(bytes), text);
});

Deno.test("yaml() writes blocks and quotes what would mean something else", () => {
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
