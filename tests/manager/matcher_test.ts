/** Which events match a target while processes are added, removed and changed. */

import { assertEquals, assertThrows } from "@std/assert";
import { change, scale } from "../../src/manager/app_requests.ts";
import type { Registry } from "../../src/manager/registry.ts";
import { ProcsupError } from "../../src/model/errors.ts";
import { FakeRegistry } from "./fake_registry.ts";

/** Collects the names in all later events that match each target. */
function matched(fake: FakeRegistry, targets: readonly string[]): Map<string, string[]> {
  const names = new Map(targets.map((target) => [target, [] as string[]]));
  for (const [target, seen] of names) {
    const matches = fake.registry.directory.matcher(target);
    fake.hub.listen((change) => matches(change) && seen.push(`${change.type} ${change.name}`));
  }
  return names;
}

async function remove(registry: Registry, name: string): Promise<void> {
  await registry.retire(registry.directory.resolve(name)[0]!, {});
}

Deno.test("matcher() follows ids through renames, and applies selectors to later processes", async () => {
  await using fake = new FakeRegistry();
  fake.add("api", { tags: ["t1"], namespace: "nn", labels: { tier: "web" } });
  fake.add("db", { tags: ["t2"] });
  const { id, numericId } = fake.registry.directory.resolve("api")[0]!.identity;
  const single = [id, id.slice(0, 8), String(numericId)];
  const several = ["tag:t1", "ns:nn", "label:tier=web", "api", "api:*", "all"];
  const seen = matched(fake, [...single, ...several]);

  await scale(fake.registry, "api", 2);
  fake.registry.note(fake.registry.directory.resolve("api:0")[0]!, "renamed");
  await remove(fake.registry, "api:1");
  await remove(fake.registry, "db");
  const of = (target: string) =>
    seen.get(target)!.filter((text) => /added|note|deleted/.test(text));
  for (const target of single) assertEquals(of(target), ["note api:0"], target);
  const instances = ["added api:1", "note api:0", "deleted api:1"];
  for (const target of several.slice(0, -1)) assertEquals(of(target), instances, target);
  assertEquals(of("all"), [...instances, "deleted db"]);
});

Deno.test("matcher() tests a process by its configuration at the time of the event", async () => {
  await using fake = new FakeRegistry();
  fake.add("api", { tags: ["t1"] });
  fake.add("db", { tags: ["t1"] });
  const [api] = fake.registry.directory.resolve("api");
  const seen = matched(fake, ["tag:t1"]).get("tag:t1")!;
  await change(fake.registry.directory.appOf(api!), { config: { ...api!.config, tags: [] } });
  fake.registry.note(api!, "without the tag");
  await remove(fake.registry, "api");
  await remove(fake.registry, "db");
  // When its release was published, the run still had the tag.
  assertEquals(seen, ["released api", "deleted db"]);
});

Deno.test("matcher() of an id matches no earlier process of that name, even by the journal's short ids", async () => {
  await using fake = new FakeRegistry();
  fake.add("api", {});
  const before = fake.registry.directory.resolve("api")[0]!.id;
  await remove(fake.registry, "api");
  fake.add("api", { tags: ["t1"] });
  const now = fake.registry.directory.resolve("api")[0]!.id;
  for (const target of [now, "tag:t1"]) {
    const matches = fake.registry.directory.matcher(target);
    const ofId = (id: string) => matches({ id: id.slice(0, 8), name: "api" });
    assertEquals([ofId(before), ofId(now)], [false, true], target);
  }
  const byName = fake.registry.directory.matcher("api");
  assertEquals(byName({ id: before, name: "api" }), true);
  assertThrows(() => fake.registry.directory.matcher(before), ProcsupError, "process not found");
});
