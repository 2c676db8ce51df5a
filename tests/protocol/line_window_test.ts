/** The window in which new lines of several logs are put in order of time. */

import { assertEquals } from "@std/assert";
import { LineWindow } from "../../src/protocol/line_window.ts";
import { waitFor } from "../support/wait_for.ts";

interface Line {
  readonly name: string;
  readonly stream: "stdout";
  readonly at: number;
}

function setUp(positions: Readonly<Record<string, number>>) {
  const shown: string[] = [];
  const window = new LineWindow<Line>((lines) =>
    shown.push(lines.map(({ name, at }) => `${name}${at}`).join(" "))
  );
  window.started({ positions, before: {} });
  const add = (name: string, ...times: readonly number[]) =>
    window.add(times.map((at) => ({ name, stream: "stdout", at })));
  return { shown, window, add };
}

Deno.test("LineWindow puts new lines of several logs in order, those of one in theirs", async () => {
  const { shown, add } = setUp({ "a/stdout": 1, "b/stdout": 1 });
  add("b", 30);
  // The clock was set back.
  add("a", 10, 40, 20);
  assertEquals(shown, []);
  await waitFor(() => shown.join(" ").length > 12);
  assertEquals(shown.join(" "), "a10 b30 a40 a20");
});

Deno.test("LineWindow holds no line of a single log, none at the end, and not too many", () => {
  const single = setUp({ "a/stdout": 1, "a/stderr": 0 });
  single.add("a", 1);
  assertEquals(single.shown, ["a1"]);
  const { shown, add, window } = setUp({ "a/stdout": 1, "b/stdout": 1 });
  add("b", 3);
  add("a", 2);
  window.end();
  assertEquals(shown, ["a2 b3"]);
  add("a", ...Array.from({ length: 3000 }, (_, at) => at + 3));
  assertEquals(shown.length, 2);
});
