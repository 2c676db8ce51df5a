import { assertEquals, assertThrows } from "@std/assert";
import { jsonFields } from "../../src/model/log_level.ts";
import {
  NO_QUERY,
  patternOf,
  readLogQuery,
  writeLogQuery,
} from "../../src/web/dashboard/app/logs/log_query.ts";
import {
  bytes,
  percent,
  readEnv,
  relative,
  span,
} from "../../src/web/dashboard/app/data/format.ts";

Deno.test("readEnv() accepts KEY=value lines and rejects others", () => {
  assertEquals(readEnv("A=1\n\n# no\nB=x=y", "env"), { A: "1", B: "x=y" });
  assertThrows(() => readEnv("oops", "env"), Error, "KEY=value");
});

Deno.test("jsonFields() accepts only objects", () => {
  assertEquals(jsonFields(' {"a":1} '), { a: 1 });
  assertEquals(jsonFields("{no}"), undefined);
  assertEquals(jsonFields("[1]"), undefined);
});

Deno.test("a log query round-trips through the address", () => {
  const query = {
    ...NO_QUERY,
    targets: ["a", "b:0"],
    stream: "stderr",
    level: "warn",
    search: "x+ &y",
    isRegex: true,
    invert: true,
    mark: "abc",
  } as const;
  assertEquals(readLogQuery(new URLSearchParams(String(writeLogQuery(query)))), query);
  assertEquals(readLogQuery(new URLSearchParams("stream=x&level=y")), NO_QUERY);
});

Deno.test("patternOf() matches text literally by default", () => {
  const of = (search: string, isRegex: boolean) => patternOf({ search, isRegex, matchCase: false });
  const finds = (search: string, isRegex: boolean, text: string) =>
    (of(search, isRegex) as RegExp).test(text);
  assertEquals(finds("a.b(", false, "xA.B("), true);
  assertEquals(finds("a.b", false, "axb"), false);
  assertEquals(finds("a.b", true, "axb"), true);
  assertEquals(of("(", true), "Unterminated group");
  assertEquals(of("", true), undefined);
});

Deno.test("numbers and times are readable", () => {
  assertEquals([0, 999, 1536, 1e6, 5e9].map(bytes), ["0 B", "999 B", "1.5 KB", "977 KB", "4.7 GB"]);
  assertEquals([0, 12.34, 100].map(percent), ["0.0 %", "12.3 %", "100 %"]);
  assertEquals([0, 61_000, 3_600_000, 93_784_000].map(span), ["0s", "1m 1s", "1h", "1d 2h"]);
  assertEquals(relative(1000, 6000), "5s ago");
  assertEquals(relative(6000, 1000), "in 5s");
});
