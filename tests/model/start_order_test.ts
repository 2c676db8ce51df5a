/** The start order of processes. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { parseConfig } from "../../src/model/config_schema.ts";
import { ProcsupError } from "../../src/model/errors.ts";
import { type Ordered, refuseNeverMet, startWaves } from "../../src/model/start_order.ts";

function node(name: string, dependsOn: readonly string[] = [], priority = 0): Ordered {
  return { name, dependsOn, priority };
}

function waves(...nodes: Ordered[]): string[][] {
  return startWaves(nodes, (node) => node).map((wave) => wave.map(({ name }) => name));
}

Deno.test("startWaves() puts independent processes into one wave, in the given order", () => {
  assertEquals(waves(node("b"), node("a"), node("c")), [["b", "a", "c"]]);
  assertEquals(waves(), []);
});

Deno.test("startWaves() puts a process after all its dependencies", () => {
  const diamond = [
    node("web", ["api", "cdn"]),
    node("api", ["db"]),
    node("cdn", ["db"]),
    node("db"),
  ];
  assertEquals(waves(...diamond), [["db"], ["api", "cdn"], ["web"]]);
});

Deno.test("startWaves() starts lower priorities first, and dependencies before that", () => {
  assertEquals(waves(node("late", [], 5), node("early", [], -5), node("mid")), [
    ["early"],
    ["mid"],
    ["late"],
  ]);
  assertEquals(waves(node("app", ["db"], -10), node("db", [], 10)), [["db"], ["app"]]);
});

Deno.test("startWaves() waits for every instance of a dependency", () => {
  const instances = [node("db", [], 1), node("db", [], 2), node("api", ["db"])];
  assertEquals(waves(...instances), [["db"], ["db"], ["api"]]);
});

Deno.test("startWaves() treats a dependency outside the list as ready", () => {
  assertEquals(waves(node("api", ["elsewhere"])), [["api"]]);
});

Deno.test("startWaves() rejects a cycle and names it", () => {
  const cycle = [node("x"), node("a", ["b"]), node("b", ["c", "x"]), node("c", ["a"])];
  const error = assertThrows(() => waves(...cycle), ProcsupError);
  assertEquals(error.message, "Dependencies form a cycle: a → b → c → a");
  assertEquals(error.code, "invalid_config");
  assertThrows(() => waves(node("me", ["me"])), ProcsupError, "me → me");
});

Deno.test("startWaves() leaves processes that only lead to a cycle out of its message", () => {
  const lead = [node("z", ["a"]), node("a", ["b"]), node("b", ["a"])];
  assertThrows(() => waves(...lead), ProcsupError, "cycle: a → b → a");
});

Deno.test("startWaves() names a cycle that does not go through the first dependency", () => {
  const nodes = [
    node("a", ["ok", "b"]),
    node("ok", ["base"], 9),
    node("base", [], 9),
    node("b", ["a"]),
  ];
  assertThrows(() => waves(...nodes), ProcsupError, "cycle: a → b → a");
});

Deno.test("startWaves() orders a chain of 1,000 quickly", () => {
  const chain = Array.from({ length: 1000 }, (_, i) => node(`p${i}`, i === 0 ? [] : [`p${i - 1}`]));
  const ordered = waves(...chain.toReversed());
  assertEquals([ordered.length, ordered[0], ordered[999]], [1000, ["p0"], ["p999"]]);
});

Deno.test("startWaves() places each process once, after its dependencies, or names a real cycle", () => {
  const graphs = fc.integer({ min: 1, max: 12 }).chain((count) =>
    fc.array(
      fc.record({
        dependsOn: fc.uniqueArray(fc.nat(count), { maxLength: 3 }),
        priority: fc.integer({ min: -1, max: 1 }),
      }),
      { minLength: count, maxLength: count },
    )
  );
  fc.assert(fc.property(graphs, (graph) => {
    const nodes = graph.map(({ dependsOn, priority }, i) =>
      node(`p${i}`, dependsOn.map((j) => `p${j}`), priority)
    );
    let ordered: string[][];
    try {
      ordered = waves(...nodes);
    } catch (error) {
      const cycle = (error as Error).message.split(": ")[1]!.split(" → ");
      assertEquals(cycle[0], cycle.at(-1));
      for (const [i, name] of cycle.slice(0, -1).entries()) {
        assert(nodes.find((node) => node.name === name)!.dependsOn.includes(cycle[i + 1]!));
      }
      return;
    }
    assertEquals(ordered.flat().toSorted(), nodes.map(({ name }) => name).toSorted());
    const wave = new Map(ordered.flatMap((names, i) => names.map((name) => [name, i] as const)));
    for (const { name, dependsOn } of nodes) {
      for (const dependency of dependsOn) {
        if (wave.has(dependency)) assert(wave.get(dependency)! < wave.get(name)!);
      }
    }
  }));
});

Deno.test("refuseNeverMet() refuses conditions that a dependency can never meet", () => {
  const b = (more: Record<string, unknown> = {}) =>
    parseConfig({ name: "b", entrypoint: "/bin/sleep", cwd: "/", ...more });
  const a = (condition: string) =>
    parseConfig({ name: "a", entrypoint: "/bin/sleep", cwd: "/", depends_on: { b: condition } });
  const health_check = { type: "command", command: "true" };
  const never = (...configs: ReturnType<typeof a>[]) =>
    assertThrows(() => refuseNeverMet(configs), ProcsupError).message;
  assertEquals(
    never(a("healthy"), b()),
    'Invalid "depends_on" of "a": "b" has no health_check, so it is never healthy',
  );
  assertEquals(
    never(a("completed_ok"), b({ restart_policy: "always" })),
    'Invalid "depends_on" of "a": "b" has restart_policy always, so it is never completed_ok',
  );
  refuseNeverMet([a("healthy"), b({ health_check })]);
  refuseNeverMet([a("completed"), b(), a("healthy")], "c");
});
