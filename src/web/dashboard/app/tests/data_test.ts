/** The parts of the dashboard that need no browser. */

import { assertEquals, assertThrows } from "@std/assert";
import { isMet } from "../graph/graph_layout.ts";
import type { ProcessJson } from "../../../../protocol/wire.ts";
import { grepOf, NO_QUERY, patternOf, readLogQuery, writeLogQuery } from "../logs/log_query.ts";
import {
  bytes,
  credentialIn,
  FieldError,
  percent,
  readEnv,
  relative,
  shortSpan,
  span,
} from "../data/format.ts";
import { lookingAt, NOW, rangeText, readRange } from "../data/time_range.ts";
import { fieldOf, textsOf, yamlOf } from "../process/key_form.ts";
import { parse } from "yaml";
import { runningDependents, stoppedAmong } from "../process/select.ts";
import { jsonFields } from "../../../../model/log_level.ts";

Deno.test("yamlOf() gives back what textsOf() shows, with the keys that a form keeps", () => {
  const config = {
    ...{ name: "api", entrypoint: "a b.sh", args: ["-x", "two words"], max_memory: "64MB" },
    ...{ env: { KEPT: "***", TWO: "***" }, health_check: { type: "tcp", address: ":80" } },
    ...{ instances: 2, autostart: true, priority: 3, shell_env: { PATH: "***" } },
  };
  const texts = textsOf(config);
  assertEquals([texts.args, texts.env, texts.instances], [
    "-x 'two words'",
    "KEPT=***\nTWO=***",
    "2",
  ]);
  assertEquals(texts.more, 'health_check: {"type":"tcp","address":":80"}\npriority: 3');
  const { autostart: _, ...shown } = config;
  assertEquals(parse(yamlOf(texts, { shell_env: config.shell_env })), shown);
  const changed = { ...texts, max_memory: "", instances: "3", more: "tags: [a]" };
  const { entrypoint, args, name, env } = config;
  assertEquals(parse(yamlOf(changed)), { entrypoint, args, name, env, instances: 3, tags: ["a"] });
});

Deno.test("yamlOf() refuses a key that has a field, and what is not KEY=value", () => {
  const texts = textsOf({ entrypoint: "a.sh" });
  assertThrows(() => yamlOf({ ...texts, more: "entrypoint: b" }), FieldError, '"more"');
  assertThrows(() => yamlOf({ ...texts, env: "x" }), FieldError, '"env"');
  assertEquals(fieldOf(new FieldError("health_check.url", "wrong")), "more");
  assertEquals(fieldOf(new FieldError("env.A", "wrong")), "env");
});

Deno.test("credentialIn() distinguishes links, codes and tokens", () => {
  assertEquals(credentialIn(" http://127.0.0.1:1/#/login?code=0a1b \n"), {
    kind: "code",
    text: "0a1b",
  });
  assertEquals(credentialIn("ps_0a1b"), { kind: "token", text: "ps_0a1b" });
  assertEquals(credentialIn("0a1b"), { kind: "either", text: "0a1b" });
  assertEquals(credentialIn("http://127.0.0.1:1/"), undefined);
  assertEquals(credentialIn("a b"), undefined);
});

Deno.test("grepOf() requests the same lines that the page would show", () => {
  const of = (more: Partial<typeof NO_QUERY>) => grepOf({ ...NO_QUERY, ...more });
  assertEquals(of({ search: "a.b" }), "(?i:a\\.b)");
  assertEquals(of({ search: "a.b", isRegex: true, matchCase: true }), "a.b");
  assertEquals(of({ search: "(", isRegex: true }), undefined);
  assertEquals(of({ search: "" }), undefined);
  assertEquals(of({ search: "x", inContext: true }), undefined);
});

Deno.test("readRange() reads the output of rangeText(), a single time, and tolerates invalid input", () => {
  const now = Date.UTC(2026, 0, 2, 9);
  const of = (text: string) => readRange(new URLSearchParams(text), now);
  const at = Date.UTC(2026, 0, 2, 3, 12);
  const minute = 60_000;
  const moment = { span: undefined, from: at - 15 * minute, to: at + 15 * minute, at };
  assertEquals(of("at=2026-01-02T03:12:00Z"), moment);
  assertEquals(of(`at=${at}`), moment);
  assertEquals(of(rangeText(moment)), moment);
  assertEquals(of("at=2026-01-02T08:59:30Z").to, now + minute / 2);
  assertEquals(of(rangeText({ span: "7d", from: 0, to: 0, at: 0 })).span, "7d");
  for (const text of ["", "range=2d", "at=soon", "from=5&to=4", "from=x&to=1e99"]) {
    assertEquals(of(text), NOW, text);
  }
  assertEquals(lookingAt(at + 1, moment), { ...moment, at: at + 1 });
  assertEquals(lookingAt(now, NOW, now + 1), {
    ...{ span: undefined, from: now - 7.5 * minute, to: now + 1000, at: now },
  });
});

Deno.test("isMet() is true when all instances meet the condition of their dependents", () => {
  const up = { state: "running", pid: 7, ready: true, health: "healthy", last_exit: null };
  const done = { ...up, state: "stopped", pid: 0, last_exit: { code: 0, signal: null } };
  const failed = { ...done, last_exit: { code: 3, signal: null } };
  const all = [up, { ...up, health: "unhealthy" }, { ...up, ready: false }, done, failed];
  const met = (condition: string) =>
    all.map((process) => {
      const members = [up, process].map((one) =>
        ({ ...one, config: {} }) as unknown as ProcessJson
      );
      const of = condition.startsWith("completed") ? members.slice(1) : members;
      const node = { name: "x", members: of, state: undefined };
      return isMet({ condition }, { ...node, x: 0, y: 0 });
    });
  assertEquals(met("started"), [true, true, true, true, true]);
  assertEquals(met("ready"), [true, true, false, false, false]);
  assertEquals(met("healthy"), [true, false, true, false, false]);
  assertEquals(met("completed"), [false, false, false, true, true]);
  assertEquals(met("completed_ok"), [false, false, false, true, false]);
});

Deno.test("shortSpan() chooses the most readable unit", () => {
  assertEquals([0.42, 12.4, 1234, 75_000].map(shortSpan), ["0.4 ms", "12 ms", "1.2 s", "1m 15s"]);
});

Deno.test("runningDependents() returns the names of running dependents, each once", () => {
  const one = (name: string, state: string, depends_on: unknown) =>
    ({ name, state, config: { depends_on } }) as unknown as ProcessJson;
  const list = [
    one("db", "running", undefined),
    one("api:0", "running", { db: "healthy" }),
    one("api:1", "running", { db: "healthy" }),
    one("job", "stopped", ["db"]),
    one("mail", "running", ["db", "api"]),
  ];
  assertEquals(runningDependents(["db"], list), ["api", "mail"]);
  assertEquals(runningDependents(["api:0"], list), ["mail"]);
  assertEquals(runningDependents(["db", "api", "mail"], list), []);
});

Deno.test("stoppedAmong() tells those that were stopped from the rest, unless all are stopped", () => {
  const one = (name: string, state: "running" | "stopped" | "crashed") => ({ name, state });
  const [up, off, bad] = [one("up", "running"), one("off", "stopped"), one("bad", "crashed")];
  assertEquals(stoppedAmong([up, off, bad]), { stopped: ["off"], rest: ["up", "bad"] });
  assertEquals(stoppedAmong([up, bad]), { stopped: [], rest: ["up", "bad"] });
  assertEquals(stoppedAmong([off]), { stopped: [], rest: ["off"] });
});

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
