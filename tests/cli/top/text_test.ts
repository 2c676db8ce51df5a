import { assertEquals } from "@std/assert";
import {
  area,
  cleanColors,
  cleanLine,
  cut,
  shorten,
  sparkline,
  wrap,
} from "../../../src/cli/top/text.ts";

Deno.test("cut() counts columns, not characters, and resets the color", () => {
  assertEquals(cut("日本語", 4), "日本");
  assertEquals(cut("日本語", 3), "日");
  assertEquals(cut("日本語", 4, 1), " 本");
  assertEquals(cut("e\u0301abc", 2), "e\u0301a");
  assertEquals(cut("\x1b[31mred\x1b[0m rest", 2), "\x1b[31mre\x1b[0m");
  assertEquals(cut("plain", 3, 1), "lai");
});

Deno.test("shorten() marks the cut", () => {
  assertEquals(shorten("worker", 6), "worker");
  assertEquals(shorten("worker", 5), "work…");
  assertEquals(shorten("日本語", 5), "日本…");
  assertEquals(shorten("x", 0), "");
});

Deno.test("wrap() continues a color on the next line, until it is reset", () => {
  assertEquals(wrap("abcdef", 4), ["abcd", "ef"]);
  assertEquals(wrap("日本語", 5), ["日本", "語"]);
  assertEquals(wrap("\x1b[31mabcd\x1b[0mefgh", 3), [
    "\x1b[31mabc\x1b[0m",
    "\x1b[31md\x1b[0mef",
    "gh",
  ]);
  assertEquals(wrap("日", 1), ["日"]);
});

Deno.test("cleanLine() returns a single line for any text", () => {
  assertEquals(cleanLine("a\tb\n\x1b[1mc\u202ed"), "a       b cd");
  assertEquals(cleanLine("日本\tx"), "日本    x");
  assertEquals(cleanColors("\x1b[1mc\x1b[2Jd"), "\x1b[1mcd\x1b[0m");
});

Deno.test("sparkline() ends with the newest value, and shows every value above zero", () => {
  assertEquals(sparkline([0, 0.1, 50, 100, 400], 6, 100), "  ▁▄██");
  assertEquals(sparkline([1, 2, 3], 2, 4), "▄▆");
  assertEquals(sparkline([], 3, 0), "   ");
  assertEquals(area([100, 50], 2, 2, 100), ["█ ", "██"]);
});
