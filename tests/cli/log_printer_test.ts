/** Log lines for people. */

import { assertEquals } from "@std/assert";
import { lineFormat } from "../../src/cli/log_printer.ts";
import type { LogLine } from "../../src/model/log_line.ts";
import { paintName } from "../../src/cli/paint.ts";

const COLORED = { terminal: true, color: true };

const AT = "2026-11-27T10:11:12.500Z";

function lineOf(line: string, stream: "stdout" | "stderr" = "stdout"): LogLine {
  return { name: "api", stream, line, at: AT, end: 0 };
}

Deno.test("lineFormat() shows level, message and fields of a structured line, without repeating its time", async () => {
  const plain = { terminal: true, color: false };
  const line = lineOf(
    '{"level":50,"time":1,"msg":"it broke","a":"b c","err":{"stack":"E: x\\n  at y"}}',
  );
  assertEquals(
    (await lineFormat(plain))(line),
    { text: 'ERROR it broke time=1 a="b c" err={}\nE: x\n  at y', mark: "!" },
  );
  const timed = await lineFormat(plain, { isTimed: true });
  assertEquals(timed(line).text, 'ERROR it broke a="b c" err={}\nE: x\n  at y');
  assertEquals(timed(lineOf("2026-11-27 10:11:12,123 - root - up")).text, "root - up");
  assertEquals(
    (await lineFormat(COLORED))(lineOf("level=warn msg=slow ms=2")).text,
    "\x1b[33mWARN \x1b[0m slow \x1b[2mms=2\x1b[0m",
  );
  assertEquals((await lineFormat({ terminal: false, color: false }))(line).text, line.line);
});

Deno.test("lineFormat() leaves any other line as it is, except for overwritten text", async () => {
  const format = await lineFormat(COLORED);
  for (const line of ["plain", '{"a":1}', "\x1b[31mred\x1b[0m", `${AT} up`]) {
    assertEquals(format(lineOf(line)), { text: line, mark: " " });
  }
  assertEquals(format(lineOf("10 %\r100 %")).text, "100 %");
});

Deno.test("lineFormat() marks warnings, errors and stderr, which alone is no alarm", async () => {
  const format = await lineFormat({ terminal: false, color: false });
  assertEquals(format(lineOf("WARN slow")).mark, "!");
  assertEquals(format(lineOf("ERROR it broke", "stderr")).mark, "!");
  assertEquals(format(lineOf("INFO up", "stderr")).mark, "·");
  const raw = await lineFormat({ terminal: true, color: false }, { isRaw: true });
  const { text, mark } = raw(lineOf('{"level":50,"msg":"broke"}', "stderr"));
  assertEquals([text, mark], ['{"level":50,"msg":"broke"}', "!"]);
});

Deno.test("paintName() gives 12 names distinct colors, and each name always the same one", () => {
  const names = Array.from({ length: 12 }, (_, at) => `app:${at * 12}`);
  const painted = () => names.map((name) => paintName("x", name, true));
  assertEquals(new Set(painted()).size, 12);
  assertEquals(painted(), painted());
});
