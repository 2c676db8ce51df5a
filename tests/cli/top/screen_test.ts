import { assert, assertEquals } from "@std/assert";
import { difference, Screen } from "../../../src/cli/top/terminal.ts";

Deno.test("difference() writes only the lines that changed", () => {
  assertEquals(difference(["a", "b"], ["a", "b"], 10), "");
  const text = difference(["one", "two", "three"], ["one", "zwei", "three"], 10);
  assert(text.includes("\x1b[2;1H") && text.includes("zwei"));
  assert(!text.includes("one") && !text.includes("three"));
});

Deno.test("difference() erases the rest of a longer line, but never the last character of a full line", () => {
  assert(difference(["longer"], ["x"], 6).includes("x\x1b[0m\x1b[K"));
  assert(!difference(["longer"], ["123456"], 6).includes("\x1b[K"));
  assert(difference(["a", "b"], ["a"], 6).includes("\x1b[2;1H"));
});

Deno.test("Screen.draw() skips frames that a slow terminal has not received", async () => {
  const written: string[] = [];
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const screen = new Screen((text) => gates[written.push(text) - 1]!.promise);
  for (const line of ["first", "second", "third"]) screen.draw([line], 20);
  gates[0]!.resolve();
  gates[1]!.resolve();
  await screen.idle;
  assertEquals(written.length, 2);
  assert(written[0]!.includes("\x1b[2J") && written[0]!.includes("first"));
  assert(written[1]!.includes("third") && !written[1]!.includes("second"));
});

Deno.test("Screen.draw() redraws everything when the terminal's content is unknown", async () => {
  const written: string[] = [];
  const screen = new Screen((text) => Promise.resolve(void written.push(text)));
  screen.draw(["same"], 20);
  await screen.idle;
  screen.draw(["same"], 20);
  await screen.idle;
  assertEquals(written.length, 1);
  screen.forget();
  screen.draw(["same"], 20);
  await screen.idle;
  assert(written[1]!.includes("same"));
});

Deno.test("Screen shows what apps and other machines send as text, whatever it contains", async () => {
  let written = "";
  const screen = new Screen((text) => Promise.resolve(void (written += text)));
  screen.draw(["a\x1b]0;title\x07b\x1b[2J\x9b31mc\x1b[8md\x1b[31me\r\n\u202ef"], 80);
  await screen.idle;
  const [, line] = written.split("\x1b[1;1H\x1b[0m");
  assertEquals(line, "abcd\x1b[31me f\x1b[0m\x1b[0m\x1b[K\x1b[?2026l");
});
