/** Log lines for people. */

import { assertEquals } from "@std/assert";
import { lineFormat } from "../../src/cli/log_printer.ts";
import { paintName } from "../../src/cli/paint.ts";

const COLORED = { terminal: true, color: true };

Deno.test("lineFormat() shows level, message and fields of a structured line, without repeating its time", async () => {
  const plain = { terminal: true, color: false };
  const line = '{"level":50,"time":1,"msg":"it broke","a":"b c","err":{"stack":"E: x\\n  at y"}}';
  assertEquals(
    (await lineFormat(plain))(line),
    'ERROR it broke time=1 a="b c" err={}\nE: x\n  at y',
  );
  assertEquals(
    (await lineFormat(plain, { isTimed: true }))(line),
    'ERROR it broke a="b c" err={}\nE: x\n  at y',
  );
  assertEquals(
    (await lineFormat(COLORED))("level=warn msg=slow ms=2"),
    "\x1b[33mWARN \x1b[0m slow \x1b[2mms=2\x1b[0m",
  );
  assertEquals((await lineFormat({ terminal: false, color: false }))(line), line);
});

Deno.test("lineFormat() leaves any other line as it is, except for overwritten text", async () => {
  const format = await lineFormat(COLORED);
  for (const line of ["plain", '{"a":1}', "\x1b[31mred\x1b[0m"]) assertEquals(format(line), line);
  assertEquals(format("10 %\r100 %"), "100 %");
});

Deno.test("paintName() gives 12 names distinct colors, and each name always the same one", () => {
  const names = Array.from({ length: 12 }, (_, at) => `app:${at * 12}`);
  const painted = () => names.map((name) => paintName("x", name, true));
  assertEquals(new Set(painted()).size, 12);
  assertEquals(painted(), painted());
});
