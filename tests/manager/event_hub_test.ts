import { assertEquals } from "@std/assert";
import { EventHub } from "../../src/manager/event_hub.ts";
import type { ProcessChange } from "../../src/model/process_info.ts";

function change(name: string, at: number): ProcessChange {
  return {
    type: "running",
    at: new Date(at),
    id: "1",
    name,
    state: "running",
    pid: 1,
    restarts: 0,
    reason: "",
    exit: null,
  };
}

async function namesOf(stream: ReadableStream<ProcessChange>): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of stream) names.push(name);
  return names;
}

Deno.test("EventHub.stream() includes earlier events since a given time while a daemon starts", async () => {
  const hub = new EventHub();
  hub.publish(change("before", 1000));
  hub.publish(change("after", 1001));
  const [since, now] = [hub.stream(undefined, 1000), hub.stream()];
  hub.publish(change("then", 1002));
  hub.close();
  assertEquals(await namesOf(since), ["after", "then"]);
  assertEquals(await namesOf(now), ["then"]);
});

Deno.test("EventHub keeps at most a thousand events, and is idle after that", async () => {
  const hub = new EventHub();
  assertEquals(hub.idle, false);
  for (let at = 1; at <= 1001; at++) hub.publish(change("app", at));
  assertEquals(hub.idle, true);
  const stream = hub.stream(undefined, 0);
  hub.close();
  assertEquals(await namesOf(stream), []);
});
