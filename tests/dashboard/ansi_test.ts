import { assertEquals } from "@std/assert";
import { ansiRuns, plainLine } from "../../src/web/dashboard/app/logs/ansi.ts";

Deno.test("ansiRuns() splits a line where its style changes", () => {
  assertEquals(ansiRuns("a \x1b[1;31mred\x1b[0m b"), [
    { text: "a ", look: "" },
    { text: "red", look: "fg-1 bold" },
    { text: " b", look: "" },
  ]);
});

Deno.test("ansiRuns() maps 256 and true colors to the sixteen of the themes", () => {
  const look = (code: string) => ansiRuns(`\x1b[${code}mx`)[0]!.look;
  assertEquals(look("38;5;9"), "fg-9");
  assertEquals(look("38;5;196"), "fg-9");
  assertEquals(look("48;5;21"), "bg-12");
  assertEquals(look("38;2;0;120;0"), "fg-2");
  assertEquals(look("97;44"), "fg-15 bg-4");
  assertEquals(look("38;5"), "fg-7");
});

Deno.test("ansiRuns() resets one attribute at a time", () => {
  assertEquals(ansiRuns("\x1b[1;4;32ma\x1b[22mb\x1b[39mc").map(({ look }) => look), [
    "fg-2 bold underline",
    "fg-2 underline",
    "underline",
  ]);
});

Deno.test("ansiRuns() drops invalid and hostile sequences", () => {
  const line =
    "\x1b]52;c;aGVsbG8=\x07<img src=x onerror=alert(1)>\x1b]0;title\x07\x1b[2J\x1b[10;10Hend\r\b";
  assertEquals(ansiRuns(line).map(({ text }) => text).join(""), "<img src=x onerror=alert(1)>end");
  assertEquals(plainLine(line), "<img src=x onerror=alert(1)>end");
  assertEquals(ansiRuns("\x1b["), []);
  assertEquals(ansiRuns("\x1b[999999999999;;;mx"), [{ text: "x", look: "" }]);
});
