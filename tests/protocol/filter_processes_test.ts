import { assertEquals } from "@std/assert";
import { type Filterable, parseFilter } from "../../src/protocol/select_processes.ts";

const API: Filterable = {
  id: "1a2b3c4d",
  numeric_id: 7,
  name: "api:0",
  namespace: "shop",
  tags: ["http", "Edge"],
  config: { labels: { team: "core" } },
  state: "running",
  health: "healthy",
};

const CASES: readonly [string, boolean][] = [
  ["", true],
  ["all", true],
  ["ap", true],
  ["API", true],
  ["web", false],
  ["ns:shop", true],
  ["ns:sh", true],
  ["ns:other", false],
  ["tag:edge", true],
  ["tag:x", false],
  ["label:team=core", true],
  ["label:team=co", true],
  ["label:team", true],
  ["label:team=web", false],
  ["7", true],
  ["8", false],
  ["1a2b", true],
  ["running", true],
  ["stopped", false],
  ["ns:shop running", true],
  ["ns:shop stopped", false],
  ["-running", false],
  ["!running", false],
  ["!stopped -web", true],
  ["api !", true],
  ["1a2", false],
  ["ns:shop -tag:db", true],
];

Deno.test("parseFilter() knows the target prefixes, and parts of a name", () => {
  for (const [search, meant] of CASES) assertEquals(parseFilter(search)(API), meant, search);
});

Deno.test("parseFilter() knows unhealthy apps, which run all the same, and ports", () => {
  const sick: Filterable = { ...API, health: "unhealthy" };
  const ports = new Map([[API.id, [3000, 9090]]]);
  const cases: readonly [string, boolean, boolean][] = [
    ["unhealthy", false, true],
    ["state:unh", false, true],
    ["running", true, true],
    ["-unhealthy", true, false],
    [":3000", true, true],
    ["3000", true, true],
    ["port:90", true, true],
    [":300", false, false],
    ["port:8080", false, false],
  ];
  for (const [search, well, unwell] of cases) {
    const isMeant = parseFilter(search, ports);
    assertEquals([isMeant(API), isMeant(sick)], [well, unwell], search);
  }
});
