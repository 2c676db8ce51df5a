/** How processes are addressed. */

import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { ProcsupError } from "../../src/model/errors.ts";
import {
  type Addressable,
  ambiguous,
  AmbiguousTargetError,
  resolveTarget,
} from "../../src/model/target.ts";
import { hintOf } from "../support/hint_of.ts";

function process(numericId: number, name: string, rest: Partial<Addressable> = {}): Addressable {
  return {
    id: `${numericId}0000000-0000-4000-8000-000000000000`,
    numericId,
    name,
    namespace: "default",
    tags: [],
    labels: {},
    ...rest,
  };
}

const API = process(1, "api", { id: "abc10000-0000-4000-8000-000000000001", tags: ["http"] });
const WEB_0 = process(2, "web:0", {
  id: "abc20000-0000-4000-8000-000000000002",
  namespace: "shop",
  tags: ["http", "front"],
  labels: { tier: "front", expr: "a=b", empty: "" },
});
const WEB_1 = process(3, "web:1", {
  id: "def30000-0000-4000-8000-000000000003",
  namespace: "shop",
  labels: { tier: "back" },
});
const ALL = [API, WEB_0, WEB_1];

function names(target: string, processes: readonly Addressable[] = ALL): string[] {
  return resolveTarget(target, processes).map((found) => found.name);
}

Deno.test("resolveTarget() accepts all, even without processes", () => {
  assertEquals(names("all"), ["api", "web:0", "web:1"]);
  assertEquals(names("all", []), []);
});

Deno.test("resolveTarget() finds a process by numeric id, UUID, name and unique prefix of its id", () => {
  assertEquals(names("2"), ["web:0"]);
  assertEquals(names(WEB_1.id), ["web:1"]);
  assertEquals(names("web:1"), ["web:1"]);
  assertEquals(names("def3"), ["web:1"]);
  assertEquals(names("abc20000"), ["web:0"]);
});

Deno.test("resolveTarget() does not accept a short id prefix by default, because it may be a deleted app's name", () => {
  assertThrows(() => resolveTarget("def", ALL), ProcsupError, "process not found");
  assertEquals(resolveTarget("d", ALL, 1).map(({ name }) => name), ["web:1"]);
});

Deno.test("resolveTarget() accepts supervisord's group:name and group:*", () => {
  assertEquals(names("web:*"), ["web:0", "web:1"]);
  assertEquals(names("shop:*"), ["web:0", "web:1"]);
  assertEquals(names("api:*"), ["api"]);
  assertEquals([names("shop:web"), names("shop:web:0")], [["web:0", "web:1"], ["web:0"]]);
  assertThrows(() => resolveTarget("shop:api", ALL), ProcsupError, "process not found");
  const shop = process(9, "shop", { namespace: "ns" });
  assertEquals(names("ns:shop", [...ALL, shop]), ["web:0", "web:1"]);
  assertThrows(() => resolveTarget("none:*", ALL), ProcsupError, "process not found");
});

Deno.test("resolveTarget() finds every instance by the base name", () => {
  assertEquals(names("web"), ["web:0", "web:1"]);
});

Deno.test("resolveTarget() prefers a name to the base name of other processes", () => {
  assertEquals(names("web", [...ALL, process(9, "web")]), ["web"]);
});

Deno.test("resolveTarget() prefers an exact match to a prefix", () => {
  assertEquals(names("abc1", [...ALL, process(9, "abc1")]), ["abc1"]);
  assertEquals(names("abc1", [...ALL, process(9, "abc1:0")]), ["abc1:0"]);
  const seven = process(7, "seven", { id: "f0000000-0000-4000-8000-000000000007" });
  const sevenish = process(8, "sevenish", { id: "70000000-0000-4000-8000-000000000008" });
  assertEquals(names("7", [sevenish, seven]), ["seven"]);
});

Deno.test("resolveTarget() lists the candidates when a prefix is ambiguous", () => {
  const error = assertThrows(() => resolveTarget("abc", ALL, 1), AmbiguousTargetError);
  assertEquals([error.code, error.matches], ["ambiguous_target", ["api", "web:0"]]);
  assertEquals(
    error.message,
    'Target "abc" is ambiguous: it matches api (abc10000), web:0 (abc20000)',
  );
});

Deno.test("resolveTarget() selects by namespace, tag and label", () => {
  assertEquals(names("ns:shop"), ["web:0", "web:1"]);
  assertEquals(names("tag:http"), ["api", "web:0"]);
  assertEquals(names("label:tier=front"), ["web:0"]);
  assertEquals(names("label:tier"), ["web:0", "web:1"]);
  assertEquals(names("label:expr=a=b"), ["web:0"]);
  assertEquals(names("label:empty="), ["web:0"]);
});

Deno.test("resolveTarget() rejects a label that no process has", () => {
  for (const target of ["label:tier=", "label:toString", "label:__proto__", "label:=", "label:"]) {
    assertThrows(() => resolveTarget(target, ALL), ProcsupError, "process not found");
  }
});

Deno.test("resolveTarget() reports that no such process exists, and suggests one", () => {
  for (const target of ["apu", "9", "ns:apu", "tag:", "fff", "ALL", "web:2", "*", "."]) {
    const error = assertThrows(() => resolveTarget(target, ALL), ProcsupError);
    assertEquals([error.code, error.message], ["process_not_found", "process not found"], target);
  }
  const near = assertThrows(() => resolveTarget("apu", ALL), ProcsupError);
  assertMatch(near.hint?.text ?? "", /did you mean "api"/);
  for (const far of ["xyzzy", "."]) {
    const error = assertThrows(
      () => resolveTarget(far, [...ALL, { ...API, name: "a" }]),
      ProcsupError,
    );
    assertMatch(hintOf(error) ?? "", /procsup list/);
  }
  for (const wrong of ["", "\ud800", 0, undefined]) {
    const error = assertThrows(() => resolveTarget(wrong as string, ALL), ProcsupError);
    assertEquals(error.code, "bad_request", String(wrong));
  }
});

Deno.test("ambiguous() names the matches when one process was meant", () => {
  const error = ambiguous("web", [WEB_0, WEB_1]);
  assertEquals([error.code, error.matches], ["ambiguous_target", ["web:0", "web:1"]]);
  assertMatch(error.message, /^Target "web" is ambiguous: .*web:0 \(abc20000\)/);
});

Deno.test("resolveTarget() explains how to write a namespace or tag when given its name or supervisord's form", () => {
  const all = [API, WEB_0];
  const hint = (target: string) =>
    assertThrows(() => resolveTarget(target, all), ProcsupError).hint?.text?.match(/mean "(.*)"\?$/)
      ?.[1];
  assertEquals(["shop", "shop:", "shop:none"].map(hint), Array(3).fill("ns:shop"));
  assertEquals([hint("front"), hint("front:web"), hint("ns:none")], [
    ...["tag:front", undefined, undefined],
  ]);
});
