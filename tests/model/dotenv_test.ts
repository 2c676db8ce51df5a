/** Files of `NAME=value` lines. */

import { assertEquals, assertThrows } from "@std/assert";
import { parseDotenv } from "../../src/model/dotenv.ts";
import { ProcsupError } from "../../src/model/errors.ts";

function parse(...lines: string[]): Record<string, string> {
  return parseDotenv(lines.join("\n"), ".env");
}

Deno.test("parseDotenv() reads names and values, whatever the space around them", () => {
  assertEquals(parse("A=1", "  B = two words  ", "_c9=x=y", "EMPTY="), {
    A: "1",
    B: "two words",
    _c9: "x=y",
    EMPTY: "",
  });
});

Deno.test("parseDotenv() skips blank lines, comments and export", () => {
  assertEquals(parse("", "# A=0", "export A=1", "  # more", "B=2 # two", "C=a#b"), {
    A: "1",
    B: "2",
    C: "a#b",
  });
});

Deno.test("parseDotenv() keeps quoted values as they are, except for escapes in double quotes", () => {
  assertEquals(parse(`A=' x # \\n "y" '`, `B="a # b\\n\\t\\"q\\"\\\\" # why`, `C=''`, `D=""`), {
    A: ` x # \\n "y" `,
    B: `a # b\n\t"q"\\`,
    C: "",
    D: "",
  });
});

Deno.test("parseDotenv() accepts multi-line values in quotes", () => {
  const key = ["-----BEGIN KEY-----", "abc=", "# not a comment", "", "-----END KEY-----"];
  assertEquals(parse(`A="${key[0]}`, ...key.slice(1), `" # why`, "B='1", `"2'`, "C=3"), {
    A: `${key.join("\n")}\n`,
    B: '1\n"2',
    C: "3",
  });
  assertEquals(parseDotenv('A="1\r\n2"\r\nB=3\r\n', ".env"), { A: "1\n2", B: "3" });
});

Deno.test("parseDotenv() distinguishes a # inside a value from a comment", () => {
  assertEquals(parse("A=#fff", "B= # none", "C=x #1"), { A: "#fff", B: "", C: "x" });
});

Deno.test("parseDotenv() expands nothing", () => {
  assertEquals(parse("A=$HOME", "B=`id`", 'C="${A}"'), { A: "$HOME", B: "`id`", C: "${A}" });
});

Deno.test("parseDotenv() accepts CRLF line endings, and the last value of a repeated name wins", () => {
  assertEquals(parseDotenv("A=1\r\nB='2'\r\nA=3\r\n", ".env"), { A: "3", B: "2" });
});

Deno.test("parseDotenv() accepts names that are no identifiers", () => {
  const variables = {
    "discovery.type": "x",
    "1X": "y",
    "a-b/c": "z",
    "BASH_FUNC_f%%": "() { :; }",
  };
  assertEquals(parse(...Object.entries(variables).map((pair) => pair.join("="))), variables);
});

Deno.test("parseDotenv() accepts a byte order mark at the start", () => {
  assertEquals(parseDotenv("\uFEFFA=1\n", ".env"), { A: "1" });
});

Deno.test("parseDotenv() names the invalid line, and never its value", () => {
  for (
    const line of ["secret", "A B=secret", "A: x=secret", "=secret", `A="secret`, `A='sec'ret`]
  ) {
    const error = assertThrows(() => parse("OK=1", line), ProcsupError);
    assertEquals(error.message, 'Invalid line 2 in ".env": expected NAME=value');
  }
});

Deno.test("parseDotenv() treats __proto__ like any other name", () => {
  const variables = parse("__proto__=x", "A=1");
  assertEquals(Object.getPrototypeOf(variables), Object.prototype);
  assertEquals(Object.entries(variables), [["__proto__", "x"], ["A", "1"]]);
});
