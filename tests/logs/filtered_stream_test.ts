/** The library's stream of matching lines. */

import { assertEquals } from "@std/assert";
import { filteredBytes } from "../../src/manager/log_sources.ts";
import { ifPossible } from "../../src/model/errors.ts";
import { parseLogFilter } from "../../src/logs/read/log_filter.ts";
import { waitFor } from "../support/wait_for.ts";
import { LogScene, numbers } from "./rotation_scene.ts";

type Options = Omit<Parameters<typeof filteredBytes>[1], "filter">;

/** The even numbers of a log. */
function filteredStream(log: string, { gone, ...options }: Options & { gone?: AbortSignal } = {}) {
  const logs = { stdout: log, stderr: `${log}.err` };
  const process = { name: "app", logs, gone: gone ?? new AbortController().signal };
  return filteredBytes(process, { ...options, filter: EVEN });
}

const EVEN = parseLogFilter({ grep: "[02468]$" }, Date.now())!;

Deno.test("filteredBytes() returns the matching lines, or the last of them", async () => {
  await using scene = new LogScene();
  await scene.append(numbers(9));
  const text = (tail?: number) =>
    new Response(filteredStream(scene.log, tail ? { tail } : {})).text();
  assertEquals(await text(), "2\n4\n6\n8\n");
  assertEquals(await text(2), "6\n8\n");
});

Deno.test("filteredBytes() follows, and joins a line that arrived in two parts", async () => {
  await using scene = new LogScene();
  await scene.append("1\n2\n3");
  const abort = new AbortController();
  const { signal } = abort;
  const reader = filteredStream(scene.log, { follow: true, signal }).getReader();
  const next = async () => new TextDecoder().decode((await reader.read()).value);
  assertEquals(await next(), "2\n");
  await scene.append("8\n10\n");
  assertEquals(await next(), "38\n10\n");
  const pending = reader.read();
  abort.abort();
  assertEquals((await pending).done, true);
});

Deno.test("filteredBytes() includes the last lines, written just before the end was reported", async () => {
  await using scene = new LogScene();
  await scene.append("1\n2\n");
  const gone = new AbortController();
  const options = { follow: true, gone: gone.signal };
  const reader = filteredStream(scene.log, options).getReader();
  const texts = [(await reader.read()).value];
  await scene.append("3\n4\n56");
  gone.abort();
  for (let { value } = await reader.read(); value; { value } = await reader.read()) {
    texts.push(value);
  }
  assertEquals(texts.map((text) => new TextDecoder().decode(text)), ["2\n", "4\n", "56\n"]);
});

Deno.test("filteredBytes() closes its file when it is aborted between two reads", async () => {
  await using scene = new LogScene();
  await scene.append("1\n2\n");
  const abort = new AbortController();
  const { signal } = abort;
  const reader = filteredStream(scene.log, { follow: true, signal }).getReader();
  await reader.read();
  const open = () =>
    [...Deno.readDirSync("/proc/self/fd")].filter(({ name }) =>
      ifPossible(() => Deno.readLinkSync(`/proc/self/fd/${name}`)) === scene.log
    ).length;
  assertEquals(open(), 1);
  abort.abort();
  await reader.closed;
  await waitFor(() => open() === 0);
});
