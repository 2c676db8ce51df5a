/** Past events. */

import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { TestDaemon } from "../support/procsup.ts";
import { readUntil, waitFor } from "../support/wait_for.ts";

const daemon = TestDaemon.ofFile();

Deno.test("events --since includes events before a kill of the daemon and of deleted apps", async () => {
  await daemon.startScript("once", "exit 3", { restart_policy: "never" });
  await daemon.startScript("late", "while [ ! -e go ]; do sleep 0.1; done; exit 4", {
    ...{ restart_policy: "never", cwd: daemon.home },
  });
  await waitFor(async () => (await daemon.status("once")).state === "crashed");
  await daemon.cli("delete", "once");
  await daemon.kill();
  Deno.writeTextFileSync(`${daemon.home}/go`, "");
  await daemon.run();
  await waitFor(async () => (await daemon.status("late")).state === "crashed");

  const seen = async (...words: string[]) => {
    const { stdout } = await daemon.cli("events", ...words, "-o", "jsonl");
    return stdout.trim().split("\n").map((line) => JSON.parse(line));
  };
  const of = async (...words: string[]) =>
    (await seen(...words)).map(({ name, type, exit }) => [name, type, exit?.code].join(" ").trim());
  assertEquals((await of("once", "--since", "today")).filter((text) => !/running/.test(text)), [
    ...[
      "once added",
      "once asked",
      "once crashed 3",
      "once asked 3",
      "once stopped 3",
      "once deleted 3",
    ],
  ]);
  assertEquals((await of("late", "--since", "1h", "--until", "now")).at(-1), "late crashed 4");
  assertEquals(await of("--type", "crashed"), ["once crashed 3", "late crashed 4"]);
  const unknown = await daemon.cli("events", "--type", "crash");
  assertEquals(unknown.code, 2);
  assertStringIncludes(unknown.stderr, "crashed");
  const none = await daemon.cli("events", "--until", "2020-01-01");
  assertEquals([none.code, none.stdout], [0, ""]);
  const wrong = await daemon.cli("events", "--since", "soon");
  assertEquals(wrong.code, 2);
  assertStringIncludes(wrong.stderr, "yesterday");
});

Deno.test("a stream of events refuses a parameter that it would ignore", async () => {
  const stream = (query: string) => daemon.client.stream(`/events?${query}`);
  await assertRejects(() => stream("since=soon"), Error, 'Invalid "since" "soon"');
  await assertRejects(() => stream("targt=api"), Error, 'Unknown field "targt"');
});

Deno.test("events of an app continue after a scale renames its instance, and keep earlier ones", async () => {
  await daemon.startScript("api", "exec sleep 1000");
  const leave = new AbortController();
  const stream = await daemon.client.stream("/events?target=api", leave.signal);
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  await daemon.client.call("scale", { target: "api", instances: 2 });
  await readUntil(reader, '"name":"api:1"');
  leave.abort();
  const { stdout } = await daemon.cli("events", "api", "--since", "1h", "-o", "jsonl");
  const names = stdout.trim().split("\n").map((line) => JSON.parse(line).name);
  assertEquals([...new Set(names)].toSorted(), ["api", "api:1"]);
});

Deno.test("events by id or tag survive a scale and include new processes, but no deleted one", async () => {
  const tagged = { tags: ["t1"] };
  await daemon.startScript("api", "exec sleep 1000", tagged);
  await daemon.client.call("delete", "api");
  await daemon.startScript("api", "exec sleep 1000", tagged);
  const { id } = await daemon.status("api");
  const leave = new AbortController();
  const open = async (target: string) => {
    const stream = await daemon.client.stream(`/events?target=${target}`, leave.signal);
    return stream.pipeThrough(new TextDecoderStream()).getReader();
  };
  const [byId, byTag] = [await open(id), await open("tag:t1")];
  await daemon.client.call("scale", { target: "api", instances: 2 });
  await daemon.client.call("stop", "api:0");
  await daemon.startScript("other", "exec sleep 1000", tagged);
  await readUntil(byId, '"name":"api:0"');
  await readUntil(byTag, '"name":"other"');
  leave.abort();
  const { stdout } = await daemon.cli("events", id, "--since", "1h", "-o", "jsonl");
  const events = stdout.trim().split("\n").map((line) => JSON.parse(line));
  assertEquals([...new Set(events.map((event) => event.id))], [id]);
  assertEquals([events[0].type, events.at(-1).name], ["added", "api:0"]);
});
