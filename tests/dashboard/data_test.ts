import { assertEquals } from "@std/assert";
import { isMet } from "../../src/web/dashboard/app/graph/graph_layout.ts";
import type { ProcessJson } from "../../src/web/dashboard/app/data/types.ts";
import { grepOf, NO_QUERY } from "../../src/web/dashboard/app/logs/log_query.ts";
import { credentialIn } from "../../src/web/dashboard/app/data/credential.ts";
import { prepend, recent, record } from "../../src/web/dashboard/app/process/history.ts";
import { shortSpan } from "../../src/web/dashboard/app/data/format.ts";

Deno.test("credentialIn() tells links, codes and tokens apart", () => {
  assertEquals(credentialIn(" http://127.0.0.1:1/#/login?code=0a1b \n"), {
    kind: "code",
    text: "0a1b",
  });
  assertEquals(credentialIn("ps_0a1b"), { kind: "token", text: "ps_0a1b" });
  assertEquals(credentialIn("0a1b"), { kind: "either", text: "0a1b" });
  assertEquals(credentialIn("http://127.0.0.1:1/"), undefined);
  assertEquals(credentialIn("a b"), undefined);
});

Deno.test("grepOf() asks the daemon for the same lines as the page would show", () => {
  const of = (more: Partial<typeof NO_QUERY>) => grepOf({ ...NO_QUERY, deep: true, ...more });
  assertEquals(of({ search: "a.b" }), "(?i:a\\.b)");
  assertEquals(of({ search: "a.b", isRegex: true, matchCase: true }), "a.b");
  assertEquals(of({ search: "(", isRegex: true }), undefined);
  assertEquals(of({ search: "" }), undefined);
  assertEquals(grepOf({ ...NO_QUERY, search: "x" }), undefined);
});

Deno.test("recent() keeps seconds for minutes and minutes for a day", () => {
  const start = Date.now();
  const [seconds, hours] = [2000, 3_600_000];
  for (let at = start; at < start + 25 * hours; at += 30 * seconds) {
    record("x", { at, cpu: 1, memory: 1, fds: 0, threads: 0, load: 0 });
  }
  const now = start + 25 * hours;
  const spanOf = (ms: number) => {
    const list = recent("x", ms, now);
    return [Math.round((now - list[0]!.at) / 60_000), list.length < 1000];
  };
  assertEquals(spanOf(900_000), [15, true]);
  assertEquals(spanOf(hours), [60, true]);
  assertEquals(spanOf(24 * hours), [1440, true]);
});

Deno.test("isMet() is true when all instances are where others wait for them to be", () => {
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
      const node = { name: "x", members: of, state: undefined, column: 0, row: 0 };
      return isMet({ from: "x", to: "y", condition }, node);
    });
  assertEquals(met("started"), [true, true, true, true, true]);
  assertEquals(met("ready"), [true, true, false, false, false]);
  assertEquals(met("healthy"), [true, false, true, false, false]);
  assertEquals(met("completed"), [false, false, false, true, true]);
  assertEquals(met("completed_ok"), [false, false, false, true, false]);
});

Deno.test("prepend() puts older readings before those of the page, each ring in its step", () => {
  const now = Date.now();
  const reading = (at: number) => ({ at, cpu: at, memory: 1, fds: 0, threads: 0, load: 0 });
  const past = Array.from({ length: 360 }, (_, n) => reading(now - (359 - n) * 10_000));
  record("p", reading(now - 25_000));
  prepend("p", past, now);
  prepend("p", past, now);
  const counts = [60_000, 900_000, 3_600_000, 86_400_000].map((ms) => recent("p", ms, now).length);
  assertEquals(counts, [5, 88, 358, 31]);
});

Deno.test("shortSpan() has the unit that reads best", () => {
  assertEquals([0.42, 12.4, 1234, 75_000].map(shortSpan), ["0.4 ms", "12 ms", "1.2 s", "1m 15s"]);
});
