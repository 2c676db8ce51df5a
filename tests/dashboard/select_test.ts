import { assertEquals } from "@std/assert";
import {
  isMeant,
  runningDependents,
  type Selectable,
} from "../../src/web/dashboard/app/process/select.ts";
import type { ProcessJson } from "../../src/protocol/wire.ts";

const API: Selectable = {
  id: "1a2b3c4d",
  numeric_id: 7,
  name: "api:0",
  namespace: "shop",
  tags: ["http", "Edge"],
  config: { labels: { team: "core" } },
  state: "running",
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
  ["ns:shop -tag:db", true],
];

Deno.test("isMeant() knows the target words of the command line", () => {
  for (const [search, meant] of CASES) assertEquals(isMeant(search, API), meant, search);
});

Deno.test("runningDependents() names the running apps that depend on some, once", () => {
  const one = (name: string, state: string, depends_on: unknown) =>
    ({ name, state, config: { depends_on } }) as unknown as ProcessJson;
  const list = [
    one("db", "running", undefined),
    one("api:0", "running", { db: "healthy" }),
    one("api:1", "running", { db: "healthy" }),
    one("job", "stopped", ["db"]),
    one("mail", "running", ["db", "api"]),
  ];
  assertEquals(runningDependents(["db"], list), ["api", "mail"]);
  assertEquals(runningDependents(["api:0"], list), ["mail"]);
  assertEquals(runningDependents(["db", "api", "mail"], list), []);
});
