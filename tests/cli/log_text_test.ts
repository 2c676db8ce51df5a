/** Log lines for people. */

import { assertEquals } from "@std/assert";
import { terminalLine } from "../../src/cli/log_text.ts";
import { paintName } from "../../src/cli/paint.ts";

Deno.test("terminalLine() shows level, message and fields of a structured line, without repeating its time", () => {
  const line = '{"level":50,"time":1,"msg":"it broke","a":"b c","err":{"stack":"E: x\\n  at y"}}';
  assertEquals(
    terminalLine(line, false, false),
    'ERROR it broke time=1 a="b c" err={}\nE: x\n  at y',
  );
  assertEquals(terminalLine(line, true, false), 'ERROR it broke a="b c" err={}\nE: x\n  at y');
  assertEquals(
    terminalLine("level=warn msg=slow ms=2", false, true),
    "\x1b[33mWARN \x1b[0m slow \x1b[2mms=2\x1b[0m",
  );
});

Deno.test("terminalLine() leaves any other line as it is, except for overwritten text", () => {
  for (const line of ["plain", '{"a":1}', "\x1b[31mred\x1b[0m"]) {
    assertEquals(terminalLine(line, false, true), line);
  }
  assertEquals(terminalLine("10 %\r100 %", false, true), "100 %");
});

Deno.test("paintName() gives 12 names distinct colors, and each name always the same one", () => {
  const names = Array.from({ length: 12 }, (_, at) => `app:${at * 12}`);
  const painted = () => names.map((name) => paintName("x", name, true));
  assertEquals(new Set(painted()).size, 12);
  assertEquals(painted(), painted());
});
