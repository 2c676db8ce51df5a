/** What the editor of a configuration offers. */

import { assert, assertEquals } from "@std/assert";
import { keysAt, pathAt, type SchemaNode, valuesAt } from "../config/schema_words.ts";

const SCHEMA: SchemaNode = JSON.parse(
  Deno.readTextFileSync(new URL("../../built/schema.json.txt", import.meta.url)),
);

function lines(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

Deno.test("pathAt() finds the keys above a line, in maps and in lists", () => {
  const map = lines(`
processes:
  # api: not a key
  api:
    env:
      A: 1
    health_check:`);
  const paths = [
    [map, "      ", ["processes", "api", "health_check"]],
    [map, "    ", ["processes", "api"]],
    [map, "  ", ["processes"]],
    [map, "", []],
    [lines("processes:\n  - name: a\n    args:\n      - x"), "    ", ["processes", "*"]],
    [lines("processes:\n- name: a"), "  ", ["processes", "*"]],
    [lines("processes:\n- name: a"), "- ", ["processes", "*"]],
    [lines("a:\n  - b:\n      c: 1"), "      ", ["a", "*", "b"]],
    [lines("a:\n  - b: 1\n    c:"), "      - ", ["a", "*", "c", "*"]],
  ] as const;
  for (const [above, ahead, path] of paths) {
    assertEquals(pathAt(above, ahead), [...path], `${above.join("\n")}\n${ahead}|`);
  }
});

Deno.test("keysAt() and valuesAt() know the schema of configuration files", () => {
  const labels = (text: string, ahead: string) =>
    keysAt(SCHEMA, lines(text), ahead).map(({ label }) => label);
  assert(labels("", "").includes("processes"));
  for (const above of ["processes:\n  api:", "processes:\n  - name: api", "defaults:"]) {
    assert(labels(above, "    ").includes("restart_policy"), above);
  }
  assert(labels("profiles:\n  prod:\n    processes:\n      api:", "        ").includes("env"));
  assertEquals(labels("processes:\n  api:\n    health_check:", "      ").includes("url"), true);
  assertEquals(labels("nothing:\n  such:", "    "), []);
  const [entry] = keysAt(SCHEMA, lines("processes:\n  api:"), "    ")
    .filter(({ label }) => label === "entrypoint");
  assert(entry!.info.startsWith("Script or program"), entry!.info);
  const values = (key: string) =>
    valuesAt(SCHEMA, lines("processes:\n  api:"), "    ", key).map(({ label }) => label);
  assertEquals(values("restart_policy"), ["always", "on-failure", "never"]);
  assertEquals(values("tty"), ["true", "false"]);
  assertEquals(values("name"), []);
});
