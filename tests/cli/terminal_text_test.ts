import { assert, assertEquals } from "@std/assert";
import { colorText, escapedJson, plainText } from "../../src/model/plain_text.ts";
import { terminalText, textWidth } from "../../src/cli/terminal_text.ts";

const HOSTILE: readonly (readonly [name: string, text: string, left: string])[] = [
  ["cursor movement", "a\x1b[2Jb\x1b[10;10Hc", "abc"],
  ["a title", "a\x1b]0;owned\x07b", "ab"],
  ["a title with ST", "a\x1b]0;owned\x1b\\b", "ab"],
  ["an open title", "a\x1b]0;owned", "a"],
  ["a device control string", "a\x1bPq#0\x1b\\b", "ab"],
  ["an 8-bit CSI", "a\x9b31mb", "ab"],
  ["an 8-bit OSC", "a\x9d0;owned\x9cb", "ab"],
  ["a reset of the terminal", "a\x1bcb", "ab"],
  ["a charset", "a\x1b(0b", "ab"],
  ["a lone escape at the end", "a\x1b", "a"],
  ["a cut CSI", "a\x1b[31", "a"],
  ["backspaces and returns", "a\b\rb\0", "ab"],
  ["an escape inside an escape", "a\x1b\x1b[31mb", "ab"],
  ["a change of the direction", "a\u202egnp.\u202cexe\u2066b\u2069", "agnp.exeb"],
  ["marks of the direction", "a\u200eb\u200f\u061cc", "abc"],
  ["other ends of lines", "a\u2028b\u2029c\x85d", "abcd"],
  ["a nested one", "a\x1b[\x1b[31mb", "ab"],
];

for (const [name, text, left] of HOSTILE) {
  Deno.test(`plainText() removes ${name}`, () => assertEquals(plainText(text), left));
}

Deno.test("plainText() keeps tabs, newlines and every printable character", () => {
  assertEquals(plainText("ä\t日本 🚀\n[31m"), "ä\t日本 🚀\n[31m");
});

Deno.test("plainText() never contains a control character", () => {
  const alphabet = [
    "\x1b",
    "[",
    "]",
    "m",
    "3",
    ";",
    "\x07",
    "\\",
    "\x9b",
    "\x9c",
    "P",
    "a",
    "?",
    " ",
  ];
  let seed = 7;
  const next = () => (seed = (seed * 1103515245 + 12345) % 2 ** 31) / 2 ** 31;
  for (let round = 0; round < 2000; round++) {
    const text = Array.from({ length: 12 }, () => alphabet[Math.floor(next() * alphabet.length)])
      .join("");
    // deno-lint-ignore no-control-regex
    assert(!/[\x00-\x08\x0b-\x1f\x7f-\x9f]/.test(plainText(text)), JSON.stringify(text));
    // deno-lint-ignore no-control-regex
    const colors = colorText(text).replace(/\x1b\[[0-9;:]*m/g, "");
    // deno-lint-ignore no-control-regex
    assert(!/[\x00-\x08\x0b-\x1f\x7f-\x9f]/.test(colors), JSON.stringify(text));
  }
});

Deno.test("colorText() keeps colors and resets them", () => {
  assertEquals(colorText("\x1b[1;31mred\x1b[2K"), "\x1b[1;31mred\x1b[0m");
  assertEquals(colorText("plain"), "plain");
  for (const hiding of ["8", "1;8", "08;31", "38;5;1;8", "48;2;1;2;8;8"]) {
    assertEquals(colorText(`a\x1b[${hiding}mb`), "ab", hiding);
  }
  for (const color of ["38;5;8", "48;2;8;8;8", "58;5;8", "1;38;5;8;4", "38:5:8"]) {
    assertEquals(colorText(`\x1b[${color}mb`), `\x1b[${color}mb\x1b[0m`, color);
  }
});

Deno.test("terminalText() keeps colors if enabled, and the text after an incomplete sequence", () => {
  const text = "\x1b[31ma\x1b[0m\nb\x1b]0;title\nc\x9b2Jd";
  assertEquals(terminalText(text, true), "\x1b[31ma\x1b[0m\nb\ncd");
  assertEquals(terminalText(text, false), "a\nb\ncd");
});

Deno.test("escapedJson() writes the same value without control characters", () => {
  const value = { "\x9b": "\x00\x1b[2J\x7f\x80\x9fä\u2028" };
  const json = escapedJson(JSON.stringify(value));
  // deno-lint-ignore no-control-regex
  assertEquals([JSON.parse(json), /[\x00-\x1f\x7f-\x9f]/.test(json)], [value, false]);
});

Deno.test("textWidth() counts wide characters as two and combining marks as none", () => {
  assertEquals(textWidth("plain"), 5);
  assertEquals(textWidth("日本語"), 6);
  assertEquals(textWidth("e\u0301"), 1);
  assertEquals(textWidth("🚀"), 2);
  assertEquals(textWidth("🇩🇪🇫🇷"), 4);
  // One syllable, written in three parts.
  assertEquals(textWidth("\u1112\u1161\u11ab"), 2);
  assertEquals(textWidth("\x1b[32mrunning\x1b[0m"), 7);
});
